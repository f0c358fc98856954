"""Checks a linked module before any back-end sees it. Before: linking. After: Codegen.legalize.

LLVM ends the process when it meets what it cannot select, so nothing unknown may pass. Every fault is reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import llvmlite.binding as llvm

from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.call_chains import user_place
from numba_gpucore.compile.code_library import DeviceLibrary
from numba_gpucore.compile.intrinsics import (
    INTRINSICS,
    parse_assert_symbol,
    parse_foreign_symbol,
    parse_libdevice_symbol,
    parse_shared_symbol,
    parse_site_symbol,
    shared_nbytes,
)
from numba_gpucore.compile.job import Job

#: LLVM intrinsics that every code generator of ours takes, by the part of their names before the types.
#: Source: LLVM Language Reference, "Intrinsic Functions"; NVPTX selection tried with LLVM 22.
PORTABLE_LLVM_INTRINSICS = frozenset(
    {
        "abs", "assume", "bitreverse", "bswap", "ceil", "copysign", "ctlz", "ctpop", "cttz", "dbg", "expect", "fabs",
        "floor", "fma", "fmuladd", "fptosi", "fptoui", "fshl", "fshr", "is", "lifetime", "maximum", "maxnum", "memcpy",
        "memmove", "memset", "minimum", "minnum", "nearbyint", "rint", "roundeven", "sadd", "smax", "smin", "smul",
        "sqrt", "ssub", "trunc", "uadd", "umax", "umin", "umul", "usub",
    }
)  # fmt: skip

_GRID_BARRIER = "gpu.barrier.grid"


def validate_module(module: llvm.ModuleRef, job: Job, library: DeviceLibrary) -> None:
    """Raise UnsupportedKernelError with every reason why no back-end could compile the module."""
    py_func = job.request.py_func
    faults = [*_unknown_functions(module, job, library), *_recursion(job), *_grid_barriers(job, library)]
    faults += _shared_memory(job, library)
    if faults:
        raise UnsupportedKernelError(py_func.__name__, faults)


def _unknown_functions(module: llvm.ModuleRef, job: Job, library: DeviceLibrary) -> Iterator[Fault]:
    names: dict[tuple[str, int], list[str]] = {}
    for function in module.functions:
        if function.is_declaration and not _is_known(function.name):
            names.setdefault(user_place(function.name, library, job.request), []).append(f"'{function.name}'")
    for (filename, line), found in names.items():
        noun = "function" if len(found) == 1 else "functions"
        yield Fault(
            filename,
            line,
            f"this needs the host {noun} {', '.join(found)}, which no device has",
            "call a function of math, cmath, NumPy's scalar ufuncs or the kernel language instead",
        )


def _is_known(name: str) -> bool:
    if name.startswith("llvm."):
        return name.split(".")[1] in PORTABLE_LLVM_INTRINSICS
    if any(parse(name) is not None for parse in (parse_assert_symbol, parse_libdevice_symbol, parse_foreign_symbol)):
        return True
    return name in INTRINSICS or bool(parse_shared_symbol(name)) or parse_site_symbol(name) is not None


def _recursion(job: Job) -> Iterator[Fault]:
    if job.has_recursion and not job.request.target.rules.has_recursion:
        code = job.request.py_func.__code__
        yield Fault(
            code.co_filename,
            code.co_firstlineno,
            f"the kernel calls a function that calls itself; {job.request.target.name} has no recursion",
            "write the recursion as a loop with a stack in local.array",
        )


def _shared_memory(job: Job, library: DeviceLibrary) -> Iterator[Fault]:
    """Told where the largest array is made."""
    rules, nbytes = job.request.target.rules, shared_nbytes(job.shared_arrays)
    limit = rules.max_static_shared_nbytes
    if limit is None or nbytes <= limit:
        return
    arrays = filter(None, map(parse_shared_symbol, library.all_symbols()))
    largest = max(arrays, key=lambda array: array.nbytes)
    more = rules.max_shared_nbytes is None
    yield Fault(
        *user_place(largest.symbol, library, job.request),
        f"the shared arrays of a block need {nbytes} bytes; {job.request.target.name} has {limit} for them",
        f"use smaller arrays{', or shared.array(0, dtype) and give its size at launch, which allows more' * more}",
    )


def _grid_barriers(job: Job, library: DeviceLibrary) -> Iterator[Fault]:
    if _GRID_BARRIER in job.intrinsics and not job.request.target.rules.has_grid_barrier:
        yield Fault(
            *user_place(_GRID_BARRIER, library, job.request),
            f"a barrier across the whole grid, which {job.request.target.name} does not have",
            "split the kernel in two at that place",
        )
