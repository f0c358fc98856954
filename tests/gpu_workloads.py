"""The kernels of benchmarks/ptx_kernels.py with real sizes and NumPy's results. Before: nothing. After: gpu_session."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))

from ptx_kernels import BLOCK, N_BINS, TILE, make_kernels

N_ITEMS = 1 << 22
SIDE = 2048
MATRIX = 512
MAX_COUNT = 200


@dataclass(frozen=True)
class Workload:
    """`output` is the position of the array that must equal `expected` up to `tolerance` of its largest value after the
    first launch."""

    name: str
    kernel: Callable[..., None]
    grid: Any
    block: Any
    arguments: tuple[Any, ...]
    output: int
    expected: np.ndarray
    tolerance: float


def make_workloads(cuda: Any, number: Callable[[float], Any]) -> list[Workload]:
    kernels = {kernel.name: kernel.function for kernel in make_kernels(cuda, number)}
    rng = np.random.default_rng(2026)
    makers = {
        "saxpy": _saxpy,
        "stencil": _stencil,
        "mandelbrot": _mandelbrot,
        "black_scholes": _black_scholes,
        "block reduction": _block_reduction,
        "tiled matmul": _tiled_matmul,
        "histogram": _histogram,
        "shared histogram": _histogram,
    }
    return [Workload(name, kernels[name], *make(rng)) for name, make in makers.items()]


def _blocks(n: int) -> int:
    return -(-n // BLOCK)


def _floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.random(shape, dtype=np.float32)


def _saxpy(rng):
    x, y = _floats(rng, N_ITEMS), _floats(rng, N_ITEMS)
    # one rounding of the kernel's fused multiply-add
    return _blocks(N_ITEMS), BLOCK, (np.float32(2), x, y), 2, 2 * x + y, 2.0**-23


def _stencil(rng):
    source = _floats(rng, SIDE, SIDE)
    target = np.zeros_like(source)
    expected = np.zeros_like(source)
    around = source[:-2, 1:-1] + source[2:, 1:-1] + source[1:-1, :-2] + source[1:-1, 2:]
    expected[1:-1, 1:-1] = np.float32(0.25) * around
    return (SIDE // TILE,) * 2, (TILE, TILE), (source, target), 1, expected, 0.0


def _mandelbrot(rng):
    left, top, step = np.float32(-2), np.float32(-1.25), np.float32(2.5 / SIDE)
    counts = np.zeros((SIDE, SIDE), np.int32)
    real = (left + np.arange(SIDE, dtype=np.float32) * step)[None, :].astype(np.float64)
    imag = (top + np.arange(SIDE, dtype=np.float32) * step)[:, None].astype(np.float64)
    a, b = np.broadcast_arrays(real, imag)
    a, b, expected = a.copy(), b.copy(), np.zeros((SIDE, SIDE), np.int32)
    for _ in range(MAX_COUNT):
        inside = a * a + b * b < 4
        expected += inside
        a, b = np.where(inside, a * a - b * b + real, 3), np.where(inside, 2 * a * b + imag, 3)
    # Points beside the set's edge turn on rounding: float32 counts may differ by the whole range there.
    return (SIDE // TILE,) * 2, (TILE, TILE), (left, top, step, np.int32(MAX_COUNT), counts), 4, expected, 1.0


def _black_scholes(rng):
    price, strike, years = (
        5 + 25 * _floats(rng, N_ITEMS),
        1 + 99 * _floats(rng, N_ITEMS),
        0.25 + 9 * _floats(rng, N_ITEMS),
    )
    price, strike, years = (a.astype(np.float32) for a in (price, strike, years))
    call, put = np.zeros_like(price), np.zeros_like(price)
    p, k, t = (a.astype(np.float64) for a in (price, strike, years))
    spread = 0.30 * np.sqrt(t)
    d1 = (np.log(p / k) + (0.02 + 0.5 * 0.30**2) * t) / spread
    erf = np.frompyfunc(math.erf, 1, 1)
    cdf1, cdf2 = (0.5 + 0.5 * erf(d / math.sqrt(2)).astype(np.float64) for d in (d1, d1 - spread))
    expected = p * cdf1 - k * np.exp(-0.02 * t) * cdf2
    # Abramowitz and Stegun 26.2.17 errs by 7.5e-8, float32 by a few units in the last place of 30
    return _blocks(N_ITEMS), BLOCK, (price, strike, years, call, put), 3, expected, 1e-5


def _block_reduction(rng):
    # small whole numbers: every order of adding gives the same float32
    values = rng.integers(0, 8, N_ITEMS).astype(np.float32)
    sums = np.zeros(N_ITEMS // BLOCK, np.float32)
    return N_ITEMS // BLOCK, BLOCK, (values, sums), 1, values.reshape(-1, BLOCK).sum(axis=1), 0.0


def _tiled_matmul(rng):
    a, b = _floats(rng, MATRIX, MATRIX), _floats(rng, MATRIX, MATRIX)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    # 512 products are summed one after another, each sum with half a unit in the last place
    return (MATRIX // TILE,) * 2, (TILE, TILE), (a, b, np.zeros_like(a)), 2, expected, MATRIX * 2.0**-24


def _histogram(rng):
    values = rng.integers(0, N_BINS, N_ITEMS).astype(np.uint8)
    bins = np.zeros(N_BINS, np.int32)
    return _blocks(N_ITEMS), BLOCK, (values, bins), 1, np.bincount(values, minlength=N_BINS), 0.0
