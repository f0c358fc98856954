"""Kernels compiled for the wheel of the package that holds them. Before: warm.hatch_hook. After: launch.store.

The entries are those of the cache, but their keys leave out the versions of NumPy, Numba, llvmlite and tools: finished
machine code is right as long as the kernel's fingerprint and `launch_abi` agree.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from numba_gpucore.base.settings import usable_cores
from numba_gpucore.launch import miss
from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.fingerprint import take_fingerprint
from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.store import make_key, number_functions, obstacle_to_keeping, package_of
from numba_gpucore.warm.compile_modules import (
    NOTHING_TO_COMPILE,
    ArchChoice,
    WarmReport,
    WarmTask,
    describe_failure,
    faults_of_archs,
    kernels_of,
    parse_task,
    requests_of,
    run_tasks,
)


class ShipError(Exception):
    """Kernels cannot be put into a wheel; the text says which and why, all at once."""


def ship_modules(
    modules: Sequence[str], archs: Sequence[str], source_folders: Sequence[Path], folder: Path
) -> Iterator[tuple[str, Path]]:
    """Compile the kernels of modules, found in `source_folders`, into one folder of entries for each package.

    archs: each is used for the kernels of those targets that know it. Gives (package, its folder). Raises ShipError.
    """
    try:
        tasks = [parse_task(module, archs) for module in modules]
    except ValueError as error:
        raise ShipError(str(error)) from error
    with _neutral_environment(source_folders, folder / "numba"):
        reports = list(run_tasks(tasks, usable_cores(), partial(_ship_task, folder=str(folder / "packages"))))
    faults = [f"{report.name}: {failure}" for report in reports for failure in report.failures]
    if not faults:
        faults = faults_of_archs(reports)
    if faults:
        raise ShipError("kernels cannot be compiled for the wheel:\n  " + "\n  ".join(faults))
    for package in sorted((folder / "packages").iterdir()):
        yield package.name, package


@contextmanager
def _neutral_environment(source_folders: Sequence[Path], numba_cache: Path) -> Iterator[None]:
    """What child processes inherit: the packages' sources, no device but the CPU, none of the builder's settings."""
    environment, path = dict(os.environ), list(sys.path)
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        del os.environ[name]
    os.environ.update(NUMBA_METAL_DEVICE="cpu", NUMBA_PTXPLUS_DEVICE="cpu", NUMBA_CACHE_DIR=str(numba_cache))
    sys.path[:0] = map(str, source_folders)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path


def _ship_task(task: WarmTask, folder: str) -> WarmReport:
    """Compile one module's kernels in this process, into a folder below `folder` with the name of their package."""
    start = time.perf_counter()
    default_session().defers_declared = True
    choice = ArchChoice(task.archs)
    n_compiled, failures = 0, []
    try:
        kernels = kernels_of(task.module, task.kernel)
        package = package_of(task.module)
        if package is None:
            raise ShipError(
                f"it is a module by itself; kernels lie in a package's folder, so make it {task.module}/__init__.py"
            )
    except Exception as error:
        # Any error of the user's module belongs in the report; the other modules go on.
        return WarmReport(task.name, failures=(describe_failure(error),))
    cache = DiskCache(str(Path(folder) / package))
    for kernel in kernels:
        # What a module has imported from elsewhere is looked for in the folder of its own package.
        if package_of(kernel.py_func.__module__) == package:
            try:
                n_compiled += ship_kernel(kernel, choice, cache)
            except Exception as error:  # as above
                failures.append(describe_failure(error))
    if not n_compiled and not choice.objections and not failures:
        failures.append(NOTHING_TO_COMPILE)
    return WarmReport(
        task.name,
        n_compiled=n_compiled,
        seconds=time.perf_counter() - start,
        used_archs=frozenset(choice.used),
        objections=choice.objections,
        failures=tuple(failures),
    )


def ship_kernel(kernel: Kernel, choice: ArchChoice, cache: DiskCache) -> int:
    """How many entries the kernel gave. Raises ShipError, and what compiling raises."""
    fingerprint = take_fingerprint(kernel.py_func)
    own_source = default_session().store.own_source()
    n_compiled = 0
    for _types, request, backend in requests_of(kernel, choice):
        obstacle = obstacle_to_keeping(request, fingerprint)
        if fingerprint.digest is None or obstacle:
            raise ShipError(f"kernel '{kernel.py_func.__qualname__}' cannot be cached: {obstacle}")
        key = make_key(request, backend, fingerprint, own_source)
        artifact = number_functions(miss.compile_kernel(request), fingerprint)
        lost = [source.module for source in artifact.sources if not source.source_digest]
        if lost:
            raise ShipError(f"'{kernel.py_func.__qualname__}' uses overloads of {', '.join(lost)}, without source")
        unkept = cache.store(key.without_versions(), artifact, made_with=key.versions)
        if unkept:
            raise ShipError(f"kernel '{kernel.py_func.__qualname__}': {unkept}")
        n_compiled += 1
    return n_compiled
