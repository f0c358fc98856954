"""Kernels whose PTX ptx_quality.py compares, in numba.cuda style, so that numba-cuda compiles the same source.

Each comes twice: "plain", where Python's float literals make float32 arithmetic double, as CUDA users write it first,
and "float32", with the literals converted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

TILE = 16
BLOCK = 256
N_BINS = 256


@dataclass(frozen=True)
class Kernel:
    """`signature` is a Numba signature string."""

    name: str
    function: Callable[..., None]
    signature: str


def make_kernels(cuda: Any, number: Callable[[float], Any]) -> list[Kernel]:
    """The kernels in the words of `cuda`, a module with numba.cuda's names; `number` makes each literal."""
    matrix, vector, scalar = "float32[:,::1]", "float32[::1]", "float32"
    return [
        Kernel("saxpy", _saxpy(cuda), f"void({scalar}, {vector}, {vector})"),
        Kernel("stencil", _stencil(cuda, number), f"void({matrix}, {matrix})"),
        Kernel("mandelbrot", _mandelbrot(cuda, number), f"void({scalar}, {scalar}, {scalar}, int32, int32[:,::1])"),
        Kernel("black_scholes", _black_scholes(cuda, number), f"void({', '.join([vector] * 5)})"),
        Kernel("block reduction", _block_reduction(cuda, number), f"void({vector}, {vector})"),
        Kernel("tiled matmul", _tiled_matmul(cuda, number), f"void({matrix}, {matrix}, {matrix})"),
        Kernel("histogram", _histogram(cuda), "void(uint8[::1], int32[::1])"),
        Kernel("shared histogram", _shared_histogram(cuda), "void(uint8[::1], int32[::1])"),
    ]


def _saxpy(cuda):
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = a * x[i] + y[i]

    return saxpy


def _stencil(cuda, number):
    quarter = number(0.25)

    def stencil(source, target):
        y, x = cuda.grid(2)
        if 0 < y < source.shape[0] - 1 and 0 < x < source.shape[1] - 1:
            around = source[y - 1, x] + source[y + 1, x] + source[y, x - 1] + source[y, x + 1]
            target[y, x] = quarter * around

    return stencil


def _mandelbrot(cuda, number):
    two, four = number(2.0), number(4.0)

    def mandelbrot(left, top, step, max_count, counts):
        y, x = cuda.grid(2)
        if y < counts.shape[0] and x < counts.shape[1]:
            real = left + np.float32(x) * step
            imag = top + np.float32(y) * step
            a = real
            b = imag
            count = 0
            while count < max_count and a * a + b * b < four:
                a, b = a * a - b * b + real, two * a * b + imag
                count += 1
            counts[y, x] = count

    return mandelbrot


def _black_scholes(cuda, number):
    # Abramowitz and Stegun 26.2.17. Written out twice: numba-cuda compiles no device function without a GPU.
    a1, a2, a3 = number(0.319381530), number(-0.356563782), number(1.781477937)
    a4, a5, slope = number(-1.821255978), number(1.330274429), number(0.2316419)
    scale, half, one = number(1 / math.sqrt(2 * math.pi)), number(0.5), number(1.0)
    rate, volatility = number(0.02), number(0.30)

    def black_scholes(price, strike, years, call, put):
        i = cuda.grid(1)
        if i < price.size:
            spread = volatility * math.sqrt(years[i])
            d1 = (math.log(price[i] / strike[i]) + (rate + half * volatility * volatility) * years[i]) / spread
            d2 = d1 - spread
            k1 = one / (one + slope * abs(d1))
            k2 = one / (one + slope * abs(d2))
            n1 = scale * math.exp(-half * d1 * d1) * (k1 * (a1 + k1 * (a2 + k1 * (a3 + k1 * (a4 + k1 * a5)))))
            n2 = scale * math.exp(-half * d2 * d2) * (k2 * (a1 + k2 * (a2 + k2 * (a3 + k2 * (a4 + k2 * a5)))))
            if d1 > 0:
                n1 = one - n1
            if d2 > 0:
                n2 = one - n2
            discounted = strike[i] * math.exp(-rate * years[i])
            call[i] = price[i] * n1 - discounted * n2
            put[i] = discounted * (one - n2) - price[i] * (one - n1)

    return black_scholes


def _block_reduction(cuda, number):
    zero = number(0.0)

    def block_reduction(values, sums):
        tree = cuda.shared.array(BLOCK, np.float32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        tree[t] = values[i] if i < values.size else zero
        cuda.syncthreads()
        width = BLOCK // 2
        while width > 0:
            if t < width:
                tree[t] += tree[t + width]
            cuda.syncthreads()
            width //= 2
        if t == 0:
            sums[cuda.blockIdx.x] = tree[0]

    return block_reduction


def _tiled_matmul(cuda, number):
    zero = number(0.0)

    def tiled_matmul(a, b, c):
        tile_a = cuda.shared.array((TILE, TILE), np.float32)
        tile_b = cuda.shared.array((TILE, TILE), np.float32)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        row = cuda.blockIdx.y * TILE + ty
        column = cuda.blockIdx.x * TILE + tx
        total = zero
        for first in range(0, a.shape[1], TILE):
            tile_a[ty, tx] = a[row, first + tx]
            tile_b[ty, tx] = b[first + ty, column]
            cuda.syncthreads()
            for k in range(TILE):
                total += tile_a[ty, k] * tile_b[k, tx]
            cuda.syncthreads()
        c[row, column] = total

    return tiled_matmul


def _histogram(cuda):
    def histogram(values, bins):
        i = cuda.grid(1)
        if i < values.size:
            cuda.atomic.add(bins, values[i], 1)

    return histogram


def _shared_histogram(cuda):
    def shared_histogram(values, bins):
        counts = cuda.shared.array(N_BINS, np.int32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        counts[t] = 0
        cuda.syncthreads()
        if i < values.size:
            cuda.atomic.add(counts, values[i], 1)
        cuda.syncthreads()
        cuda.atomic.add(bins, t, counts[t])

    return shared_histogram
