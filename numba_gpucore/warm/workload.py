"""Our own workload: what a session's first new kernel would have to lower first. Before: warm.command. After: store.

Numba implements much of Python and NumPy in Python; each such function is typed and lowered for each combination of
types that a kernel uses. The kernels below use those that programs use most; what is lowered for them is kept
(compile.stored_overloads), the kernels themselves are not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from numba_gpucore import language as gpu
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.cpu.arch import baseline_arch
from numba_gpucore.dtypes import float16, float32, int32
from numba_gpucore.launch import miss
from numba_gpucore.launch.jit import jit
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import default_session
from numba_gpucore.warm.compile_modules import WarmReport

#: Element types that kernels are made for, by target: those that its devices have and NumPy programs use.
_DTYPES = {"metal": ("float32", "int32", "int64", "uint8"), "ptxplus": ("float32", "float64", "int32", "int64")}


def _sum_and_mean(x, out):
    i = gpu.grid(1)
    out[i] = x[i : i + 4].sum() + np.sum(x) + x.mean() + x[::2].sum()


def _extremes(x, out):
    i = gpu.grid(1)
    out[i] = x[i:].max() + np.max(x) + x.min() + np.min(x[::2])


def _positions(x, out):
    i = gpu.grid(1)
    out[i] = np.argmax(x) + x.argmin()


def _products(x, out):
    i = gpu.grid(1)
    out[i] = x.prod() + np.dot(x, x)


def _choices(x, out):
    i = gpu.grid(1)
    out[i] = np.where(x[i] > 1, x[i], x[0]) + np.clip(x[i], 1, 2)


def _loops(x, out):
    i = gpu.grid(1)
    total = x[i]
    for j, value in enumerate(x[i : i + 4]):
        total += value * j
    for a, b in zip(x, x[::2]):  # noqa: B905 - kernels know no keywords of zip
        total += min(a, b) + max(a, b)
    for j in range(i, len(x), gpu.gridsize(1)):
        total += abs(x[j])
    out[i] = total


def _integers(x, out):
    i = gpu.grid(1)
    quotient, remainder = divmod(x[i], x[0])
    out[i] = quotient + remainder + x[i] // x[1] + x[i] % x[1] + pow(x[i], 2) + x[i] ** x[1]


def _rows(x, out):
    i = gpu.grid(1)
    row = x[i]
    out[i] = row.sum() + np.max(row) + x[:, i].sum() + x[i, 0] + row.mean()


def _transcendental(x, out):
    i = gpu.grid(1)
    y = x[i]
    out[i] = math.exp(y) + math.log(y) + math.sin(y) + math.cos(y) + math.sqrt(y) + math.pow(y, y) + math.tanh(y)
    out[i] += np.exp(y) + np.log(y) + np.sin(y) + np.sqrt(y) + abs(y) + round(y) + math.floor(y) + math.hypot(y, y)


def _halves(x, out):
    i = gpu.grid(1)
    h = float16(x[i])
    out[i] = float32(h * h + h)


def _throws(x, out):
    i = gpu.grid(1)
    if x[i] > 100:
        raise ValueError("too large", i)
    out[i] = x[i]


def _shares(x, out):
    tile = gpu.shared.array(64, float32)
    i = gpu.threadIdx.x
    tile[i] = x[i]
    gpu.syncthreads()
    gpu.atomic.add(out, 0, tile[63 - i])
    gpu.atomic.max(out, 1, tile[i])


def _counts(x, out):
    tile = gpu.local.array(4, int32)
    for j in range(4):
        tile[j] = 0
    for value in x:
        tile[int(value) & 3] += 1
    out[0] = tile[0] + tile[1]


_VECTOR, _MATRIX = "void({0}[::1], {0}[::1])", "void({0}[:, ::1], {0}[::1])"
_KERNELS: tuple[tuple[Callable[..., None], str], ...] = (
    (_sum_and_mean, _VECTOR),
    (_extremes, _VECTOR),
    (_positions, _VECTOR),
    (_products, _VECTOR),
    (_choices, _VECTOR),
    (_loops, _VECTOR),
    (_integers, _VECTOR),
    (_rows, _MATRIX),
    (_throws, _VECTOR),
    (_counts, _VECTOR),
)
_FLOAT_KERNELS: tuple[tuple[Callable[..., None], str], ...] = (
    (_transcendental, _VECTOR),
    (_halves, _VECTOR),
    (_shares, _VECTOR),
)
_BOUNDSCHECKS = (True, False)
_UNKEPT = (
    "the cache folder does not take all that they need: is there room, and is NUMBA_GPU_CACHE_NBYTES large enough?"
)


def run_workload(platform: Platform, after_each: Callable[[], None] = lambda: None) -> WarmReport:
    """Lower the workload for a target, with bounds checks and without, and keep what it needs; nothing is done where
    all that is there. Raises what lowering raises: every kernel must be within what the target can do."""
    start = time.perf_counter()
    session = default_session()
    session.store.keeps_overloads = True
    # The list of what is made is kept as that is, so that it holds for the same versions.
    list_key = f"all that the workload of {platform.target.name} needs"
    known = session.store.overloads()
    names = known.find(list_key)
    if names is not None and known.has_files(names.split()):
        return WarmReport("workload", n_known=count_workload(platform), seconds=time.perf_counter() - start)
    # Anew, since what an implementation that is there calls would not be asked for.
    made = session.store.overloads(finds=False)
    n_lowered = 0
    for request in _requests(platform):
        miss.lower_kernel(request, made)
        n_lowered += 1
        after_each()
    names = "\n".join(sorted(made.names_kept))
    made.keep(list_key, names)
    unkept = () if known.has_files(names.split()) else (_UNKEPT,)
    return WarmReport("workload", n_compiled=n_lowered, unkept=unkept, seconds=time.perf_counter() - start)


def count_workload(platform: Platform) -> int:
    """How many kernels are lowered."""
    return sum(len(_kernels_for(dtype)) * len(_BOUNDSCHECKS) for dtype in _DTYPES[platform.target.name])


def _kernels_for(dtype: str) -> tuple[tuple[Callable[..., None], str], ...]:
    return (*_KERNELS, *_FLOAT_KERNELS) if dtype.startswith("float") else _KERNELS


def _requests(platform: Platform) -> Iterator[CompileRequest]:
    for dtype in _DTYPES[platform.target.name]:
        for function, signature in _kernels_for(dtype):
            kernel: Any = jit(platform, function, warm=[signature.format(dtype)])
            for types in kernel.types_to_warm():
                # Only lowered: no architecture's code is made. Devices differ in whether they check bounds.
                request, _backend = kernel.request_for_arch(baseline_arch(), types)
                for checks in _BOUNDSCHECKS:
                    yield replace(request, options=replace(request.options, boundscheck=checks))
