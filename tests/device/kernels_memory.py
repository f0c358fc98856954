"""Shared, local and constant arrays: static, dynamic, of several dtypes and shapes."""

from __future__ import annotations

import numpy as np
from numba import njit

from numba_gpucore import cache_hints
from numba_gpucore import language as gpu
from numba_gpucore.dtypes import complex64, float16, float32, int32, uint8
from tests.device.catalogue import Case

TILE = 8
SHAPE = (4, 6)
TABLE = np.arange(100, dtype=np.float32) * 2
#: Emitters read constants as LLVM writes them, with some bytes escaped.
EVERY_BYTE = np.arange(256, dtype=np.uint8)
#: Constants whose items do not lie side by side.
EVERY_THIRD, BACKWARDS, REPEATED = TABLE[1::3], TABLE[::-1], np.broadcast_to(np.float32(7), (3, 4))
COLUMNS = TABLE.reshape(10, 10)[::2, 3:5]
FIELD = np.array([(1.5, 2), (3.5, 4), (5.5, 6)], np.dtype([("x", np.float32), ("n", np.int32)]))["n"]
ITEM = np.dtype([("x", np.float32), ("n", np.int32), ("ok", np.bool_)], align=True)


def matmul_ragged(a, b, c):
    """Tiled product of matrices whose sizes are no multiples of the tile."""
    left = gpu.shared.array((TILE, TILE), float32)
    right = gpu.shared.array((TILE, TILE), float32)
    col, row = gpu.grid(2)
    x, y = gpu.threadIdx.x, gpu.threadIdx.y
    total = float32(0)
    for k0 in range(0, a.shape[1], TILE):
        left[y, x] = a[row, k0 + x] if row < a.shape[0] and k0 + x < a.shape[1] else 0
        right[y, x] = b[k0 + y, col] if k0 + y < b.shape[0] and col < b.shape[1] else 0
        gpu.syncthreads()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        gpu.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


def two_shared_arrays(x, out):
    """Two arrays of one shape do not overlap; a tuple of globals is a shape."""
    a = gpu.shared.array(SHAPE, int32)
    b = gpu.shared.array(SHAPE, int32)
    i, j = gpu.threadIdx.x, gpu.threadIdx.y
    a[i, j] = x[i, j]
    b[i, j] = 100 * x[i, j]
    gpu.syncthreads()
    out[i, j] = a[3 - i, j] + b[i, 5 - j]


@njit
def use_shared(value, t):
    kept = gpu.shared.array(32, int32)
    if value >= 0:
        kept[t] = value
    gpu.syncthreads()
    return kept[t]


def shared_in_device_function(x, out):
    """A device function's shared array is the same one at every call."""
    t = gpu.threadIdx.x
    first = use_shared(x[t], t)
    gpu.syncthreads()
    out[t] = first + use_shared(int32(-1), t)


def shared_of_small_items(x, out):
    flags = gpu.shared.array(32, np.bool_)
    octets = gpu.shared.array(32, uint8)
    parts = gpu.shared.array(32, complex64)
    t = gpu.threadIdx.x
    flags[t] = x[t] > 4
    octets[t] = 250 + x[t]
    parts[t] = complex(x[t], -x[t])
    gpu.syncthreads()
    other = 31 - t
    out[t] = flags[other] + 2 * octets[other] + parts[other].real - 1000 * parts[other].imag


def expect_shared_of_small_items(x, out):
    other = x[::-1]
    return {1: (other > 4) + 2 * ((250 + other) % 256) + other + 1000 * other}


def shared_records(x, out):
    items = gpu.shared.array(32, ITEM)
    t = gpu.threadIdx.x
    items[t].x = x[t]
    items[t].n = t
    items[t].ok = t > 3
    gpu.syncthreads()
    other = items[31 - t]
    out[t] = other.x + other.n + (100 if other.ok else 0)


def dynamic_slices(x, out, counts, n):
    """Disjoint slices of dynamic shared memory."""
    both = gpu.shared.array(0, float32)
    low = both[:n]
    high = both[n : 2 * n]
    t = gpu.threadIdx.x
    low[t] = x[t]
    high[t] = -x[t]
    gpu.syncthreads()
    out[t] = low[n - 1 - t] + 10 * high[t]
    if t == 0:
        counts[0] = len(low)
        counts[1] = len(high)
        counts[2] = both.size


def dynamic_of_two_types(x, out):
    """Dynamic arrays of different types share one start."""
    words = gpu.shared.array(0, int32)
    octets = gpu.shared.array(0, uint8)
    t = gpu.threadIdx.x
    words[t] = x[t]
    gpu.syncthreads()
    out[t] = octets[4 * t] + 1000 * octets[4 * t + 1]


def large_local_array(index, out):
    """As large as no device has registers; what has not been written is zero."""
    mine = gpu.local.array(4096, int32)
    i = gpu.grid(1)
    mine[index[i]] = i + 1
    out[i] = mine[index[i]] + mine[4095 - index[i]]


def local_sort(x, out):
    """A local array with run-time indices: insertion sort of five numbers a thread."""
    mine = gpu.local.array(5, float32)
    i = gpu.grid(1)
    for k in range(5):
        mine[k] = x[i, k]
    for k in range(1, 5):
        value = mine[k]
        place = k
        while place > 0 and mine[place - 1] > value:
            mine[place] = mine[place - 1]
            place -= 1
        mine[place] = value
    for k in range(5):
        out[i, k] = mine[k]


def local_matrix(x, out):
    m = gpu.local.array((2, 3), int32)
    i = gpu.grid(1)
    for r in range(2):
        for c in range(3):
            m[r, c] = x[i] * (10 * r + c)
    total = 0
    for c in range(3):
        total += m[1, c] - m[0, 2 - c]
    out[i] = total


def constant_table(index, out):
    table = gpu.const.array_like(TABLE)
    i = gpu.grid(1)
    if i < index.size:
        out[i] = table[index[i]] + TABLE[99 - index[i]]


def constant_views(out):
    i = gpu.grid(1)
    if i == 0:
        out[0] = EVERY_THIRD[0] + EVERY_THIRD[32] + gpu.const.array_like(EVERY_THIRD)[-2]
        out[1] = BACKWARDS[0] - BACKWARDS[98]
        out[2] = REPEATED[2, 3] + REPEATED[0, 1]
        out[3] = COLUMNS[4, 1] - COLUMNS[1, 0]
        out[4] = FIELD[0] + 10 * FIELD[2]
        out[5] = EVERY_THIRD[1:].size


def every_byte(out):
    out[gpu.grid(1)] = EVERY_BYTE[gpu.grid(1)]


def random_int32(shape, *rest):
    return lambda rng: (rng.integers(0, 9, shape, dtype=np.int32), *(np.zeros(s, np.int32) for s in rest))


def cache_operators(x, out, matrix, row):
    """All loads and stores with a cache operator; indices as in indexing."""
    i = gpu.grid(1)
    total = cache_hints.ldca(x, i) + cache_hints.ldcg(x, i) + cache_hints.ldcs(x, i)
    cache_hints.stcg(out, i, total + cache_hints.ldlu(x, -1) + cache_hints.ldcv(matrix, (row, i)))
    cache_hints.stcs(matrix, (0, i), float32(1))
    cache_hints.stwb(matrix, (1, -1 - i), float32(2.5))
    cache_hints.stwt(matrix, (2, i), x[i])


def expect_cache_operators(x, out, matrix, row):
    after = matrix.copy()
    after[0], after[1], after[2] = 1, 2.5, x
    return {1: 3 * x + x[-1] + matrix[row], 2: after}


def cache_operators_elsewhere(x, halves, flags, wide):
    """Words of other sizes; in shared and local memory, where operators mean nothing."""
    i = gpu.threadIdx.x
    shared, local = gpu.shared.array(32, uint8), gpu.local.array(2, float16)
    cache_hints.stwt(shared, i, cache_hints.ldcg(x, i))
    cache_hints.stcs(local, 1, cache_hints.ldca(halves, i) + halves[0])
    gpu.syncthreads()
    total = cache_hints.ldlu(wide, i)
    for k in range(4):
        total += cache_hints.ldcv(shared, (i + k) % 32)
    cache_hints.stcg(wide, i, total)
    cache_hints.stwb(halves, i, cache_hints.ldcs(local, 1))
    cache_hints.stcs(flags, i, not cache_hints.ldca(flags, i))


def expect_cache_operators_elsewhere(x, halves, flags, wide):
    around = sum(np.roll(x.astype(np.int64), -k) for k in range(4))
    return {1: halves + halves[0], 2: ~flags, 3: wide + around}


def aligned_locals_across_barriers(x, out):
    """Local arrays aligned for wide accesses, which LLVM makes of loops, live while threads wait."""
    i = gpu.threadIdx.x
    wide, wider = gpu.local.array(64, float32, alignment=64), gpu.local.array(200, float32, alignment=256)
    for k in range(64):
        wide[k] = x[k]
    for k in range(200):
        wider[k] = x[k] + 1
    gpu.syncthreads()
    for k in range(64):
        wide[k] *= 2
    gpu.syncthreads()
    for k in range(200):
        wider[k] *= 2
    gpu.syncthreads()
    for k in range(64):
        out[i, k] = wide[k] + wider[k + 136]


def halo(a, out):
    """Neighbours from shared memory, at the tile's ends from device memory; one place of the two is written."""
    tile, own = gpu.shared.array(16, float32), gpu.local.array(4, float32)
    t, i = gpu.threadIdx.x, gpu.grid(1)
    for k in range(4):
        own[k] = k + a[0]
    tile[t] = a[i] if i < a.size else 0
    gpu.syncthreads()
    if 0 < i < a.size - 1:
        left = tile[t - 1] if t > 0 else a[i - 1]
        right = tile[t + 1] if t < 15 else a[i + 1]
        out[0, i] = left + 2 * right
        out[1, i] = tile[15 - t] if t % 3 else own[t % 4]
    gpu.syncthreads()
    if i < a.size:
        if t % 2:
            tile[t] = 5
        else:
            out[2, i] = 5
        out[2, i] += tile[t]


def expect_halo(a, out):
    wanted, i = out.copy(), np.arange(1, a.size - 1)
    wanted[0, 1:-1] = a[:-2] + 2 * a[2:]
    whole = np.append(a, np.zeros(-a.size % 16, np.float32)).reshape(-1, 16)[:, ::-1].ravel()
    wanted[1, 1:-1] = np.where(i % 16 % 3, whole[i], i % 16 % 4 + a[0])
    wanted[2] = 5 + np.where(np.arange(a.size) % 2, 0, a)
    return {1: wanted}


CASES = (
    Case(
        matmul_ragged,
        lambda rng: (
            rng.random((13, 21), np.float32),
            rng.random((21, 10), np.float32),
            np.zeros((13, 10), np.float32),
        ),
        lambda a, b, c: {2: a.astype(np.float64) @ b},
        grid=(2, 2),
        block=(TILE, TILE),
        rtol=21 * 6e-8,
        tolerance="21 float32 additions of positive products, half an ulp each",
    ),
    Case(
        two_shared_arrays,
        random_int32(SHAPE, SHAPE),
        lambda x, out: {1: x[::-1] + 100 * x[:, ::-1]},
        block=SHAPE,
    ),
    Case(shared_in_device_function, random_int32(32, 32), lambda x, out: {1: 2 * x}),
    Case(shared_of_small_items, random_int32(32, 32), expect_shared_of_small_items),
    Case(
        shared_records,
        random_int32(32, 32),
        lambda x, out: {1: x[::-1] + (31 - np.arange(32)) + np.where(31 - np.arange(32) > 3, 100, 0)},
    ),
    Case(
        dynamic_slices,
        lambda rng: (rng.random(16, np.float32), np.zeros(16, np.float32), np.zeros(3, np.int32), 16),
        lambda x, out, counts, n: {1: x[::-1] - 10 * x, 2: np.array([16, 16, 34], np.int32)},
        block=16,
        shared_nbytes=34 * 4 + 3,
        rtol=2e-7,
        atol=1e-6,
        tolerance="multiply and add may be fused: one rounding fewer than NumPy",
    ),
    Case(
        dynamic_of_two_types,
        lambda rng: (rng.integers(0, 2**16, 32, dtype=np.int32), np.zeros(32, np.int32)),
        lambda x, out: {1: x % 256 + 1000 * (x // 256)},
        shared_nbytes=128,
    ),
    Case(
        local_sort,
        lambda rng: (rng.random((32, 5), np.float32), np.zeros((32, 5), np.float32)),
        lambda x, out: {1: np.sort(x, axis=1)},
    ),
    Case(
        cache_operators,
        lambda rng: (np.arange(32, dtype=np.float32), np.zeros(32, np.float32), np.ones((4, 32), np.float32), 3),
        expect_cache_operators,
    ),
    Case(
        cache_operators_elsewhere,
        lambda rng: (
            rng.integers(0, 256, 32).astype(np.uint8),
            np.full(32, 0.75, np.float16),
            rng.integers(0, 2, 32).astype(np.bool_),
            rng.integers(0, 2**40, 32),
        ),
        expect_cache_operators_elsewhere,
    ),
    Case(
        halo,
        lambda rng: (rng.integers(0, 99, 37).astype(np.float32), np.zeros((3, 37), np.float32)),
        expect_halo,
        grid=3,
        block=16,
    ),
    Case(
        aligned_locals_across_barriers,
        lambda rng: (rng.integers(0, 99, 200).astype(np.float32), np.zeros((33, 64), np.float32)),
        lambda x, out: {1: np.tile(2 * x[:64] + 2 * x[136:] + 2, (33, 1))},
        block=33,
    ),
    Case(
        large_local_array,
        lambda rng: (rng.integers(0, 2048, 32).astype(np.int32), np.zeros(32, np.int32)),
        lambda index, out: {1: np.arange(32) + 1},
    ),
    Case(local_matrix, random_int32(32, 32), lambda x, out: {1: 30 * x}),
    Case(
        constant_table,
        lambda rng: (np.array([0, 5, 99, 70, 3], np.int32), np.zeros(5, np.float32)),
        lambda index, out: {1: np.full(5, 198, np.float32)},
    ),
    Case(
        constant_views,
        lambda rng: (np.zeros(6, np.float32),),
        # TABLE[i] is 2 * i.
        lambda out: {0: np.array([2 + 194 + 188, 198 - 2, 14, 2 * 84 - 2 * 23, 2 + 10 * 6, 32], np.float32)},
    ),
    Case(every_byte, lambda rng: (np.zeros(256, np.int32),), lambda out: {0: np.arange(256)}, block=256),
)
