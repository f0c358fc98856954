"""Kernels of each kind that every device must run alike. Before: case. After: run, the tests' catalogue.

What must come out is NumPy's, or counted by hand.
"""

from __future__ import annotations

import math

import numpy as np

from numba_gpucore import language as gpu
from numba_gpucore.dtypes import float32, int32, uint32
from numba_gpucore.selftest.case import Case

WIDTH = 16


def saxpy(a, x, y, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def five_points(x, out):
    i, j = gpu.grid(2)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        out[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4 * x[i, j]


def expect_five_points(x, out):
    wanted = out.copy()
    wanted[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    return {1: wanted}


def block_sums(x, out):
    shared = gpu.shared.array(128, float32)
    t = gpu.threadIdx.x
    i = gpu.grid(1)
    shared[t] = x[i] if i < x.size else 0
    gpu.syncthreads()
    half = gpu.blockDim.x // 2
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        gpu.syncthreads()
        half //= 2
    if t == 0:
        out[gpu.blockIdx.x] = shared[0]


def tiled_product(a, b, out):
    tile_a = gpu.shared.array((WIDTH, WIDTH), float32)
    tile_b = gpu.shared.array((WIDTH, WIDTH), float32)
    row, column = gpu.threadIdx.y, gpu.threadIdx.x
    i = gpu.blockIdx.y * WIDTH + row
    j = gpu.blockIdx.x * WIDTH + column
    total = 0.0
    for start in range(0, a.shape[1], WIDTH):
        inside_a = i < a.shape[0] and start + column < a.shape[1]
        inside_b = start + row < b.shape[0] and j < b.shape[1]
        tile_a[row, column] = a[i, start + column] if inside_a else 0
        tile_b[row, column] = b[start + row, j] if inside_b else 0
        gpu.syncthreads()
        for k in range(WIDTH):
            total += tile_a[row, k] * tile_b[k, column]
        gpu.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


def reversed_blocks(x, out):
    buffer = gpu.shared.array(0, int32)
    t = gpu.threadIdx.x
    buffer[t] = x[gpu.grid(1)]
    gpu.syncthreads()
    out[gpu.grid(1)] = buffer[gpu.blockDim.x - 1 - t]


def histogram(x, bins):
    counts = gpu.shared.array(10, int32)
    t = gpu.threadIdx.x
    if t < 10:
        counts[t] = 0
    gpu.syncthreads()
    gpu.atomic.add(counts, x[gpu.grid(1)], 1)
    gpu.syncthreads()
    if t < 10:
        gpu.atomic.add(bins, t, counts[t])


def extremes(x, out, tickets):
    i = gpu.grid(1)
    gpu.atomic.max(out, 0, x[i])
    gpu.atomic.min(out, 1, x[i])
    ticket = gpu.atomic.add(tickets, x.size, 1)
    gpu.atomic.exch(tickets, ticket, 1)


def warp_sums(x, out, votes):
    i = gpu.grid(1)
    value = x[i]
    for distance in (16, 8, 4, 2, 1):
        value += gpu.shfl_xor_sync(0xFFFFFFFF, value, distance)
    out[i] = value
    votes[i] = gpu.ballot_sync(0xFFFFFFFF, x[i] > 4)


#: For numba_ptxplus, where a float literal is a float64.
HALF, THREE_HALVES, TWO = np.float32(0.5), np.float32(1.5), np.float32(2)


def functions(x, out):
    i = gpu.grid(1)
    out[0, i] = math.sin(x[i]) + math.cos(x[i])
    out[1, i] = math.exp(-x[i]) * math.log(x[i] + THREE_HALVES)
    out[2, i] = math.sqrt(x[i] * x[i] + 1) / math.atan2(x[i], TWO)
    out[3, i] = math.erf(x[i]) + math.pow(abs(x[i]) + HALF, THREE_HALVES)


def expect_functions(x, out):
    x = x.astype(np.float64)
    erf = np.array([math.erf(value) for value in x])
    return {
        1: np.stack(
            [
                np.sin(x) + np.cos(x),
                np.exp(-x) * np.log(x + 1.5),
                np.sqrt(x * x + 1) / np.arctan2(x, 2.0),
                erf + (abs(x) + 0.5) ** 1.5,
            ]
        )
    }


def whole_numbers(x, y, out):
    """Python's floor division, modulo, shifts and wrapping products."""
    i = gpu.grid(1)
    out[0, i] = x[i] // y[i]
    out[1, i] = x[i] % y[i]
    out[2, i] = x[i] * y[i] * 2654435761
    out[3, i] = (x[i] << 3) ^ (x[i] >> 5)


def expect_whole_numbers(x, y, out):
    with np.errstate(over="ignore"):
        product = x * y * np.int64(2654435761)
    return {2: np.stack([x // y, x % y, product, (x << 3) ^ (x >> 5)])}


def hashes(out):
    """xorshift in 32 bits, which must wrap."""
    state = uint32(gpu.grid(1) + 1)
    for _ in range(5):
        state ^= uint32(state << uint32(13))
        state ^= state >> uint32(17)
        state ^= uint32(state << uint32(5))
    out[gpu.grid(1)] = state


def expect_hashes(out):
    state = np.arange(1, out.size + 1, dtype=np.uint32)
    for _ in range(5):
        state ^= state << np.uint32(13)
        state ^= state >> np.uint32(17)
        state ^= state << np.uint32(5)
    return {0: state}


def collatz(out):
    i = gpu.grid(1)
    n, steps = i + 1, 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    out[i] = steps


def expect_collatz(out):
    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    return {0: np.array([steps(i + 1) for i in range(out.size)], np.int32)}


def sorted_windows(x, out):
    """Insertion sort in memory of the thread's own."""
    window = gpu.local.array(5, float32)
    i = gpu.grid(1)
    for k in range(5):
        window[k] = x[(i + k) % x.size]
    for k in range(1, 5):
        value, place = window[k], k
        while place > 0 and window[place - 1] > value:
            window[place] = window[place - 1]
            place -= 1
        window[place] = value
    out[i] = window[2]


def expect_sorted_windows(x, out):
    windows = np.stack([np.roll(x, -k) for k in range(5)])
    return {1: np.sort(windows, axis=0)[2]}


BODY = np.dtype([("mass", np.float32), ("spin", np.int16), ("position", np.float32, (3,))], align=True)


def move_bodies(bodies, step):
    i = gpu.grid(1)
    for axis in range(3):
        bodies[i].position[axis] += step[axis] * bodies[i].mass
    bodies[i].spin = -bodies[i].spin


def make_bodies(rng):
    bodies = np.zeros(32, BODY)
    bodies["mass"], bodies["spin"] = rng.integers(1, 9, 32), rng.integers(-99, 99, 32)
    return bodies, (1, 2, 3)


def expect_move_bodies(bodies, step):
    wanted = bodies.copy()
    wanted["position"] += bodies["mass"][:, None] * np.array(step, np.float32)
    wanted["spin"] = -bodies["spin"]
    return {0: wanted}


def complex_squares(z, factor, out):
    i = gpu.grid(1)
    out[i] = z[i] * z[i] * factor + 1j


def not_numbers(x, out):
    """Comparisons, min and max with NaN and infinity as Python has them."""
    i = gpu.grid(1)
    flags = 0
    if x[i] != x[i]:
        flags += 1
    if math.isinf(x[i]):
        flags += 2
    if x[i] < 1:
        flags += 4
    if not x[i] >= 1:
        flags += 8
    out[i] = flags


SPECIAL = np.array([0, 1, -1, np.nan, np.inf, -np.inf, 1e-45, 3e38] * 4, np.float32)


def expect_not_numbers(x, out):
    return {1: np.isnan(x) * 1 + np.isinf(x) * 2 + (x < 1) * 4 + ~(x >= 1) * 8}


def _zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def _numbers(rng, *shape):
    """Whole float32 numbers from -8 to 8: sums of a few hundred products are exact in any order."""
    return rng.integers(-8, 9, shape).astype(np.float32)


CASES = (
    Case(
        saxpy,
        lambda rng: (2.5, _numbers(rng, 200), _numbers(rng, 200), _zeros(200)),
        lambda a, x, y, out: {3: np.float32(a) * x + y},
        grid=2,
        block=128,
        name="selftest_saxpy",
    ),
    Case(
        five_points,
        lambda rng: (_numbers(rng, 20, 25), _zeros(20, 25)),
        expect_five_points,
        grid=(2, 2),
        block=(16, 16),
    ),
    Case(
        block_sums,
        lambda rng: (_numbers(rng, 500), _zeros(4)),
        lambda x, out: {1: np.append(x, _zeros(12)).reshape(4, 128).sum(axis=1)},
        grid=4,
        block=128,
    ),
    Case(
        tiled_product,
        lambda rng: (_numbers(rng, 20, 40), _numbers(rng, 40, 30), _zeros(20, 30)),
        lambda a, b, out: {2: a @ b},
        grid=(2, 2),
        block=(WIDTH, WIDTH),
    ),
    Case(
        reversed_blocks,
        lambda rng: (rng.integers(0, 99, 128, dtype=np.int32), _zeros(128, dtype=np.int32)),
        lambda x, out: {1: x.reshape(2, 64)[:, ::-1].reshape(128)},
        grid=2,
        block=64,
        shared_nbytes=4 * 64,
    ),
    Case(
        histogram,
        lambda rng: (rng.integers(0, 10, 512, dtype=np.int32), _zeros(10, dtype=np.int32)),
        lambda x, bins: {1: np.bincount(x, minlength=10)},
        grid=4,
        block=128,
    ),
    Case(
        extremes,
        lambda rng: (rng.permutation(128).astype(np.float32), _zeros(2), _zeros(129, dtype=np.int32)),
        lambda x, out, tickets: {1: [127, 0], 2: [1] * 128 + [128]},
        grid=2,
        block=64,
        name="selftest_extremes",
    ),
    Case(
        warp_sums,
        lambda rng: (_numbers(rng, 64), _zeros(64), _zeros(64, dtype=np.uint32)),
        lambda x, out, votes: {
            1: np.repeat(x.reshape(2, 32).sum(axis=1), 32),
            2: np.repeat(((x.reshape(2, 32) > 4) << np.arange(32)).sum(axis=1), 32),
        },
        block=64,
    ),
    Case(
        functions,
        lambda rng: (np.linspace(0.1, 3, 32, dtype=np.float32), _zeros(4, 32)),
        expect_functions,
        rtol=4e-6,
        tolerance="a few of the MSL specification's bounds for float functions (table 8.2: 4 to 16 ulp each)",
    ),
    Case(
        whole_numbers,
        lambda rng: (
            rng.integers(-(2**40), 2**40, 32),
            rng.choice(np.array([-7, -3, 2, 5, 9]), 32),
            _zeros(4, 32, dtype=np.int64),
        ),
        expect_whole_numbers,
    ),
    Case(hashes, lambda _rng: (_zeros(64, dtype=np.uint32),), expect_hashes, grid=2),
    Case(collatz, lambda _rng: (_zeros(64, dtype=np.int32),), expect_collatz, grid=2),
    Case(sorted_windows, lambda rng: (rng.random(32, np.float32), _zeros(32)), expect_sorted_windows),
    Case(move_bodies, make_bodies, expect_move_bodies),
    Case(
        complex_squares,
        lambda rng: ((_numbers(rng, 32) + 1j * _numbers(rng, 32)).astype(np.complex64), 2 - 1j, _zeros(32, dtype="c8")),
        lambda z, factor, out: {2: z * z * np.complex64(factor) + np.complex64(1j)},
    ),
    Case(not_numbers, lambda _rng: (SPECIAL, _zeros(32, dtype=np.int32)), expect_not_numbers),
)


def all_cases() -> tuple[Case, ...]:
    return CASES
