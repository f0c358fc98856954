"""Atomic updates of global and shared arrays, the old values they return, and CUDA's rules for NaN and wrapping."""

from __future__ import annotations

import numpy as np

from numba_gpucore import language as gpu
from numba_gpucore.dtypes import int32
from tests.device.catalogue import Case

N = 100
NAN32 = np.float32(np.nan)


def add_tickets(counter, tickets):
    """Each thread gets another old value."""
    i = gpu.grid(1)
    if i < tickets.size:
        tickets[gpu.atomic.add(counter, 0, 1)] = 1


def add_and_sub(x, out):
    i = gpu.grid(1)
    if i < x.size:
        gpu.atomic.add(out, i % 7, x[i])
        gpu.atomic.sub(out, 7 + i % 3, x[i])


def expect_add_and_sub(x, out):
    wanted = out.copy()
    np.add.at(wanted, np.arange(N) % 7, x)
    np.subtract.at(wanted, 7 + np.arange(N) % 3, x)
    return {1: wanted}


def bitwise(x, out):
    i = gpu.grid(1)
    if i < x.size:
        gpu.atomic.and_(out, 0, x[i])
        gpu.atomic.or_(out, 1, x[i])
        gpu.atomic.xor(out, 2, x[i])


def expect_bitwise(x, out):
    return {
        1: np.array(
            [
                np.bitwise_and.reduce(x) & out[0],
                np.bitwise_or.reduce(x) | out[1],
                np.bitwise_xor.reduce(x) ^ out[2],
            ],
            x.dtype,
        )
    }


def extremes(x, out):
    i = gpu.grid(1)
    if i < x.size:
        gpu.atomic.max(out, 0, x[i])
        gpu.atomic.min(out, 1, x[i])
        gpu.atomic.nanmax(out, 2, x[i])
        gpu.atomic.nanmin(out, 3, x[i])


def extremes_of_nan(x, out):
    """One thread each: CUDA's max and min leave memory alone where either is NaN, nanmax and nanmin prefer numbers."""
    i = gpu.grid(1)
    out[4, i] = gpu.atomic.max(out, (0, i), x[i])
    out[5, i] = gpu.atomic.min(out, (1, i), x[i])
    out[6, i] = gpu.atomic.nanmax(out, (2, i), x[i])
    out[7, i] = gpu.atomic.nanmin(out, (3, i), x[i])


def make_extremes_of_nan(_rng):
    x = np.array([1, NAN32, 3, NAN32], np.float32)
    out = np.tile(np.array([2, 2, NAN32, NAN32], np.float32), (8, 1))
    out[4:] = 0
    return x, out


def expect_extremes_of_nan(x, out):
    return {
        1: np.array(
            [
                [2, 2, NAN32, NAN32],
                [1, 2, NAN32, NAN32],
                [2, 2, 3, NAN32],
                [1, 2, 3, NAN32],
                *[[2, 2, NAN32, NAN32]] * 4,
            ],
            np.float32,
        )
    }


def count_increments(out, seen):
    """inc wraps to 0 after its bound, dec to its bound below 0: from 0, 100 steps see each of 10 values 10 times."""
    i = gpu.grid(1)
    if i < N:
        gpu.atomic.add(seen, gpu.atomic.inc(out, 0, 9), 1)
        gpu.atomic.add(seen, gpu.atomic.dec(out, 1, 9), 1)


def exchange(out, seen):
    """Values handed on: every one is seen as an old one, or is left at the end."""
    gpu.atomic.add(seen, gpu.atomic.exch(out, 0, gpu.grid(1) + 1), 1)
    gpu.syncthreads()
    if gpu.threadIdx.x == 0:
        gpu.atomic.add(seen, out[0], 1)
        out[0] = 0


def lock_by_cas(lock, total):
    """A ticket taken by compare-and-swap, retried until it works."""
    done = False
    while not done:
        seen = total[0]
        done = gpu.atomic.cas(total, 0, seen, seen + 2) == seen
    gpu.atomic.compare_and_swap(lock, 0, 7)
    gpu.atomic.compare_and_swap(lock, 0, 8)


def multi_dimensional(out):
    i = gpu.grid(1)
    gpu.atomic.add(out, (i % 3, -1 - i % 2, 0), 1)


def expect_multi_dimensional(out):
    wanted = out.copy()
    i = np.arange(64)
    np.add.at(wanted, (i % 3, -1 - i % 2, 0), 1)
    return {0: wanted}


def negative_index(out):
    gpu.atomic.add(out, -1, 1)


def shared_counter(flags, per_block, total):
    count = gpu.shared.array(1, int32)
    if gpu.threadIdx.x == 0:
        count[0] = 0
    gpu.syncthreads()
    i = gpu.grid(1)
    if i < flags.size and flags[i]:
        gpu.atomic.add(count, 0, 1)
    gpu.syncthreads()
    if gpu.threadIdx.x == 0:
        per_block[gpu.blockIdx.x] = count[0]
        gpu.atomic.add(total, 0, count[0])


def expect_shared_counter(flags, per_block, total):
    counts = flags.reshape(-1, 64).sum(axis=1)
    return {1: counts, 2: np.array([flags.sum()])}


def shared_histogram(x, out):
    bins = gpu.shared.array(16, int32)
    t = gpu.threadIdx.x
    if t < 16:
        bins[t] = 0
    gpu.syncthreads()
    i = gpu.grid(1)
    if i < x.size:
        gpu.atomic.add(bins, x[i], 1)
    gpu.syncthreads()
    if t < 16:
        gpu.atomic.add(out, t, bins[t])


def case_of(kernel, dtype, low, high, out_of, expected):
    """One case for one item type; floats hold whole numbers, so that sums are exact in any order."""
    dtype = np.dtype(dtype)
    needs = set()
    if dtype.itemsize == 8:
        needs.add("atomic64")
    if dtype == np.float64:
        needs.add("float64")
    return Case(
        kernel,
        lambda rng: (rng.integers(low, high, N).astype(dtype), out_of(dtype)),
        expected,
        grid=2,
        block=64,
        needs=frozenset(needs),
        name=f"{kernel.__name__}_{dtype.name}",
    )


def extremes_start(dtype):
    return np.array([50, 50, 50, 50], dtype)


def expect_extremes(x, out):
    high, low = max(x.max(), 50), min(x.min(), 50)
    return {1: np.array([high, low, high, low], x.dtype)}


ALL_DTYPES = (np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64)
INTEGERS = (np.int32, np.uint32, np.int64, np.uint64)
UNSIGNED = (np.uint32, np.uint64)


def low_of(dtype):
    return 0 if np.dtype(dtype).kind == "u" else -1000


def add_to_parts(z, x):
    """The parts of complex numbers are views with strides."""
    i = gpu.grid(1)
    gpu.atomic.add(z.real, i % 3, x[i])
    gpu.atomic.add(z.imag, i % 3, 2 * x[i])


def hash_table(keys, out):
    """How often each key is there: open addressing, whose loop compares and swaps before and after it has moved on."""
    i = gpu.threadIdx.x
    slots, counts = gpu.shared.array(64, np.int32), gpu.shared.array(64, np.int32)
    if i < 64:
        slots[i], counts[i] = -1, 0
    gpu.syncthreads()
    slot = (keys[i] * 31 + 7) % 64
    while True:
        old = gpu.atomic.cas(slots, slot, -1, keys[i])
        if old == -1 or old == keys[i]:
            gpu.atomic.add(counts, slot, 1)
            break
        slot = (slot + 1) % 64
    gpu.syncthreads()
    out[i] = counts[slot]


CASES = (
    Case(
        add_to_parts,
        lambda rng: (np.zeros(3, np.complex64), np.arange(32, dtype=np.float32)),
        lambda z, x: {0: np.bincount(np.arange(32) % 3, x) * (1 + 2j)},
    ),
    Case(
        add_tickets,
        lambda _rng: (np.zeros(1, np.int32), np.zeros(N, np.int32)),
        lambda counter, tickets: {0: np.array([N]), 1: np.ones(N)},
        grid=2,
        block=64,
    ),
    *(case_of(add_and_sub, d, low_of(d), 1000, lambda d: np.zeros(10, d), expect_add_and_sub) for d in ALL_DTYPES),
    *(case_of(bitwise, d, low_of(d), 1000, lambda d: np.array([1023, 0, 5], d), expect_bitwise) for d in INTEGERS),
    *(case_of(extremes, d, low_of(d), 1000, extremes_start, expect_extremes) for d in ALL_DTYPES),
    Case(extremes_of_nan, make_extremes_of_nan, expect_extremes_of_nan, block=4),
    *(
        Case(
            count_increments,
            lambda _rng, dtype=dtype: (np.zeros(2, dtype), np.zeros(10, np.int32)),
            lambda out, seen: {0: np.zeros(2), 1: np.full(10, 20)},
            grid=2,
            block=64,
            needs=frozenset({"atomic64"} if np.dtype(dtype).itemsize == 8 else ()),
            name=f"count_increments_{np.dtype(dtype).name}",
        )
        for dtype in UNSIGNED
    ),
    Case(
        lock_by_cas,
        lambda _rng: (np.zeros(1, np.int32), np.zeros(1, np.int32)),
        lambda lock, total: {0: np.array([7]), 1: np.array([128])},
        grid=2,
        block=32,
    ),
    Case(
        exchange,
        lambda _rng: (np.zeros(1, np.int32), np.zeros(65, np.int32)),
        lambda out, seen: {1: np.ones(65)},
        block=64,
    ),
    Case(multi_dimensional, lambda _rng: (np.zeros((3, 2, 2), np.int32),), expect_multi_dimensional, block=64),
    Case(negative_index, lambda _rng: (np.zeros(3, np.int32),), lambda out: {0: np.array([0, 0, 32])}),
    Case(
        shared_counter,
        lambda rng: (rng.random(256) < 0.3, np.zeros(4, np.int32), np.zeros(1, np.int32)),
        expect_shared_counter,
        grid=4,
        block=64,
    ),
    Case(
        shared_histogram,
        lambda rng: (rng.integers(0, 16, 500, dtype=np.int32), np.zeros(16, np.int32)),
        lambda x, out: {1: np.bincount(x, minlength=16)},
        grid=4,
        block=128,
    ),
    Case(
        hash_table,
        lambda rng: (rng.integers(0, 50, 128, dtype=np.int32) ** 2, np.zeros(128, np.int32)),
        lambda keys, out: {1: (keys[:, None] == keys).sum(axis=1)},
        block=128,
    ),
)
