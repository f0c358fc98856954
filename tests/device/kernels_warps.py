"""What the lanes of a warp tell each other: shuffles, votes, matches, masks."""

from __future__ import annotations

import numpy as np

from numba_gpucore import language as gpu
from tests.device.catalogue import Case

ALL = 0xFFFFFFFF
LANE = np.arange(32)


def shuffles(x, out):
    i = gpu.grid(1)
    v = x[i]
    out[0, i] = gpu.shfl_sync(ALL, v, 5)
    out[1, i] = gpu.shfl_up_sync(ALL, v, 3)
    out[2, i] = gpu.shfl_down_sync(ALL, v, 3)
    out[3, i] = gpu.shfl_xor_sync(ALL, v, 9)
    out[4, i] = gpu.shfl_sync(ALL, v, 31 - gpu.laneid)


def expect_shuffles(x, out):
    warps = x.reshape(-1, 32)
    places = [
        np.full(32, 5),
        np.where(LANE < 3, LANE, LANE - 3),
        np.where(LANE > 28, LANE, LANE + 3),
        LANE ^ 9,
        31 - LANE,
    ]
    return {1: np.stack([warps[:, place].ravel() for place in places])}


def warp_sum(x, out):
    i = gpu.grid(1)
    v = x[i]
    step = 16
    while step > 0:
        v += gpu.shfl_down_sync(ALL, v, step)
        step //= 2
    if gpu.laneid == 0:
        out[i // 32] = v


def warp_votes(x, out):
    i = gpu.grid(1)
    out[0, i] = gpu.all_sync(ALL, x[i] > 0)
    out[1, i] = gpu.any_sync(ALL, x[i] == 3)
    out[2, i] = gpu.eq_sync(ALL, x[i] > 0)
    out[3, i] = gpu.ballot_sync(ALL, x[i] > 2)


def make_warp_votes(rng):
    x = rng.integers(0, 5, 96, dtype=np.int32)
    x[32:64] = 4
    x[64:] = 0
    return x, np.zeros((4, 96), np.uint32)


def expect_warp_votes(x, out):
    warps = x.reshape(3, 32)
    positive = warps > 0
    ballot = ((warps > 2) << LANE.astype(np.uint64)).sum(axis=1)
    rows = [positive.all(1), (warps == 3).any(1), positive.all(1) | ~positive.any(1), ballot]
    return {1: np.stack([np.repeat(row, 32) for row in rows]).astype(np.uint32)}


def matches(x, out, same):
    i = gpu.grid(1)
    out[i] = gpu.match_any_sync(ALL, x[i])
    mask, is_same = gpu.match_all_sync(ALL, x[i] // 100)
    same[0, i] = mask
    same[1, i] = is_same


def make_matches(rng):
    x = rng.integers(0, 4, 64)
    x[32:] = rng.integers(0, 2, 32) * 100
    return x, np.zeros(64, np.uint32), np.zeros((2, 64), np.uint32)


def expect_matches(x, out, same):
    warps = x.reshape(2, 32)
    masks = ((warps[:, :, None] == warps[:, None, :]) << LANE.astype(np.uint64)).sum(axis=2)
    flags = np.repeat([1, 0], 32)
    return {1: masks.ravel(), 2: np.stack([flags * ALL, flags])}


def partial_warp(x, out):
    """Only ten lanes exist: the mask names those that take part."""
    i = gpu.grid(1)
    out[0, i] = gpu.match_any_sync(0x3FF, x[i])
    out[1, i] = gpu.ballot_sync(0x3FF, True)


def full_mask_of_partial_warp(x, out):
    """Twenty lanes exist; a mask that names all 32 means those."""
    i = gpu.grid(1)
    out[0, i] = gpu.match_any_sync(ALL, x[i])
    _mask, out[1, i] = gpu.match_all_sync(ALL, x[i] // 100)
    _mask, out[2, i] = gpu.match_all_sync(ALL, x[i])
    out[3, i] = gpu.ballot_sync(ALL, x[i] % 2 == 0)


def expect_full_mask_of_partial_warp(x, out):
    lanes = np.arange(20)
    masks = ((x[:, None] == x[None, :]) << lanes).sum(axis=1)
    even = int(((x % 2 == 0) << lanes).sum())
    return {1: np.stack([masks, np.ones(20), np.zeros(20), np.full(20, even)])}


def masks(out):
    i = gpu.grid(1)
    out[0, i] = gpu.lanemask_lt()
    if i % 2 == 0:
        out[1, i] = gpu.activemask()
    else:
        out[1, i] = gpu.activemask()


def results_kept(x, out):
    """Each operation twice, among the others; results are used when all lanes have met for the last time."""
    i = gpu.threadIdx.x
    ones, some = gpu.match_any_sync(0xFFFFFFFF, x[i]), gpu.match_any_sync(0xFFFFFFFF, int(x[i]) // 2)
    all_mask, all_same = gpu.match_all_sync(0xFFFFFFFF, 7)
    no_mask, none_same = gpu.match_all_sync(0xFFFFFFFF, i)
    ballot = gpu.ballot_sync(0xFFFFFFFF, x[i] == 1)
    first, last = gpu.shfl_sync(0xFFFFFFFF, x[i], 0), gpu.shfl_down_sync(0xFFFFFFFF, int(x[i]), 1)
    odd = gpu.ballot_sync(0xFFFFFFFF, i % 2)
    any_three, all_small = gpu.any_sync(0xFFFFFFFF, x[i] == 3), gpu.all_sync(0xFFFFFFFF, x[i] < 4)
    again = gpu.match_any_sync(0xFFFFFFFF, x[i])
    gpu.syncwarp()
    out[0, i], out[1, i], out[2, i], out[3, i] = ones, some, all_mask, no_mask
    out[4, i], out[5, i], out[6, i], out[7, i] = ballot, first, last, odd
    out[8, i], out[9, i] = any_three + 2 * all_small + 4 * all_same + 8 * none_same, again


def expect_results_kept(x, out):
    def lanes(truth):
        return (truth.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum().astype(np.uint32)

    equal = np.array([lanes(x == one) for one in x])
    halves = np.array([lanes(x // 2 == one // 2) for one in x])
    rows = [
        equal, halves, 0xFFFFFFFF, 0, lanes(x == 1), x[0], np.append(x[1:], x[-1]), 0xAAAAAAAA,
        int((x == 3).any()) + 2 + 4, equal,
    ]  # fmt: skip
    return {1: np.stack([np.broadcast_to(np.asarray(row, np.uint32), 32) for row in rows])}


def divergent_ballots(out):
    """Four groups of lanes vote at four places."""
    i = gpu.threadIdx.x
    if i % 4 == 0:
        ballot = gpu.ballot_sync(0x11111111, True)
    elif i % 4 == 1:
        ballot = gpu.ballot_sync(0x22222222, True)
    elif i % 4 == 2:
        ballot = gpu.ballot_sync(0x44444444, True)
    else:
        ballot = gpu.ballot_sync(0x88888888, True)
    out[i] = ballot


def narrowing_syncwarp(out):
    """The sum of 0 to 31 by ever fewer lanes."""
    tile = gpu.shared.array(32, np.int32)
    i = gpu.threadIdx.x
    tile[i] = i
    gpu.syncwarp()
    if i < 16:
        tile[i] = tile[i] + tile[i + 16]
        gpu.syncwarp(0xFFFF)
    if i < 8:
        tile[i] = tile[i] + tile[i + 8]
        gpu.syncwarp(0xFF)
    if i < 4:
        tile[i] = tile[i] + tile[i + 4]
        gpu.syncwarp(0xF)
    if i < 2:
        tile[i] = tile[i] + tile[i + 2]
        gpu.syncwarp(0x3)
    if i == 0:
        out[0] = tile[0] + tile[1]


def shuffle_case(dtype):
    dtype = np.dtype(dtype)

    def make_args(rng):
        if dtype.kind == "f":
            x = rng.standard_normal(64)
        elif dtype.kind == "b":
            x = rng.random(64) < 0.5
        else:
            info = np.iinfo(dtype)
            x = rng.integers(info.min, info.max, 64, dtype=dtype)
        return x.astype(dtype), np.zeros((5, 64), dtype)

    needs = frozenset({"float64"} if dtype == np.float64 else ())
    return Case(shuffles, make_args, expect_shuffles, grid=2, block=32, needs=needs, name=f"shuffles_{dtype.name}")


SHUFFLED = (np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, np.bool_)

CASES = (
    *map(shuffle_case, SHUFFLED),
    Case(
        warp_sum,
        lambda rng: (rng.integers(-99, 99, 128, dtype=np.int32), np.zeros(4, np.int32)),
        lambda x, out: {1: x.reshape(4, 32).sum(axis=1)},
        grid=2,
        block=64,
    ),
    Case(warp_votes, make_warp_votes, expect_warp_votes, block=96),
    Case(matches, make_matches, expect_matches, block=64),
    Case(
        full_mask_of_partial_warp,
        lambda _rng: (np.arange(20) % 3, np.zeros((4, 20), np.uint32)),
        expect_full_mask_of_partial_warp,
        block=20,
    ),
    Case(
        partial_warp,
        lambda _rng: (np.arange(10, dtype=np.int32) % 2, np.zeros((2, 10), np.uint32)),
        lambda x, out: {1: np.stack([np.tile([0b0101010101, 0b1010101010], 5), np.full(10, 0x3FF)])},
        block=10,
    ),
    Case(
        masks,
        lambda _rng: (np.zeros((2, 32), np.uint32),),
        lambda out: {0: np.stack([2**LANE - 1, np.tile([0x55555555, 0xAAAAAAAA], 16)])},
    ),
    Case(
        results_kept,
        lambda rng: (rng.integers(0, 4, 32, dtype=np.int32), np.zeros((10, 32), np.uint32)),
        expect_results_kept,
    ),
    Case(
        divergent_ballots,
        lambda _rng: (np.zeros(32, np.uint32),),
        lambda out: {0: np.tile([0x11111111, 0x22222222, 0x44444444, 0x88888888], 8)},
    ),
    Case(narrowing_syncwarp, lambda _rng: (np.zeros(1, np.int32),), lambda out: {0: np.array([496])}),
)
