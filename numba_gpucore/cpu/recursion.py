"""Device functions that call themselves: they stay functions. Before: device IR. After: legalize inlines the others."""

from __future__ import annotations

from collections.abc import Mapping

from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.intrinsics import INTRINSICS
from numba_gpucore.compile.job import Job
from numba_gpucore.compile.linking import walk_calls


def recursive_functions(text: str, entry: str, job: Job) -> frozenset[str]:
    """Names of the functions in the module `text` that can reach themselves.

    Raises UnsupportedKernelError if one of them waits for other threads: a thread is suspended in the coroutine that
    its kernel was inlined into, never in a function that this calls.
    """
    mentions = walk_calls([text], entry).mentions
    recursive = frozenset(name for name in mentions if name in _reachable(mentions, name))
    waits = {
        symbol
        for name in recursive
        for symbol in _reachable(mentions, name)
        if symbol in INTRINSICS and INTRINSICS[symbol].suspends
    }
    if waits:
        code = job.request.py_func.__code__
        what = f"a recursive function waits for other threads ({', '.join(sorted(waits))})"
        advice = "move barriers and warp operations out of the recursion"
        raise UnsupportedKernelError(
            job.request.py_func.__name__, [Fault(code.co_filename, code.co_firstlineno, what, advice)]
        )
    return recursive


def _reachable(mentions: Mapping[str, tuple[str, ...]], start: str) -> set[str]:
    """Symbols that `start` mentions, directly or through others; itself only if there is a cycle."""
    found: set[str] = set()
    pending = list(mentions.get(start, ()))
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(mentions.get(name, ()))
    return found
