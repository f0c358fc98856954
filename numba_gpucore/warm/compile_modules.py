"""Compile the kernels of modules ahead of time. Before: warm.command, warm.ship. After: launch.store, launch.cache.

Kernels tell which signatures they want compiled: those that they declare, else their decorator's list `warm`. A process
for each module imports it and compiles, so modules are done in parallel. Numba's own `@njit(cache=True)` functions with
signatures are compiled and kept by Numba when the module is imported.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.backend import Backend
from numba_gpucore.base.errors import CacheWarning, OptionError
from numba_gpucore.base.versions import OWN_PACKAGES
from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.programs import ArgTypes
from numba_gpucore.launch.session import Session, default_session
from numba_gpucore.launch.store import CacheStats
from numba_gpucore.ufuncs.guvectorize import GUFunc
from numba_gpucore.ufuncs.vectorize import UFunc

#: What a process may take to let go of what it holds: it compiles one kernel.
_GRACE_S = 1.0
NOTHING_TO_COMPILE = "it has no kernel with declared signatures or a list `warm=[…]`"
#: Where errors are raised for which a user's module is to blame.
_FILES_OF_IMPORTING = (
    "<frozen ",
    str(importlib.__file__),
    *(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), name) for name in OWN_PACKAGES),
)


@dataclass(frozen=True)
class WarmTask:
    """What one process does. archs: what to compile for, each by the back-end that knows it; empty: this machine's
    device. kernel: the one to compile; None means all of the module."""

    module: str
    kernel: str | None = None
    archs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.module if self.kernel is None else f"{self.module}:{self.kernel}"


@dataclass(frozen=True)
class WarmReport:
    """What became of a task. unkept: for each signature that the next process compiles all the same, why.
    n_njit_known, n_njit_compiled: signatures of Numba's cached functions. used_archs: those of the named
    architectures that a kernel could be compiled for. objections: why each of the others could not. failures: what
    went wrong, each with its reason.
    """

    name: str
    n_known: int = 0
    n_compiled: int = 0
    unkept: tuple[str, ...] = ()
    n_njit_known: int = 0
    n_njit_compiled: int = 0
    seconds: float = 0.0
    used_archs: frozenset[str] = frozenset()
    objections: tuple[tuple[str, str], ...] = ()
    failures: tuple[str, ...] = ()


class ArchChoice:
    """For which of the named architectures the kernels of a task are compiled: those that their target knows."""

    def __init__(self, archs: Sequence[str]):
        self._archs = tuple(archs)
        self._objections: dict[str, str] = {}
        self.used: set[str] = set()

    def requests(self, kernel: Kernel, types: ArgTypes) -> Iterator[tuple[CompileRequest, Backend]]:
        for arch in self._archs:
            try:
                request = kernel.request_for_arch(arch, types)
            except OptionError as error:
                self._objections.setdefault(arch, str(error))
                continue
            self.used.add(arch)
            yield request

    @property
    def objections(self) -> tuple[tuple[str, str], ...]:
        return tuple((arch, text) for arch, text in self._objections.items() if arch not in self.used)


def requests_of(kernel: Kernel, choice: ArchChoice | None) -> list[tuple[ArgTypes, CompileRequest, Backend]]:
    """What compiling each signature takes, for each architecture; without a choice, for that of this machine's device.

    Raises what is wrong with signatures in the kernel's list `warm`, and DeviceError where there is no such device.
    """
    signatures = kernel.types_to_warm()
    if choice is None and signatures:
        choice = ArchChoice((default_session().current_device(kernel.platform).arch,))
    return [(types, *one) for types in signatures for one in choice.requests(kernel, types)] if choice else []


def faults_of_archs(reports: Sequence[WarmReport]) -> list[str]:
    """What is wrong with the named architectures: those that no kernel of any task could be compiled for."""
    used = frozenset[str]().union(*(report.used_archs for report in reports))
    objections = dict(objection for report in reports for objection in report.objections)
    return [f"no kernel can be compiled for '{arch}': {text}" for arch, text in objections.items() if arch not in used]


def parse_task(text: str, archs: Sequence[str] = ()) -> WarmTask:
    """A task from `MODULE` or `MODULE:KERNEL`. Raises ValueError for what is neither."""
    module, colon, kernel = text.partition(":")
    if module.endswith(".py") and os.path.isfile(module):
        name = os.path.normpath(module)[: -len(".py")].replace(os.sep, ".")
        raise ValueError(f"{text!r} is a file; give its module as `import` takes it, such as {name.lstrip('.')}")
    if not all(map(str.isidentifier, module.split("."))) or (colon and not kernel.isidentifier()):
        raise ValueError(f"{text!r} is neither MODULE nor MODULE:KERNEL, such as package.module:kernel")
    return WarmTask(module, kernel or None, tuple(archs))


def run_tasks(
    tasks: Sequence[WarmTask], n_jobs: int, run: Callable[[WarmTask], WarmReport] | None = None
) -> Generator[WarmReport, None, None]:
    """Run tasks in processes of their own, `n_jobs` at a time; reports in the order in which they end.

    Where the caller does not wait for all, as after Ctrl-C, those that run are ended.
    """
    # spawn: a fresh interpreter, since compilers and devices do not survive a fork.
    context = multiprocessing.get_context("spawn")
    n_processes = max(1, min(n_jobs, len(tasks)))
    with ProcessPoolExecutor(n_processes, mp_context=context, initializer=_prepare_process) as pool:
        names = {pool.submit(run or warm_task, task): task.name for task in tasks}
        try:
            for future in as_completed(names):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield WarmReport(names[future], failures=("the process that compiled it, or one beside it, died",))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _end_processes(multiprocessing.active_children())
            raise


def _end_processes(processes: Sequence[BaseProcess]) -> None:
    """Tell them to end, and end those that do not: the signal may come to another thread than Python's first, such as
    one of OpenBLAS, and is then not noticed by code that waits (Python, "Signals and threads")."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + _GRACE_S
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        process.kill()


def _prepare_process() -> None:
    """Leave it to the first process to tell of Ctrl-C, which reaches all, and of what the cache does not take; and end
    with it where it is killed, since a pool's processes would wait for its next task for ever."""
    warnings.simplefilter("ignore", CacheWarning)
    for number in (signal.SIGINT, signal.SIGTERM):
        # What the first process was started to ignore, as in a script's background, is ignored here too.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: sys.exit(1))
    threading.Thread(target=_end_with_first_process, daemon=True).start()


def _end_with_first_process() -> None:
    first = multiprocessing.parent_process()
    if first is not None:
        first.join()
        os._exit(1)


def import_users_module(name: str) -> ModuleType:
    """A user's module. Raises what importing it raises, and ImportError where it would end this process."""
    try:
        return importlib.import_module(name)
    except SystemExit as end:
        # A command that ends with status 0 here would say that all is well.
        raise ImportError(f"{name} calls sys.exit({end.code!r}) while it is imported") from end


def kernels_of(module_name: str, kernel_name: str | None = None) -> list[Kernel]:
    """The kernels that a module's names stand for, once each, in order, those of ufuncs too; or the one of that name.

    Raises what importing the module raises, and ValueError where it has no such kernel.
    """
    values = vars(import_users_module(module_name))
    if kernel_name is None:
        found = ([value] if isinstance(value, Kernel) else _kernels_of_ufunc(value) for value in values.values())
        return list(dict.fromkeys(kernel for kernels in found for kernel in kernels))
    kernel = values.get(kernel_name)
    if not isinstance(kernel, Kernel):
        known = ", ".join(name for name, value in values.items() if isinstance(value, Kernel)) or "none"
        raise ValueError(f"{module_name} has no kernel '{kernel_name}'; its kernels are: {known}")
    if not kernel.types_to_warm():
        raise ValueError(f"kernel '{kernel_name}' has no declared signatures and no list `warm=[…]`")
    return [kernel]


def _kernels_of_ufunc(value: Any) -> list[Kernel]:
    return value.kernels if isinstance(value, (UFunc, GUFunc)) else []


def warm_task(task: WarmTask) -> WarmReport:
    """Do one task in this process."""
    start = time.perf_counter()
    session = default_session()
    session.defers_declared = True
    choice = ArchChoice(task.archs)
    try:
        kernels = kernels_of(task.module, task.kernel)
    except Exception as error:
        # Any error of the user's module belongs in the report; the other modules go on.
        return WarmReport(task.name, failures=(describe_failure(error),))
    outcomes = [one for kernel in kernels for one in _warm_kernel(session, kernel, choice if task.archs else None)]
    njit_known, njit_compiled = _count_njit(task.module)
    failures = list(dict.fromkeys(one.failure for one in outcomes if one.failure is not None))
    if not (outcomes or choice.objections or njit_known + njit_compiled):
        failures.append(NOTHING_TO_COMPILE)
    return WarmReport(
        task.name,
        n_known=sum(one.is_known for one in outcomes),
        n_compiled=sum(not one.is_known and one.failure is None for one in outcomes),
        unkept=tuple(one.unkept for one in outcomes if one.unkept is not None),
        n_njit_known=njit_known,
        n_njit_compiled=njit_compiled,
        seconds=time.perf_counter() - start,
        used_archs=frozenset(choice.used),
        objections=choice.objections,
        failures=tuple(failures),
    )


@dataclass(frozen=True)
class _Outcome:
    """What became of one signature. unkept: why the next process compiles it all the same. failure: what went wrong."""

    is_known: bool = False
    unkept: str | None = None
    failure: str | None = None


def _warm_kernel(session: Session, kernel: Kernel, choice: ArchChoice | None) -> Iterator[_Outcome]:
    """Compile what is not known, and look whether the next process would find it. choice: None for this machine's
    device."""
    try:
        requests = requests_of(kernel, choice)
    except Exception as error:  # as above; the other kernels go on
        yield _Outcome(failure=describe_failure(error))
        return
    for _types, request, backend in requests:
        stats = CacheStats()
        try:
            if not session.store.keeps(request.options):
                # A package may ship it all the same.
                reason = session.store.reason_to_compile(request, backend)
                failure = None if reason is None else f"not compiled, since it would not be kept: {reason}"
                yield _Outcome(is_known=reason is None, failure=failure)
                continue
            session.store.obtain(request, backend, stats)
            unkept = session.store.reason_to_compile(request, backend) if stats.misses else None
            unkept = stats.unkept[0][1] if stats.unkept else unkept
            yield _Outcome(is_known=bool(stats.hits), unkept=unkept)
        except Exception as error:  # and the other signatures
            yield _Outcome(failure=describe_failure(error))


def describe_failure(error: Exception) -> str:
    """Class and text of an error, and the user's line where it was raised while a module was imported; what compiling
    raises has its lines itself."""
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    place = ""
    if any(frame.filename.startswith("<frozen importlib") for frame in frames):
        users = [frame for frame in frames if not frame.filename.startswith(_FILES_OF_IMPORTING)]
        place = f"{users[-1].filename}:{users[-1].lineno}: " if users else ""
    return f"{place}{type(error).__name__}: {error}"


def _count_njit(module_name: str) -> tuple[int, int]:
    """Signatures of the module's cached Numba functions that were found, and that were compiled and kept."""
    numba_dispatcher: Any = sys.modules.get("numba.core.dispatcher")
    if numba_dispatcher is None:
        return 0, 0
    values = vars(sys.modules[module_name]).values()
    functions = {id(value): value for value in values if isinstance(value, numba_dispatcher.Dispatcher)}
    stats = [function.stats for function in functions.values()]
    return (
        sum(sum(one.cache_hits.values()) for one in stats),
        sum(sum(one.cache_misses.values()) for one in stats),
    )
