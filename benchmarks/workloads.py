"""Kernels of cpu_device.py, each beside a hand-written njit(parallel) loop of the same maths and its NumPy result.

Before: sizes. After: cpu_device.py checks and times them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

import numba_ptxplus as cuda

MAX_COUNT = 200
TREE = 256
TILE = 16
N_BINS = 256
ZERO, QUARTER, HALF, ONE, FOUR = (np.float32(value) for value in (0, 0.25, 0.5, 1, 4))
RATE, VOLATILITY = np.float32(0.02), np.float32(0.30)
#: Abramowitz and Stegun 26.2.17, absolute error below 7.5e-8.
CDF_K, CDF_SCALE = np.float32(0.2316419), np.float32(1 / math.sqrt(2 * math.pi))
A1, A2, A3, A4, A5 = (
    np.float32(value) for value in (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
)


@dataclass(frozen=True)
class Peer:
    """`function` writes the same result as the kernel into `output`. `goal`: largest allowed ratio ours / peer."""

    name: str
    function: Callable[..., None]
    arguments: tuple[Any, ...]
    output: np.ndarray
    goal: float | None


@dataclass(frozen=True)
class Workload:
    """`output` is the device array among `arguments` that must equal `expected`, shape and value, up to `tolerance`
    of its largest value. `checks_goal`: largest allowed ratio of bounds checks on / off."""

    name: str
    kernel: Callable[..., None]
    grid: Any
    block: Any
    arguments: tuple[Any, ...]
    output: Any
    expected: np.ndarray
    tolerance: float
    peers: tuple[Peer, ...]
    checks_goal: float | None


parallel = numba.njit(parallel=True)


# -- saxpy


def saxpy_kernel(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@parallel
def saxpy_loop(a, x, y, out):
    for i in numba.prange(out.size):
        out[i] = a * x[i] + y[i]


def make_saxpy(n: int) -> Workload:
    random = np.random.default_rng(1)
    a, x, y = np.float32(1.5), random.random(n, np.float32), random.random(n, np.float32)
    out, peer_out = cuda.device_array(n, np.float32), np.zeros(n, np.float32)
    peer = Peer("njit(parallel)", saxpy_loop, (a, x, y, peer_out), peer_out, 1.2)
    arguments = (a, cuda.to_device(x), cuda.to_device(y), out)
    return Workload("saxpy", saxpy_kernel, -(-n // 256), 256, arguments, out, a * x + y, 1e-6, (peer,), 2.5)


# -- Mandelbrot


def mandelbrot_kernel(left, top, step, counts):
    column, row = cuda.grid(2)
    if row < counts.shape[0] and column < counts.shape[1]:
        c_real = left + np.float32(column) * step
        c_imag = top + np.float32(row) * step
        real = imag = ZERO
        count = 0
        while count < MAX_COUNT and real * real + imag * imag <= FOUR:
            product = real * imag
            real = real * real - imag * imag + c_real
            imag = product + product + c_imag
            count += 1
        counts[row, column] = count


@parallel
def mandelbrot_loop(left, top, step, counts):
    for row in numba.prange(counts.shape[0]):
        for column in range(counts.shape[1]):
            c_real = left + np.float32(column) * step
            c_imag = top + np.float32(row) * step
            real = imag = ZERO
            count = 0
            while count < MAX_COUNT and real * real + imag * imag <= FOUR:
                product = real * imag
                real = real * real - imag * imag + c_real
                imag = product + product + c_imag
                count += 1
            counts[row, column] = count


def count_with_numpy(left: np.float32, top: np.float32, step: np.float32, size: int) -> np.ndarray:
    places = np.arange(size, dtype=np.float32) * step
    c_real, c_imag = (left + places)[None, :], (top + places)[:, None]
    real, imag = np.zeros((2, size, size), np.float32)
    counts = np.zeros((size, size), np.int32)
    for _ in range(MAX_COUNT):
        inside = real * real + imag * imag <= FOUR
        counts += inside
        product = real * imag
        next_real, next_imag = real * real - imag * imag + c_real, product + product + c_imag
        real, imag = np.where(inside, next_real, real), np.where(inside, next_imag, imag)
    return counts


def make_mandelbrot(size: int) -> Workload:
    left, top, step = np.float32(-2), np.float32(-1.25), np.float32(2.5 / size)
    counts, peer_counts = cuda.device_array((size, size), np.int32), np.zeros((size, size), np.int32)
    peer = Peer("njit(parallel)", mandelbrot_loop, (left, top, step, peer_counts), peer_counts, 1.2)
    grid, block = (-(-size // 32), -(-size // 8)), (32, 8)
    arguments, expected = (left, top, step, counts), count_with_numpy(left, top, step, size)
    return Workload("Mandelbrot", mandelbrot_kernel, grid, block, arguments, counts, expected, 0, (peer,), 1.35)


# -- five-point stencil


def stencil_kernel(now, after):
    column, row = cuda.grid(2)
    if 0 < row < now.shape[0] - 1 and 0 < column < now.shape[1] - 1:
        neighbours = now[row - 1, column] + now[row + 1, column] + now[row, column - 1] + now[row, column + 1]
        after[row, column] = now[row, column] + QUARTER * (neighbours - FOUR * now[row, column])


def stencil_by_rows_kernel(now, after):
    """As most programs write it: neighbours in the second axis of threads are neighbours in memory."""
    row, column = cuda.grid(2)
    if 0 < row < now.shape[0] - 1 and 0 < column < now.shape[1] - 1:
        neighbours = now[row - 1, column] + now[row + 1, column] + now[row, column - 1] + now[row, column + 1]
        after[row, column] = now[row, column] + QUARTER * (neighbours - FOUR * now[row, column])


@parallel
def stencil_loop(now, after):
    for row in numba.prange(1, now.shape[0] - 1):
        for column in range(1, now.shape[1] - 1):
            neighbours = now[row - 1, column] + now[row + 1, column] + now[row, column - 1] + now[row, column + 1]
            after[row, column] = now[row, column] + QUARTER * (neighbours - FOUR * now[row, column])


def make_stencil(size: int, name: str, kernel: Callable[..., None], block: tuple[int, int]) -> Workload:
    now = np.random.default_rng(2).random((size, size), np.float32)
    expected = np.zeros_like(now)
    neighbours = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
    expected[1:-1, 1:-1] = now[1:-1, 1:-1] + QUARTER * (neighbours - FOUR * now[1:-1, 1:-1])
    after, peer_after = cuda.to_device(np.zeros_like(now)), np.zeros_like(now)
    peer = Peer("njit(parallel)", stencil_loop, (now, peer_after), peer_after, 1.2)
    grid = (-(-size // block[0]), -(-size // block[1]))
    arguments = (cuda.to_device(now), after)
    return Workload(name, kernel, grid, block, arguments, after, expected, 1e-6, (peer,), 2.5)


# -- Black-Scholes


@numba.njit
def normal_cdf(x):
    k = ONE / (ONE + CDF_K * abs(x))
    tail = CDF_SCALE * math.exp(-HALF * x * x) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))))
    return ONE - tail if x > ZERO else tail


def black_scholes_kernel(spots, strikes, years, prices):
    i = cuda.grid(1)
    if i < spots.size:
        spot, strike, time = spots[i], strikes[i], years[i]
        spread = VOLATILITY * math.sqrt(time)
        d1 = (math.log(spot / strike) + (RATE + HALF * VOLATILITY * VOLATILITY) * time) / spread
        prices[i] = spot * normal_cdf(d1) - strike * math.exp(-RATE * time) * normal_cdf(d1 - spread)


@parallel
def black_scholes_loop(spots, strikes, years, prices):
    for i in numba.prange(spots.size):
        spot, strike, time = spots[i], strikes[i], years[i]
        spread = VOLATILITY * math.sqrt(time)
        d1 = (math.log(spot / strike) + (RATE + HALF * VOLATILITY * VOLATILITY) * time) / spread
        prices[i] = spot * normal_cdf(d1) - strike * math.exp(-RATE * time) * normal_cdf(d1 - spread)


def price_with_numpy(spots: np.ndarray, strikes: np.ndarray, years: np.ndarray) -> np.ndarray:
    def cdf(x: np.ndarray) -> np.ndarray:
        k = 1 / (1 + float(CDF_K) * abs(x))
        series = k * (float(A1) + k * (float(A2) + k * (float(A3) + k * (float(A4) + k * float(A5)))))
        tail = float(CDF_SCALE) * np.exp(-0.5 * x * x) * series
        return np.where(x > 0, 1 - tail, tail)

    spot, strike, time = (array.astype(np.float64) for array in (spots, strikes, years))
    rate, volatility = float(RATE), float(VOLATILITY)
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / spread
    return spot * cdf(d1) - strike * np.exp(-rate * time) * cdf(d1 - spread)


def make_black_scholes(n: int) -> Workload:
    random = np.random.default_rng(3)
    inputs = tuple(random.uniform(a, b, n).astype(np.float32) for a, b in ((5, 30), (1, 100), (0.25, 10)))
    prices, peer_prices = cuda.device_array(n, np.float32), np.zeros(n, np.float32)
    peer = Peer("njit(parallel)", black_scholes_loop, (*inputs, peer_prices), peer_prices, 1.2)
    arguments, expected = (*map(cuda.to_device, inputs), prices), price_with_numpy(*inputs)
    grid = -(-n // 256)
    return Workload("Black-Scholes", black_scholes_kernel, grid, 256, arguments, prices, expected, 1e-5, (peer,), 1.35)


# -- reduction as a tree in each block


def reduction_kernel(values, sums):
    partial = cuda.shared.array(TREE, np.float32)
    thread = cuda.threadIdx.x
    partial[thread] = values[cuda.blockIdx.x * TREE + thread]
    cuda.syncthreads()
    width = TREE // 2
    while width > 0:
        if thread < width:
            partial[thread] += partial[thread + width]
        cuda.syncthreads()
        width //= 2
    if thread == 0:
        sums[cuda.blockIdx.x] = partial[0]


@parallel
def reduction_loop(values, sums):
    for block in numba.prange(sums.size):
        partial = np.empty(TREE, np.float32)
        for thread in range(TREE):
            partial[thread] = values[block * TREE + thread]
        width = TREE // 2
        while width > 0:
            for thread in range(width):
                partial[thread] += partial[thread + width]
            width //= 2
        sums[block] = partial[0]


def make_reduction(n: int) -> Workload:
    """`n` must be a multiple of TREE."""
    values = np.random.default_rng(4).random(n, np.float32)
    expected = values.reshape(-1, TREE).sum(axis=1, dtype=np.float64)
    sums, peer_sums = cuda.device_array(n // TREE, np.float32), np.zeros(n // TREE, np.float32)
    peer = Peer("the same tree in njit(parallel)", reduction_loop, (values, peer_sums), peer_sums, 30)
    arguments = (cuda.to_device(values), sums)
    return Workload(
        "block reduction", reduction_kernel, n // TREE, TREE, arguments, sums, expected, 1e-6, (peer,), None
    )


# -- matrix product in tiles


def matmul_kernel(a, b, product):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = ZERO
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[row, start + x]
        b_tile[y, x] = b[start + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    product[row, column] = total


@parallel
def matmul_ijk(a, b, product):
    for i in numba.prange(a.shape[0]):
        for j in range(b.shape[1]):
            total = ZERO
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            product[i, j] = total


@parallel
def matmul_ikj(a, b, product):
    for i in numba.prange(a.shape[0]):
        for j in range(b.shape[1]):
            product[i, j] = ZERO
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                product[i, j] += a[i, k] * b[k, j]


def make_matmul(size: int) -> Workload:
    """`size` must be a multiple of TILE."""
    random = np.random.default_rng(5)
    a, b = random.random((2, size, size), np.float32)
    product = cuda.device_array((size, size), np.float32)
    peers = tuple(
        Peer(name, function, (a, b, output), output, goal)
        for name, function, output, goal in (
            ("i-j-k in njit(parallel)", matmul_ijk, np.zeros_like(a), 1.2),
            ("i-k-j in njit(parallel)", matmul_ikj, np.zeros_like(a), None),
        )
    )
    expected = a.astype(np.float64) @ b.astype(np.float64)
    grid, block = (size // TILE, size // TILE), (TILE, TILE)
    arguments = (cuda.to_device(a), cuda.to_device(b), product)
    return Workload("tiled matmul", matmul_kernel, grid, block, arguments, product, expected, 1e-5, peers, None)


# -- histogram


def global_histogram_kernel(levels, counts):
    i = cuda.grid(1)
    if i < levels.size:
        cuda.atomic.add(counts, levels[i], 1)


def shared_histogram_kernel(levels, counts):
    own = cuda.shared.array(N_BINS, np.int32)
    thread = cuda.threadIdx.x
    own[thread] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), levels.size, cuda.gridsize(1)):
        cuda.atomic.add(own, levels[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, thread, own[thread])


@parallel
def histogram_loop(levels, counts, n_parts):
    """Each part of `levels` has bins of its own, added up at the end."""
    private = np.zeros((n_parts, N_BINS), np.int32)
    for part in numba.prange(n_parts):
        for i in range(part * levels.size // n_parts, (part + 1) * levels.size // n_parts):
            private[part, levels[i]] += 1
    counts += private.sum(axis=0)


def make_histogram(n: int, kernel: Callable[..., None], name: str, grid: int, goal: float | None) -> Workload:
    levels = np.random.default_rng(6).integers(0, N_BINS, n).astype(np.uint8)
    counts, peer_counts = cuda.to_device(np.zeros(N_BINS, np.int32)), np.zeros(N_BINS, np.int32)
    loop_arguments = (levels, peer_counts, numba.get_num_threads())
    peer = Peer("private bins in njit(parallel)", histogram_loop, loop_arguments, peer_counts, goal)
    arguments, expected = (cuda.to_device(levels), counts), np.bincount(levels, minlength=N_BINS)
    return Workload(name, kernel, grid, N_BINS, arguments, counts, expected, 0, (peer,), None)


def make_workloads(is_smoke_test: bool) -> list[Callable[[], Workload]]:
    """Makers, so that only one workload's arrays live at a time."""
    n_small, side = (1 << 12, 64) if is_smoke_test else (1 << 22, 2048)
    return [
        lambda: make_saxpy(4 * n_small),
        lambda: make_mandelbrot(side // 2),
        lambda: make_stencil(side, "5-point stencil", stencil_kernel, (32, 8)),
        lambda: make_stencil(side, "5-point stencil, i, j = grid(2)", stencil_by_rows_kernel, (16, 16)),
        lambda: make_black_scholes(n_small),
        lambda: make_reduction(n_small),
        lambda: make_matmul(side // 4),
        lambda: make_histogram(n_small, global_histogram_kernel, "histogram, global atomics", -(-n_small // 256), 10),
        lambda: make_histogram(n_small, shared_histogram_kernel, "histogram, shared atomics", 128, None),
    ]
