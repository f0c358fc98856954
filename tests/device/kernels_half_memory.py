"""float16 in memory: shared, local and constant arrays, records, whole arrays, atomics, shuffles."""

from __future__ import annotations

import numpy as np
from numba import njit

from numba_gpucore import language as gpu
from numba_gpucore.dtypes import float16
from tests.device.catalogue import Case

N = 128
TABLE = (np.arange(N) / 8).astype(np.float16)


def places(x, records, scalar, out):
    """Halves in shared, local and constant arrays, records, tuples, arguments, and from a device function."""
    i = gpu.grid(1)
    tile = gpu.shared.array(N, float16)
    own = gpu.local.array(2, float16)
    tile[i] = x[i] * scalar
    gpu.syncthreads()
    own[0], own[1] = tile[N - 1 - i], records[i].a
    pair = (own[0], own[1])
    out[i] = add_halves(pair[0], pair[1]) + gpu.const.array_like(TABLE)[i]
    records[i].c[1] = pair[0]


@njit
def add_halves(a, b):
    return a + b


RECORD = np.dtype([("k", np.int32), ("a", np.float16), ("c", np.float16, (2,))], align=True)


def make_places(rng):
    records = np.zeros(N, RECORD)
    records["a"] = rng.normal(size=N)
    return rng.normal(size=N).astype(np.float16), records, np.float16(1.5), np.zeros(N, np.float16)


def expect_places(x, records, scalar, out):
    tile = (x * scalar)[::-1]
    changed = records.copy()
    changed["c"][:, 1] = tile
    return {1: changed, 3: tile + records["a"] + TABLE}


def whole_arrays(x, y, out):
    if gpu.grid(1) == 0:
        out[0, :] = x * y + x
        out[1, :] = np.sqrt(np.abs(x))
        out[2, :] = x
        out[2, :] += y


def expect_whole_arrays(x, y, out):
    return {2: np.stack([x * y + x, np.sqrt(np.abs(x)), x + y])}


def updates(x, sums, extremes):
    """Neighbours in one 32-bit word are changed by different threads."""
    i = gpu.grid(1)
    gpu.atomic.add(sums, i % 3, x[i])
    gpu.atomic.sub(sums, 3 + i % 2, x[i])
    gpu.atomic.max(extremes, 1, x[i])
    gpu.atomic.min(extremes, 2, x[i])
    gpu.atomic.nanmax(extremes, 3, x[i])
    gpu.atomic.nanmin(extremes, 4, x[i])


def make_updates(rng):
    """Small whole numbers, so that sums are exact in any order; arrays of odd size that start inside a word."""
    return (
        rng.integers(-20, 20, N).astype(np.float16),
        np.zeros(6, np.float16)[1:],
        np.array([5, -50, 50, np.nan, np.nan], np.float16),
    )


def expect_updates(x, sums, extremes):
    wanted = sums.copy()
    np.add.at(wanted, np.arange(N) % 3, x)
    np.subtract.at(wanted, 3 + np.arange(N) % 2, x)
    return {1: wanted, 2: np.array([5, x.max(), x.min(), x.max(), x.min()], np.float16)}


def shared_updates(x, out):
    sums = gpu.shared.array(3, float16)
    i = gpu.threadIdx.x
    if i < 3:
        sums[i] = 0
    gpu.syncthreads()
    gpu.atomic.add(sums, i % 3, x[i])
    gpu.syncthreads()
    if i < 3:
        out[i] = sums[i]


def expect_shared_updates(x, out):
    return {1: np.array([x[k::3].sum(dtype=np.float64) for k in range(3)], np.float16)}


def swaps(out, seen):
    """Compare-and-swap hands out each value once; a NaN is never replaced by max, and compared by its bits by cas."""
    i = gpu.grid(1)
    done = False
    while not done:
        old = out[1]
        done = gpu.atomic.cas(out, 1, old, old + float16(1)) == old
    seen[int(old)] = 1
    if i == 0:
        gpu.atomic.exch(out, 3, float16(2.5))
        gpu.atomic.max(out, 2, float16(100))
        gpu.atomic.cas(out, 4, out[2], float16(9))


def expect_swaps(out, seen):
    return {0: np.array([1, N, np.nan, 2.5, 9], np.float16), 1: np.ones(N, np.int32)}


def make_swaps(rng):
    return np.array([1, 0, np.nan, 4, np.nan], np.float16), np.zeros(N, np.int32)


def shuffles(x, out):
    i = gpu.grid(1)
    out[0, i] = gpu.shfl_sync(0xFFFFFFFF, x[i], i + 1)
    out[1, i] = gpu.shfl_up_sync(0xFFFFFFFF, x[i], 1)
    out[2, i] = gpu.shfl_down_sync(0xFFFFFFFF, x[i], 1)
    out[3, i] = gpu.shfl_xor_sync(0xFFFFFFFF, x[i], 3)


def expect_shuffles(x, out):
    lanes = np.arange(N)
    up = np.where(lanes % 32 == 0, lanes, lanes - 1)
    down = np.where(lanes % 32 == 31, lanes, lanes + 1)
    return {1: np.stack([x[lanes // 32 * 32 + (lanes + 1) % 32], x[up], x[down], x[lanes ^ 3]])}


def normal(*shapes, count=1):
    """`count` arrays of N halves, then zeros of these shapes."""

    def make(rng):
        values = [rng.normal(size=N).astype(np.float16) for _ in range(count)]
        return *values, *(np.zeros(shape, np.float16) for shape in shapes)

    return make


CASES = [
    Case(places, make_places, expect_places, block=N, name="half_places"),
    Case(whole_arrays, normal((3, N), count=2), expect_whole_arrays, block=32, name="half_whole_arrays"),
    Case(updates, make_updates, expect_updates, block=N, name="half_updates"),
    Case(shared_updates, lambda rng: (rng.integers(0, 9, N).astype(np.float16), np.zeros(3, np.float16)),
         expect_shared_updates, block=N, name="half_shared_updates"),
    Case(swaps, make_swaps, expect_swaps, block=N, name="half_swaps"),
    Case(shuffles, normal((4, N)), expect_shuffles, block=N, name="half_shuffles"),
]  # fmt: skip
