"""Compile the kernels of modules ahead of time. Before: warm.command, warm.ship. After: launch.store, launch.cache.

Kernels tell which signatures they want compiled: those that they declare, else their decorator's list `warm`. A process
for each module imports it and compiles, so modules are done in parallel. Numba's own `@njit(cache=True)` functions with
signatures are compiled and kept by Numba when the module is imported.
"""

from __future__ import annotations

import importlib
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.backend import Backend
from numba_gpucore.base.errors import OptionError
from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.programs import ArgTypes
from numba_gpucore.launch.session import Session, default_session
from numba_gpucore.launch.store import CacheStats
from numba_gpucore.ufuncs.guvectorize import GUFunc
from numba_gpucore.ufuncs.vectorize import UFunc


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
    architectures that a kernel could be compiled for. objections: why each of the others could not. failure: why
    the task failed; None if it did not.
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
    failure: str | None = None


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


def archs_for(kernel: Kernel, choice: ArchChoice | None) -> ArchChoice:
    """The choice; without one, the architecture of this machine's device."""
    return ArchChoice((default_session().current_device(kernel.platform).arch,)) if choice is None else choice


def faults_of_archs(reports: Sequence[WarmReport]) -> list[str]:
    """What is wrong with the named architectures: those that no kernel of any task could be compiled for."""
    used = frozenset[str]().union(*(report.used_archs for report in reports))
    objections = dict(objection for report in reports for objection in report.objections)
    return [f"no kernel can be compiled for '{arch}': {text}" for arch, text in objections.items() if arch not in used]


def parse_task(text: str, archs: Sequence[str] = ()) -> WarmTask:
    """A task from `MODULE` or `MODULE:KERNEL`."""
    module, _, kernel = text.partition(":")
    return WarmTask(module, kernel or None, tuple(archs))


def run_tasks(
    tasks: Sequence[WarmTask], n_jobs: int, run: Callable[[WarmTask], WarmReport] | None = None
) -> Iterator[WarmReport]:
    """Run tasks in processes of their own, `n_jobs` at a time; reports in the order in which they end."""
    # spawn: a fresh interpreter, since compilers and devices do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max(1, min(n_jobs, len(tasks))), mp_context=context) as pool:
        names = {pool.submit(run or warm_task, task): task.name for task in tasks}
        for future in as_completed(names):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield WarmReport(names[future], failure="the process that compiled it, or another beside it, died")


def kernels_of(module_name: str, kernel_name: str | None = None) -> list[Kernel]:
    """The kernels that a module's names stand for, once each, in order, those of ufuncs too; or the one of that name.

    Raises what importing the module raises, and ValueError where it has no such kernel.
    """
    values = vars(importlib.import_module(module_name))
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
    stats = CacheStats()
    choice = ArchChoice(task.archs)
    unkept: list[str] = []
    try:
        for kernel in kernels_of(task.module, task.kernel):
            unkept += _warm_kernel(session, kernel, choice if task.archs else None, stats)
    except Exception as error:
        # Any error of the user's module belongs in the report; the other modules go on.
        return WarmReport(task.name, failure=f"{type(error).__name__}: {error}")
    njit_known, njit_compiled = _count_njit(task.module)
    return WarmReport(
        task.name,
        len(stats.hits),
        len(stats.misses),
        tuple(unkept),
        njit_known,
        njit_compiled,
        seconds=time.perf_counter() - start,
        used_archs=frozenset(choice.used),
        objections=choice.objections,
    )


def _warm_kernel(session: Session, kernel: Kernel, choice: ArchChoice | None, stats: CacheStats) -> Iterator[str]:
    """Compile what is not known, and look whether the next process would find it. choice: None for this machine's
    device."""
    archs = archs_for(kernel, choice)
    for types in kernel.types_to_warm():
        for request, backend in archs.requests(kernel, types):
            n_misses = len(stats.misses)
            session.store.obtain(request, backend, stats)
            reason = session.store.reason_to_compile(request, backend) if len(stats.misses) > n_misses else None
            if reason is not None:
                yield reason


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
