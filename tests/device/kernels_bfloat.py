"""bfloat16: arithmetic as float32 rounded once, conversions, mixtures, places. The reference is ml_dtypes."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from numba_gpucore import language as gpu
from numba_gpucore.dtypes import bfloat16, float32
from tests.device.catalogue import Case

N = 128
BF16 = np.dtype(ml_dtypes.bfloat16)
FACTOR = ml_dtypes.bfloat16(1.5)
SPECIAL = np.array([0, -0.0, 1, -1, 1e-40, 3e38, np.inf, -np.inf, 2**-126, 1.25], BF16)


def bfloat_arithmetic(x, y, out, flags):
    i = gpu.grid(1)
    a, b = x[i], y[i]
    out[0, i] = a + b
    out[1, i] = a - b
    out[2, i] = a * b + a
    out[3, i] = a / b
    out[4, i] = -a * FACTOR
    out[5, i] = abs(a)
    flags[0, i] = a < b
    flags[1, i] = a == b
    flags[2, i] = a != b
    flags[3, i] = bool(a)


def expect_arithmetic(x, y, out, flags):
    with np.errstate(all="ignore"):
        rows = [x + y, x - y, x * y + x, x / y, -x * FACTOR, np.abs(x)]
        return {2: np.stack(rows), 3: np.stack([x < y, x == y, x != y, x.astype(bool)])}


def make_pairs(rng):
    """No NaN, which NumPy's check of unchanged arguments warns of for this dtype; differences and quotients give it."""
    x, y = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    more = rng.integers(0, 0x7F80, (2, N - x.size), np.uint16).view(BF16)
    return (
        np.concatenate([x, more[0]]),
        np.concatenate([y, more[1]]),
        np.zeros((6, N), np.float32),
        np.zeros((4, N), bool),
    )


def bfloat_conversions(f, n, out, floats, whole):
    i = gpu.grid(1)
    out[0, i] = f[i]
    out[1, i] = bfloat16(n[i])
    floats[0, i] = bfloat16(f[i])
    floats[1, i] = out[1, i] * float32(3)
    floats[2, i] = math.exp(out[1, i] / bfloat16(100))
    whole[i] = int(out[1, i])


def expect_conversions(f, n, out, floats, whole):
    with np.errstate(all="ignore"):
        narrow, of_n = f.astype(BF16), n.astype(BF16)
        small = (of_n / BF16.type(100)).astype(np.float64)
        rows = [narrow.astype(np.float32), of_n.astype(np.float32) * np.float32(3), np.exp(small).astype(np.float32)]
    return {2: np.stack([narrow, of_n]).astype(np.float32), 3: np.stack(rows), 4: of_n.astype(np.int64)}


def make_conversions(rng):
    """Floats of any bits; every fourth is the middle of two bfloat16 numbers."""
    bits = rng.integers(0, 2**32, N, np.uint32)
    bits[::4] = bits[::4] & 0xFFFF0000 | 0x8000
    f = bits.view(np.float32)
    f[~np.isfinite(f)] = 1 + 2**-8
    floats, whole = np.zeros((3, N), np.float32), np.zeros(N, np.int64)
    return f, rng.integers(-300, 300, N, np.int32), np.zeros((2, N), BF16), floats, whole


TABLE = (np.arange(N) / 8).astype(BF16)
RECORD = np.dtype([("n", np.int32), ("a", BF16), ("c", BF16, (2,))], align=True)


def bfloat_places(x, scalar, pair, records, out):
    i = gpu.grid(1)
    tile = gpu.shared.array(N, bfloat16)
    own = gpu.local.array(2, bfloat16)
    tile[i] = x[i] * scalar
    gpu.syncthreads()
    own[0] = tile[N - 1 - i]
    own[1] = gpu.shfl_xor_sync(0xFFFFFFFF, x[i], 1)
    out[i] = max(own[0], own[1]) + pair[1] + TABLE[i]
    records[i].c[1] = records[i].a + np.sqrt(TABLE[i])


def expect_places(x, scalar, pair, records, out):
    changed = records.copy()
    root = np.sqrt(TABLE.astype(np.float32))
    changed["c"][:, 1] = (records["a"].astype(np.float32) + root).astype(BF16)
    return {3: changed, 4: np.maximum((x * scalar)[::-1], x[np.arange(N) ^ 1]) + pair[1] + TABLE}


def make_places(rng):
    x = rng.normal(size=N).astype(BF16)
    records = np.zeros(N, RECORD)
    records["a"] = x
    return x, BF16.type(2.5), (1, BF16.type(0.125)), records, np.zeros(N, BF16)


def bfloat_updates(x, sums, extremes, shared_sums):
    """Updates of both halves of 32-bit words at once, in device and in shared memory."""
    i = gpu.grid(1)
    tile = gpu.shared.array(4, bfloat16)
    if i < 4:
        tile[i] = bfloat16(0) if i < 3 else bfloat16(math.nan)
    gpu.syncthreads()
    gpu.atomic.add(sums, i % 3, x[i])
    gpu.atomic.sub(sums, 3 + i % 2, x[i])
    gpu.atomic.max(extremes, 1, x[i])
    gpu.atomic.min(extremes, 2, x[i])
    gpu.atomic.add(tile, i % 3, x[i])
    gpu.atomic.max(tile, 3, x[i])
    gpu.syncthreads()
    if i < 3:
        shared_sums[i] = tile[i]
        shared_sums[3] = bfloat16(tile[3] != tile[3])


def expect_updates(x, sums, extremes, shared_sums):
    """A NaN is never replaced by max."""
    wanted, whole = sums.astype(np.float32), x.astype(np.float32)
    np.add.at(wanted, np.arange(N) % 3, whole)
    np.subtract.at(wanted, 3 + np.arange(N) % 2, whole)
    ends = np.array([5, whole.max(), whole.min(), 7], np.float32)
    return {1: wanted, 2: ends, 3: np.append(wanted[:3], np.float32(1))}


def make_updates(rng):
    """Whole numbers whose sums stay below 256, so that they are exact in any order; one array starts inside a word."""
    return (
        rng.integers(-3, 4, N).astype(BF16),
        np.zeros(6, BF16)[1:],
        np.array([5, -50, 50, 7], BF16),
        np.zeros(4, BF16),
    )


def bfloat_swaps(out, seen):
    """Compare-and-swap hands out each value once."""
    i = gpu.grid(1)
    done = False
    while not done:
        old = out[1]
        done = gpu.atomic.cas(out, 1, old, old + bfloat16(1)) == old
    seen[int(old)] = 1
    if i == 0:
        seen[N] = int(gpu.atomic.exch(out, 3, bfloat16(2.5)))


def expect_swaps(out, seen):
    return {0: np.array([1, N, 3, 2.5, 5], np.float32), 1: np.append(np.ones(N, np.int32), 4)}


def make_swaps(rng):
    return np.array([1, 0, 3, 4, 5], BF16), np.zeros(N + 1, np.int32)


def as_floats(wanted):
    """What must come out, as float32: NumPy compares those."""

    def expected(*args):
        with np.errstate(invalid="ignore"):
            return {k: v.astype(np.float32) if v.dtype == BF16 else v for k, v in wanted(*args).items()}

    return expected


EXP = "exp of float32 is off by at most 2 ulp"
CASES = [
    Case(bfloat_arithmetic, make_pairs, as_floats(expect_arithmetic), block=N),
    Case(bfloat_conversions, make_conversions, expect_conversions, block=N, rtol=2.4e-7, tolerance=EXP),
    Case(bfloat_updates, make_updates, expect_updates, block=N),
    Case(bfloat_swaps, make_swaps, expect_swaps, block=N),
    Case(bfloat_places, make_places, as_floats(expect_places), block=N),
]
