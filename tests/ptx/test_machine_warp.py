"""Warp exchange of the PTX machine, by hand counts. PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ptx.kernels import kernel, run
from tests.ptx.machine import PtxFault

LANES = np.arange(32)
FULL = 0xFFFFFFFF
UNSPECIFIED = 0xA5A5A5A5

SHUFFLES = [
    # (instruction after "shfl.sync.", lane that each lane reads)
    ("idx.b32 %r1, %r0, 5, 31", np.full(32, 5)),
    ("idx.b32 %r1, %r0, 37, 31", np.full(32, 5)),  # b[4:0]
    ("up.b32 %r1, %r0, 3, 0", np.where(LANES >= 3, LANES - 3, LANES)),
    ("down.b32 %r1, %r0, 3, 31", np.where(LANES + 3 <= 31, LANES + 3, LANES)),
    ("bfly.b32 %r1, %r0, 1, 31", LANES ^ 1),
    # segments of 8 lanes: c = (32 - 8) << 8 | clamp
    ("idx.b32 %r1, %r0, 2, 0x181f", LANES // 8 * 8 + 2),
    ("up.b32 %r1, %r0, 3, 0x1800", np.where(LANES % 8 >= 3, LANES - 3, LANES)),
    ("down.b32 %r1, %r0, 3, 0x181f", np.where(LANES % 8 + 3 <= 7, LANES + 3, LANES)),
    ("bfly.b32 %r1, %r0, 7, 0x181f", LANES ^ 7),
    # the clamp ends the range: lanes above 15 are out of it
    ("idx.b32 %r1, %r0, 20, 15", LANES),
]


@pytest.mark.parametrize(("instruction", "source"), SHUFFLES)
def test_shuffle(instruction: str, source: np.ndarray, tmp_path: Path) -> None:
    """Two blocks of 64 threads: every warp exchanges inside itself."""
    body = f" ld.global.u32 %r0, [%in];\n shfl.sync.{instruction}, {FULL:#x};\n st.global.u32 [%out], %r1;"
    data = np.arange(128) * 10
    got = run(kernel(body), tmp_path, data, grid=2, block=64)
    np.testing.assert_array_equal(got.reshape(4, 32), data.reshape(4, 32)[:, source])


def test_shuffle_says_whether_the_lane_is_in_range(tmp_path: Path) -> None:
    body = f" shfl.sync.down.b32 %r1|%p1, %i, 4, 31, {FULL:#x};\n selp.u32 %r2, 1, 0, %p1;\n st.global.u32 [%out], %r2;"
    np.testing.assert_array_equal(run(kernel(body), tmp_path), LANES + 4 <= 31)


def test_shuffle_from_a_lane_outside_the_mask_is_unspecified(tmp_path: Path) -> None:
    """Lanes 0 to 15 ask their upper neighbours; lane 15 asks lane 16, which takes no part."""
    body = """
 mov.u32 %r1, 7;
 setp.ge.u32 %p1, %i, 16;
 @%p1 bra store;
 shfl.sync.down.b32 %r1, %i, 1, 31, 0xffff;
store:
 st.global.u32 [%out], %r1;"""
    got = run(kernel(body), tmp_path)
    np.testing.assert_array_equal(got[:15], LANES[1:16])
    assert got[15] == UNSPECIFIED
    np.testing.assert_array_equal(got[16:], 7)


VOTES = [
    # (mode, condition on the lane, result)
    ("all.pred %p2, %p1", "setp.lt.u32 %p1, %r0, 32;", 1),
    ("all.pred %p2, %p1", "setp.lt.u32 %p1, %r0, 31;", 0),
    ("any.pred %p2, %p1", "setp.eq.u32 %p1, %r0, 31;", 1),
    ("any.pred %p2, !%p1", "setp.lt.u32 %p1, %r0, 32;", 0),
    ("uni.pred %p2, %p1", "setp.gt.u32 %p1, %r0, 99;", 1),
    ("uni.pred %p2, %p1", "setp.eq.u32 %p1, %r0, 3;", 0),
]


@pytest.mark.parametrize(("instruction", "condition", "wanted"), VOTES)
def test_vote(instruction: str, condition: str, wanted: int, tmp_path: Path) -> None:
    body = f"""
 mov.u32 %r0, %laneid;
 {condition}
 vote.sync.{instruction}, {FULL:#x};
 selp.u32 %r1, 1, 0, %p2;
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path, block=64), wanted)


def test_ballot_of_even_lanes(tmp_path: Path) -> None:
    body = f"""
 and.b32 %r0, %i, 1;
 setp.eq.u32 %p1, %r0, 0;
 vote.sync.ballot.b32 %r1, %p1, {FULL:#x};
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), 0x55555555)


def test_ballot_counts_members_only(tmp_path: Path) -> None:
    """Two halves of a warp vote apart, each with its own mask, at one instruction."""
    body = """
 setp.lt.u32 %p1, %i, 16;
 selp.b32 %r0, 0x0000ffff, 0xffff0000, %p1;
 setp.ne.u32 %p2, %i, 99;
 vote.sync.ballot.b32 %r1, %p2, %r0;
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), np.where(LANES < 16, 0xFFFF, 0xFFFF0000))


@pytest.mark.parametrize("nbits", [32, 64])
def test_match_any(nbits: int, tmp_path: Path) -> None:
    """Lanes of equal value modulo 5."""
    widen = "cvt.u64.u32 %d1, %r0; shl.b64 %d1, %d1, 30;" if nbits == 64 else ""
    value = "%d1" if nbits == 64 else "%r0"
    body = f"""
 rem.u32 %r0, %i, 5;
 {widen}
 match.any.sync.b{nbits} %r1, {value}, {FULL:#x};
 st.global.u32 [%out], %r1;"""
    wanted = [sum(1 << j for j in range(32) if j % 5 == i % 5) for i in range(32)]
    np.testing.assert_array_equal(run(kernel(body), tmp_path), wanted)


@pytest.mark.parametrize(("divisor", "mask", "is_equal"), [(100, FULL, 1), (31, 0, 0)])
def test_match_all(divisor: int, mask: int, is_equal: int, tmp_path: Path) -> None:
    """Lane 31 differs when divided by 31."""
    body = f"""
 div.u32 %r0, %i, {divisor};
 match.all.sync.b32 %r1|%p1, %r0, {FULL:#x};
 selp.u32 %r2, 1, 0, %p1;
 xor.b32 %r1, %r1, %r2;
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), mask ^ is_equal)


REDUCTIONS = [
    ("add.u32", 496),
    ("min.s32", 0),
    ("max.u32", 31),
    ("and.b32", 0),
    ("or.b32", 31),
    ("xor.b32", 0),
]


@pytest.mark.parametrize(("operation", "wanted"), REDUCTIONS)
def test_redux(operation: str, wanted: int, tmp_path: Path) -> None:
    """Of the lane numbers: 0 + … + 31 = 496."""
    body = f" redux.sync.{operation} %r1, %i, {FULL:#x};\n st.global.u32 [%out], %r1;"
    np.testing.assert_array_equal(run(kernel(body), tmp_path), wanted)


def test_redux_of_some_lanes(tmp_path: Path) -> None:
    """Odd lanes add up to 256, even ones to 240."""
    body = """
 and.b32 %r0, %i, 1;
 setp.eq.u32 %p1, %r0, 0;
 selp.b32 %r2, 0x55555555, 0xaaaaaaaa, %p1;
 redux.sync.add.s32 %r1, %i, %r2;
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), np.where(LANES % 2, 256, 240))


def test_float_redux(tmp_path: Path) -> None:
    """Largest magnitude of lane - 20 (sm_100a)."""
    body = f"""
 add.s32 %r0, %i, -20;
 cvt.rn.f32.s32 %r0, %r0;
 redux.sync.max.abs.f32 %r1, %r0, {FULL:#x};
 st.global.u32 [%out], %r1;"""
    got = run(kernel(body), tmp_path, arch="sm_100a")
    np.testing.assert_array_equal(got.view(np.float32), 20.0)


def test_elect_chooses_the_lowest_member(tmp_path: Path) -> None:
    body = """
 setp.lt.u32 %p1, %i, 4;
 @%p1 bra done;
 elect.sync %r1|%p2, 0xfffffff0;
 selp.u32 %r2, 100, 0, %p2;
 add.u32 %r1, %r1, %r2;
 st.global.u32 [%out], %r1;
done:"""
    got = run(kernel(body), tmp_path)
    np.testing.assert_array_equal(got, np.where(LANES < 4, 0xDEAD, np.where(LANES == 4, 104, 4)))


def test_activemask_names_the_lanes_that_are_here(tmp_path: Path) -> None:
    body = """
 setp.ge.u32 %p1, %i, 8;
 @%p1 bra upper;
 activemask.b32 %r1;
 bra store;
upper:
 activemask.b32 %r1;
store:
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), np.where(LANES < 8, 0xFF, 0xFFFFFF00))


def test_members_wait_for_one_another(tmp_path: Path) -> None:
    """Lanes leave a loop after as many turns as their number, then all exchange: nobody may go ahead."""
    body = f"""
 mov.u32 %r0, 0;
loop:
 add.u32 %r0, %r0, 1;
 setp.le.u32 %p1, %r0, %i;
 @%p1 bra loop;
 shfl.sync.bfly.b32 %r1, %r0, 31, 31, {FULL:#x};
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), 32 - LANES)


def test_exited_lanes_are_not_waited_for(tmp_path: Path) -> None:
    """PTX ISA: "non-exited threads corresponding to membermask"."""
    body = f"""
 setp.gt.u32 %p1, %i, 20;
 @%p1 exit;
 redux.sync.add.u32 %r1, %i, {FULL:#x};
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), np.where(LANES <= 20, 210, 0xDEAD))


def test_warp_barrier_lets_lanes_meet(tmp_path: Path) -> None:
    """Lane 0 stores after a detour, the others read behind the barrier."""
    body = f"""
 .shared .u32 word;
 setp.ne.u32 %p1, %i, 0;
 @%p1 bra meet;
 mov.u32 %r0, 77;
 st.shared.u32 [word], %r0;
meet:
 bar.warp.sync {FULL:#x};
 ld.shared.u32 %r1, [word];
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), 77)


def test_lane_outside_its_own_mask_is_a_fault(tmp_path: Path) -> None:
    body = " vote.sync.ballot.b32 %r1, %p1, 0x7fffffff;\n st.global.u32 [%out], %r1;"
    with pytest.raises(PtxFault, match=r"vote\.sync.*membermask 0x7fffffff .*thread \(31, 0, 0\)"):
        run(kernel(body), tmp_path)


def test_waiting_for_a_lane_that_never_comes_is_a_deadlock(tmp_path: Path) -> None:
    """Lane 3 waits at a barrier of the block, the others for lane 3."""
    body = f"""
 setp.eq.u32 %p1, %i, 3;
 @%p1 bar.sync 0;
 bar.warp.sync {FULL:#x};"""
    with pytest.raises(PtxFault, match=r"deadlock.*1 threads.*bar\.sync 0.*31 threads.*bar\.warp\.sync"):
        run(kernel(body), tmp_path)
