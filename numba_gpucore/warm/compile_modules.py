"""Fill the cache with the declared signatures of modules. Before: warm.command. After: launch.store.

Decorating a kernel that declares signatures compiles them and keeps the results, so importing a module is all there is
to do; a process for each module does it in parallel.
"""

from __future__ import annotations

import importlib
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.session import default_session


@dataclass(frozen=True)
class WarmReport:
    """What became of a module's declared signatures. n_unkept: compiled, but for kernels that are not cached.

    failure: why the module could not be imported; None if it could.
    """

    module: str
    n_known: int = 0
    n_compiled: int = 0
    n_unkept: int = 0
    seconds: float = 0.0
    failure: str | None = None


def warm_modules(modules: Sequence[str], n_jobs: int) -> Iterator[WarmReport]:
    """Import modules in processes of their own, `n_jobs` at a time; reports in the order in which they end."""
    # spawn: a fresh interpreter, since compilers and devices do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(n_jobs, len(modules)), mp_context=context) as pool:
        for future in as_completed([pool.submit(_warm_module, module) for module in modules]):
            yield future.result()


def kernels_of(module_name: str) -> list[Kernel]:
    """The kernels that a module's names stand for, once each, in order. Raises what importing it raises."""
    values = vars(importlib.import_module(module_name)).values()
    return list(dict.fromkeys(value for value in values if isinstance(value, Kernel)))


def _warm_module(name: str) -> WarmReport:
    start = time.perf_counter()
    try:
        kernels = kernels_of(name)
    except Exception as error:
        # Any error of the user's module belongs in the report; the other modules go on.
        return WarmReport(name, failure=f"{type(error).__name__}: {error}")
    n_known = n_compiled = n_unkept = 0
    for kernel in kernels:
        wanted = kernel.options.cache
        is_kept = default_session().settings.caches_by_default if wanted is None else wanted
        n_known += len(kernel.stats.hits)
        n_compiled += len(kernel.stats.misses)
        n_unkept += 0 if is_kept else len(kernel.stats.misses)
    return WarmReport(name, n_known, n_compiled, n_unkept, time.perf_counter() - start)
