"""Barriers: syncthreads and its votes, in loops, in device functions, in divergent code; fences."""

from __future__ import annotations

import numpy as np
from numba import njit

from numba_gpucore import cooperative_groups
from numba_gpucore import language as gpu
from numba_gpucore.dtypes import float32, int32
from tests.device.catalogue import Case


def reverse_block(x, out):
    tile = gpu.shared.array(64, float32)
    t = gpu.threadIdx.x
    i = gpu.grid(1)
    tile[t] = x[i]
    gpu.syncthreads()
    out[i] = tile[gpu.blockDim.x - 1 - t]


@njit
def halve(tile, t, step):
    if t < step:
        tile[t] += tile[t + step]
    gpu.syncthreads()
    return step // 2


def tree_sum(x, out):
    """A barrier in a loop and in a device function."""
    tile = gpu.shared.array(128, int32)
    t = gpu.threadIdx.x
    i = gpu.grid(1)
    tile[t] = x[i] if i < x.size else 0
    gpu.syncthreads()
    step = gpu.blockDim.x // 2
    while step > 0:
        step = halve(tile, t, step)
    if t == 0:
        out[gpu.blockIdx.x] = tile[0]


def barrier_votes(x, out):
    i = gpu.grid(1)
    out[i, 0] = gpu.syncthreads_count(x[i] > 0)
    out[i, 1] = gpu.syncthreads_and(x[i] > 0)
    out[i, 2] = gpu.syncthreads_or(x[i] == 5)


def expect_barrier_votes(x, out):
    blocks = x.reshape(3, 40)
    columns = [(blocks > 0).sum(1), (blocks > 0).all(1), (blocks == 5).any(1)]
    return {1: np.repeat(np.stack(columns, axis=1), 40, axis=0)}


def wide_predicate(x, out):
    """A predicate whose low 32 bits are all zero is still not zero."""
    i = gpu.grid(1)
    out[i] = gpu.syncthreads_count(x[i])


def early_return(x, out):
    """Threads that have ended do not hold up a barrier."""
    tile = gpu.shared.array(64, int32)
    t = gpu.threadIdx.x
    tile[t] = x[t]
    gpu.syncthreads()
    if t >= 20:
        return
    left = tile[t]
    gpu.syncthreads()
    tile[19 - t] = left + 100
    gpu.syncthreads()
    out[t] = tile[t]


def flood(image, rounds):
    """A vote decides how often all go round; `continue` past part of the body."""
    y, x = gpu.threadIdx.y, gpu.threadIdx.x
    changed = 1
    n = 0
    while gpu.syncthreads_or(changed):
        changed = 0
        n += 1
        if image[y, x] != 1:
            continue
        near = 0
        if y > 0 and image[y - 1, x] == 2:
            near = 1
        if x > 0 and image[y, x - 1] == 2:
            near = 1
        if y + 1 < image.shape[0] and image[y + 1, x] == 2:
            near = 1
        if x + 1 < image.shape[1] and image[y, x + 1] == 2:
            near = 1
        if near:
            image[y, x] = 2
            changed = 1
    if y == 0 and x == 0:
        rounds[0] = n > 1


FLOOD_IMAGE = np.array([[2, 1, 1, 0, 1], [0, 0, 1, 0, 1], [1, 1, 1, 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 0, 1]], np.int32)


def expect_flood(image, rounds):
    filled = image.copy()
    filled[:, :3][image[:, :3] == 1] = 2  # the left part is connected, a column of zeros parts the right
    return {0: filled, 1: np.ones(1, np.int32)}


def fences(x):
    i = gpu.grid(1)
    x[i] += 123
    gpu.threadfence()
    x[i] += 321
    gpu.threadfence_block()
    x[i] += 1
    gpu.threadfence_system()
    x[i] += 1


def expect_early_return(x, out):
    return {1: np.where(np.arange(64) < 20, x[19 - np.arange(64) % 20] + 100, 0)}


def rows_in_turn(m):
    """Each thread reads what a thread of another block wrote before the grid's barrier."""
    column = gpu.grid(1)
    grid = cooperative_groups.this_grid()
    for row in range(1, m.shape[0]):
        m[row, column] = m[row - 1, m.shape[1] - 1 - column] + 1
        grid.sync()


@njit
def wait_for_all(group):
    group.sync()


def grid_sum(x, out):
    """A grid barrier in a device function; threads that have ended do not hold it up."""
    i = gpu.grid(1)
    group = cooperative_groups.this_grid()
    if i >= x.size:
        return
    out[i] = 2 * x[i]
    wait_for_all(group)
    total = 0
    for j in range(x.size):
        total += out[j]
    group.sync()
    out[i] = total


def random_int32(n, *rest):
    return lambda rng: (rng.integers(0, 9, n, dtype=np.int32), *(np.zeros(shape, np.int32) for shape in rest))


def reads_before_barriers(x, out):
    """What is read and reduced before a barrier is used behind it only, when the place holds something else."""
    i = gpu.threadIdx.x
    tile = gpu.shared.array(32, np.int32)
    value = x[i]
    tile[i] = value
    gpu.syncthreads()
    for _ in range(3):
        value = tile[31 - i] % 1009
        gpu.syncthreads()
        tile[i] = value + 1
        gpu.syncthreads()
    out[i] = value


def expect_reads_before_barriers(x, out):
    value = x
    for step in range(3):
        value = (value[::-1] + (step > 0)) % 1009
    return {1: value}


CASES = (
    Case(
        reverse_block,
        lambda rng: (rng.random(256, dtype=np.float32), np.zeros(256, np.float32)),
        lambda x, out: {1: x.reshape(4, 64)[:, ::-1].ravel()},
        grid=4,
        block=64,
    ),
    Case(
        tree_sum,
        random_int32(1000, 8),
        lambda x, out: {1: np.add.reduceat(x, np.arange(0, 1000, 128))},
        grid=8,
        block=128,
    ),
    Case(barrier_votes, random_int32(120, (120, 3)), expect_barrier_votes, grid=3, block=40),
    Case(
        wide_predicate,
        lambda rng: (np.array([2**40, 0, -(2**33), 1] * 8, np.int64), np.zeros(32, np.int32)),
        lambda x, out: {1: np.full(32, 24, np.int32)},
    ),
    Case(early_return, random_int32(64, 64), expect_early_return, block=64),
    Case(flood, lambda _rng: (FLOOD_IMAGE.copy(), np.zeros(1, np.int32)), expect_flood, block=(5, 5)),
    Case(fences, random_int32(32), lambda x: {0: x + 446}),
    Case(
        rows_in_turn,
        lambda rng: (np.zeros((9, 64), np.int32),),
        lambda m: {0: np.repeat(np.arange(9), 64).reshape(9, 64)},
        grid=8,
        block=8,
        needs=frozenset({"grid_barrier"}),
    ),
    Case(
        grid_sum,
        random_int32(50, 50),
        lambda x, out: {1: np.full(50, 2 * x.sum())},
        grid=4,
        block=16,
        needs=frozenset({"grid_barrier"}),
    ),
    Case(
        reads_before_barriers,
        lambda rng: (rng.integers(0, 5000, 32, dtype=np.int32), np.zeros(32, np.int32)),
        expect_reads_before_barriers,
    ),
)
