"""Warp operations on the CPU: lanes as coroutines that wait for those of their mask."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.cpu_programs import INT32, STORE, THREAD, array, launch, load_ir, run_threads

INT64 = array("int64")

T = np.arange(40)
WARP = T // 32 * 32
LANE = T % 32
ALL = np.where(T < 32, -1, 255)  # the second warp has eight lanes


def source(lane: np.ndarray) -> np.ndarray:
    """Numbers of the threads that lanes read from: their own where that lane does not exist."""
    return np.where((lane >= 0) & (lane < 32) & (WARP + lane < 40), WARP + lane, T)


ODD = np.where(T < 32, np.int64(0xAAAAAAAA) - 2**32, 0xAA)
#: Call and what each of 40 threads gets, by the CUDA C++ Programming Guide, "Warp Shuffle Functions", "Warp Vote
#: Functions" and "Warp Match Functions"; %odd is t & 1.
WARP_CALLS = {
    "gpu.shuffle.idx.i32(ptr %c, i32 -1, i32 %t, i32 3)": source(np.full(40, 3)),
    "gpu.shuffle.idx.i32(ptr %c, i32 -1, i32 %t, i32 35)": source(np.full(40, 3)),
    "gpu.shuffle.idx.i32(ptr %c, i32 -1, i32 %t, i32 20)": source(np.full(40, 20)),
    "gpu.shuffle.up.i32(ptr %c, i32 -1, i32 %t, i32 2)": source(LANE - 2),
    "gpu.shuffle.down.i32(ptr %c, i32 -1, i32 %t, i32 2)": source(LANE + 2),
    "gpu.shuffle.xor.i32(ptr %c, i32 -1, i32 %t, i32 9)": source(LANE ^ 9),
    "gpu.vote.ballot(ptr %c, i32 -1, i32 %odd)": ODD,
    "gpu.vote.any(ptr %c, i32 -1, i32 %odd)": np.ones(40),
    "gpu.vote.all(ptr %c, i32 -1, i32 %odd)": np.zeros(40),
    "gpu.vote.all(ptr %c, i32 -1, i32 8)": np.ones(40),
    "gpu.vote.eq(ptr %c, i32 -1, i32 %odd)": np.zeros(40),
    "gpu.vote.eq(ptr %c, i32 -1, i32 0)": np.ones(40),
    "gpu.match.any.i32(ptr %c, i32 -1, i32 %odd)": np.where(T % 2, ODD, ALL & ~ODD),
    "gpu.match.all.i32(ptr %c, i32 -1, i32 %odd)": np.zeros(40),
    "gpu.match.all.i32(ptr %c, i32 -1, i32 7)": ALL,
    "gpu.active_mask(ptr %c)": ALL,
}  # fmt: skip


@pytest.mark.parametrize("call", WARP_CALLS)
def test_warp_operation(call: str) -> None:
    body = THREAD + f"  %odd = and i32 %t, 1\n  %r = call i32 @{call}\n" + STORE
    np.testing.assert_array_equal(run_threads(body, 40), WARP_CALLS[call])


def test_wide_exchange_keeps_all_bits() -> None:
    body = """
      %t = call i32 @gpu.thread_id.x(ptr %c)
      %t.wide = zext i32 %t to i64
      %at = getelementptr i64, ptr %p0, i64 %t.wide
      %v = mul i64 %t.wide, 1099511627777
      %x = call i64 @gpu.shuffle.xor.i64(ptr %c, i32 -1, i64 %v, i32 1)
      %m = call i32 @gpu.match.any.i64(ptr %c, i32 -1, i64 %v)
      %m.wide = zext i32 %m to i64
      %r = add i64 %x, %m.wide
      store i64 %r, ptr %at
      ret void
    """
    out = np.zeros(32, np.int64)
    launch(load_ir(body, (INT64,)), 1, 32, out)
    np.testing.assert_array_equal(out, (np.arange(32) ^ 1) * (2**40 + 1) + 2 ** np.arange(32))


def test_lanes_wait_for_those_of_their_mask_only() -> None:
    """Lanes 0 to 15 exchange among themselves before all 32 do; the others wait, and see what comes out of it."""
    body = (
        THREAD
        + """
      %low = icmp ult i32 %t, 16
      br i1 %low, label %half, label %all
    half:
      %v = call i32 @gpu.shuffle.xor.i32(ptr %c, i32 65535, i32 %t, i32 15)
      br label %all
    all:
      %w = phi i32 [ %v, %half ], [ %t, %0 ]
      %r = call i32 @gpu.shuffle.xor.i32(ptr %c, i32 -1, i32 %w, i32 16)
    """
        + STORE
    )
    first = np.where(np.arange(32) < 16, 15 - np.arange(32), np.arange(32))
    np.testing.assert_array_equal(run_threads(body, 32), first[np.arange(32) ^ 16])


def test_warp_operations_that_can_never_be_complete_hang_nobody() -> None:
    """Half of the lanes wait at a vote for all lanes, the others at the block's barrier: the vote sees 16 lanes."""
    body = (
        THREAD
        + """
      %low = icmp ult i32 %t, 16
      br i1 %low, label %vote, label %wait
    vote:
      %v = call i32 @gpu.vote.ballot(ptr %c, i32 -1, i32 1)
      call void @gpu.barrier(ptr %c)
      br label %end
    wait:
      call void @gpu.barrier(ptr %c)
      br label %end
    end:
      %r = phi i32 [ %v, %vote ], [ 0, %wait ]
    """
        + STORE
    )
    np.testing.assert_array_equal(run_threads(body, 32), np.where(np.arange(32) < 16, 0xFFFF, 0))


def test_warp_sum_in_many_blocks() -> None:
    """Each block sums 0 to 63 in two warps by shuffles, then through shared memory."""
    body = """
      %t = call i32 @gpu.thread_id.x(ptr %c)
      %b = call i32 @gpu.block_id.x(ptr %c)
      %lane = call i32 @gpu.lane_id(ptr %c)
      %sh = call ptr @"gpu.shared.8.4.0"(ptr %c)
      br label %loop
    loop:
      %step = phi i32 [ 16, %0 ], [ %step.next, %loop ]
      %v = phi i32 [ %t, %0 ], [ %v.next, %loop ]
      %o = call i32 @gpu.shuffle.down.i32(ptr %c, i32 -1, i32 %v, i32 %step)
      %v.next = add i32 %v, %o
      %step.next = lshr i32 %step, 1
      %more = icmp ne i32 %step.next, 0
      br i1 %more, label %loop, label %done
    done:
      %w = lshr i32 %t, 5
      %first = icmp eq i32 %lane, 0
      br i1 %first, label %put, label %wait
    put:
      %w.at = getelementptr i32, ptr %sh, i32 %w
      store i32 %v.next, ptr %w.at
      br label %wait
    wait:
      call void @gpu.barrier(ptr %c)
      %s0 = load i32, ptr %sh
      %s1.at = getelementptr i32, ptr %sh, i32 1
      %s1 = load i32, ptr %s1.at
      %s = add i32 %s0, %s1
      %leader = icmp eq i32 %t, 0
      br i1 %leader, label %write, label %end
    write:
      %at = getelementptr i32, ptr %p0, i32 %b
      store i32 %s, ptr %at
      br label %end
    end:
      ret void
    """
    out = np.zeros(1000, np.int32)
    launch(load_ir(body, (INT32,)), 1000, 64, out)
    assert (out == 64 * 63 // 2).all()


def test_active_mask_tells_branches_apart() -> None:
    body = (
        THREAD
        + """
      %odd = and i32 %t, 1
      %is_odd = icmp ne i32 %odd, 0
      br i1 %is_odd, label %a, label %b
    a:
      %x = call i32 @gpu.active_mask(ptr %c)
      br label %end
    b:
      %y = call i32 @gpu.active_mask(ptr %c)
      br label %end
    end:
      %r = phi i32 [ %x, %a ], [ %y, %b ]
    """
        + STORE
    )
    np.testing.assert_array_equal(run_threads(body, 8), np.where(np.arange(8) % 2, 0xAA, 0x55))
