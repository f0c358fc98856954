"""Programs with barriers on the CPU: threads as coroutines. Warp operations are in test_cpu_warps."""

from __future__ import annotations

import numpy as np
import pytest

from numba_gpucore.base.errors import LaunchError, UnsupportedKernelError
from numba_gpucore.base.mailbox import read_mailbox
from tests.unit.cpu_programs import (
    INT32,
    STORE,
    THREAD,
    array,
    compile_ir,
    device,
    launch,
    load_ir,
    run_threads,
    scalar,
)

INT64 = array("int64")

#: Prefix sums in shared memory, one barrier on each side of every step.
SCAN = """
  %t = call i32 @gpu.thread_id.x(ptr %c)
  %n = call i32 @gpu.block_dim.x(ptr %c)
  %i = call i64 @gpu.global_id.x(ptr %c)
  %t.wide = zext i32 %t to i64
  %sh = call ptr @"gpu.shared.4096.4.0"(ptr %c)
  %mine = getelementptr i32, ptr %sh, i64 %t.wide
  %at = getelementptr i32, ptr %p0, i64 %i
  %v = load i32, ptr %at
  store i32 %v, ptr %mine
  br label %step
step:
  %s = phi i32 [ 1, %0 ], [ %s.next, %next ]
  %go = icmp slt i32 %s, %n
  br i1 %go, label %read, label %out
read:
  call void @gpu.barrier(ptr %c)
  %has = icmp sge i32 %t, %s
  br i1 %has, label %take, label %join
take:
  %other = sub i32 %t, %s
  %other.wide = zext i32 %other to i64
  %other.at = getelementptr i32, ptr %sh, i64 %other.wide
  %o = load i32, ptr %other.at
  br label %join
join:
  %add = phi i32 [ %o, %take ], [ 0, %read ]
  call void @gpu.barrier(ptr %c)
  %old = load i32, ptr %mine
  %new = add i32 %old, %add
  store i32 %new, ptr %mine
  br label %next
next:
  %s.next = mul i32 %s, 2
  br label %step
out:
  %sum = load i32, ptr %mine
  store i32 %sum, ptr %at
  ret void
"""


#: Thread t waits t % 5 times where its number is even and t % 7 times, at another barrier, where it is odd. To a common
#: sum, odd threads add 1 before each wait, even ones 1000 after it; at its end each thread writes down the sum.
SCATTERED = """
  %sh = call ptr @"gpu.shared.4096.4.0"(ptr %c)
  store i32 0, ptr %sh
  call void @gpu.barrier(ptr %c)
  %low = urem i32 %t, 5
  %high = urem i32 %t, 7
  %bit = and i32 %t, 1
  %odd = icmp ne i32 %bit, 0
  br i1 %odd, label %odd.turn, label %even.turn
odd.turn:
  %i = phi i32 [ 0, %0 ], [ %i.next, %odd.wait ]
  %odd.done = icmp uge i32 %i, %high
  br i1 %odd.done, label %out, label %odd.wait
odd.wait:
  %a = atomicrmw add ptr %sh, i32 1 monotonic
  call void @gpu.barrier(ptr %c)
  %i.next = add i32 %i, 1
  br label %odd.turn
even.turn:
  %j = phi i32 [ 0, %0 ], [ %j.next, %even.wait ]
  %even.done = icmp uge i32 %j, %low
  br i1 %even.done, label %out, label %even.wait
even.wait:
  call void @gpu.barrier(ptr %c)
  %b = atomicrmw add ptr %sh, i32 1000 monotonic
  %j.next = add i32 %j, 1
  br label %even.turn
out:
  %seen = load i32, ptr %sh
  store i32 %seen, ptr %at
  ret void
"""


@pytest.mark.parametrize("threads", [1, 2, 3, 40, 301])
def test_threads_wait_at_different_places_and_end_at_different_times(threads: int) -> None:
    """Against the rounds counted in Python: all that live take one step, in the order of their numbers."""
    expected = np.zeros(threads, np.int32)
    steps, done, total = np.zeros(threads, int), np.zeros(threads, bool), 0
    waits = [t % 7 if t % 2 else t % 5 for t in range(threads)]
    while not done.all():
        for t in np.flatnonzero(~done):
            total += 1000 if t % 2 == 0 and steps[t] else 0
            done[t] = steps[t] == waits[t]
            if done[t]:
                expected[t] = total
            total += 1 if t % 2 and not done[t] else 0
            steps[t] += 1
    np.testing.assert_array_equal(run_threads(THREAD + SCATTERED, threads), expected)


@pytest.mark.parametrize("threads", [1, 2, 32, 33, 256, 1024])
def test_barriers_in_a_loop(threads: int) -> None:
    x = np.arange(threads * 3, dtype=np.int32) % 11
    out = x.copy()
    launch(load_ir(SCAN, (INT32,)), 3, threads, out)
    np.testing.assert_array_equal(out.reshape(3, -1), x.reshape(3, -1).cumsum(axis=1))


@pytest.mark.parametrize("opt", [0, 1, 3])
def test_barriers_at_every_optimisation_level(opt: int) -> None:
    out = np.ones(64, np.int32)
    launch(load_ir(SCAN, (INT32,), opt=opt), 1, 64, out)
    assert out.tolist() == list(range(1, 65))


def test_threads_that_have_ended_count_as_arrived() -> None:
    """Odd threads return before the barrier: the even ones see 32 true predicates among themselves."""
    body = (
        THREAD
        + """
      %odd = and i32 %t, 1
      %leave = icmp ne i32 %odd, 0
      br i1 %leave, label %end, label %stay
    stay:
      %r = call i32 @gpu.barrier.count(ptr %c, i32 1)
      store i32 %r, ptr %at
      br label %end
    end:
      ret void
    """
    )
    np.testing.assert_array_equal(run_threads(body, 64), np.where(np.arange(64) % 2, -1, 32))


def test_barriers_in_both_branches_meet() -> None:
    body = (
        THREAD
        + """
      %low = icmp ult i32 %t, 10
      br i1 %low, label %a, label %b
    a:
      call void @gpu.barrier(ptr %c)
      br label %join
    b:
      call void @gpu.barrier(ptr %c)
      call void @gpu.barrier(ptr %c)
      br label %join
    join:
      %r = phi i32 [ 1, %a ], [ 2, %b ]
    """
        + STORE
    )
    np.testing.assert_array_equal(run_threads(body, 40), np.where(np.arange(40) < 10, 1, 2))


@pytest.mark.parametrize(("name", "wanted"), [("count", 20), ("and", 0), ("or", 1)])
@pytest.mark.parametrize("with_warps", [False, True], ids=["rounds", "warps"])
def test_votes_at_barriers(name: str, wanted: int, with_warps: bool) -> None:
    """20 of 40 threads say yes, then all of them, then none; each barrier has its own result."""
    warp = "call void @gpu.warp_barrier(ptr %c, i32 -1)" if with_warps else ""
    body = (
        THREAD
        + f"""
      {warp}
      %odd = and i32 %t, 1
      %a = call i32 @gpu.barrier.{name}(ptr %c, i32 %odd)
      %b = call i32 @gpu.barrier.{name}(ptr %c, i32 4)
      %d = call i32 @gpu.barrier.{name}(ptr %c, i32 0)
      %b.high = mul i32 %b, 100
      %d.high = mul i32 %d, 10000
      %ab = add i32 %a, %b.high
      %r = add i32 %ab, %d.high
    """
        + STORE
    )
    all_say_yes = 40 if name == "count" else 1
    np.testing.assert_array_equal(run_threads(body, 40), np.full(40, wanted + 100 * all_say_yes))


def test_frames_larger_than_expected_get_room() -> None:
    """A local array of 1000 numbers lives across the barrier; nothing is allocated while the kernel runs."""
    body = (
        THREAD
        + """
      %local = alloca [1000 x i32]
      br label %fill
    fill:
      %k = phi i32 [ 0, %0 ], [ %k.next, %fill ]
      %k.at = getelementptr [1000 x i32], ptr %local, i64 0, i32 %k
      %v = add i32 %k, %t
      store i32 %v, ptr %k.at
      %k.next = add i32 %k, 1
      %more = icmp ult i32 %k.next, 1000
      br i1 %more, label %fill, label %wait
    wait:
      call void @gpu.barrier(ptr %c)
      %p = urem i32 %t, 1000
      %p.at = getelementptr [1000 x i32], ptr %local, i64 0, i32 %p
      %r = load i32, ptr %p.at
    """
        + STORE
    )
    compiled = compile_ir(body, (INT32,))
    assert compiled.artifact.fact("frame_nbytes") >= 4000
    assert "@malloc" not in compiled.text
    out = np.zeros(64, np.int32)
    launch(device().load(compiled.artifact), 1, 64, out)
    np.testing.assert_array_equal(out, 2 * np.arange(64))


def test_static_and_dynamic_shared_memory_do_not_overlap() -> None:
    """Static arrays of 12 and 8 bytes (the second 8-aligned), then the dynamic part at a multiple of 16."""
    body = (
        THREAD
        + """
      %a = call ptr @"gpu.shared.12.4.0"(ptr %c)
      %b = call ptr @"gpu.shared.8.8.1"(ptr %c)
      %d = call ptr @gpu.dynamic_shared(ptr %c)
      %n = call i64 @gpu.dynamic_shared_nbytes(ptr %c)
      call void @gpu.barrier(ptr %c)
      %a.i = ptrtoint ptr %a to i64
      %b.i = ptrtoint ptr %b to i64
      %d.i = ptrtoint ptr %d to i64
      %ab = sub i64 %b.i, %a.i
      %ad = sub i64 %d.i, %a.i
      %b.low = and i64 %b.i, 7
      %d.low = and i64 %d.i, 15
      %q0 = getelementptr i64, ptr %p2, i64 0
      %q1 = getelementptr i64, ptr %p2, i64 1
      %q2 = getelementptr i64, ptr %p2, i64 2
      %q3 = getelementptr i64, ptr %p2, i64 3
      %q4 = getelementptr i64, ptr %p2, i64 4
      store i64 %ab, ptr %q0
      store i64 %ad, ptr %q1
      store i64 %n, ptr %q2
      store i64 %b.low, ptr %q3
      store i64 %d.low, ptr %q4
      ret void
    """
    )
    out = np.full(5, -1, np.int64)
    launch(load_ir(body, (INT32, INT64)), 1, 4, np.zeros(4, np.int32), out, dynamic=40)
    assert out.tolist() == [16, 32, 40, 0, 0]


def test_too_much_shared_memory_is_refused() -> None:
    program = load_ir(SCAN, (INT32,))
    with pytest.raises(LaunchError, match=r"needs 236544 bytes .*4096 static, 232448 dynamic.* limit is 232448"):
        launch(program, 1, 32, np.zeros(32, np.int32), dynamic=227 * 1024)


def test_a_throwing_thread_hangs_nobody_and_has_all_details() -> None:
    body = (
        THREAD
        + """
      call void @gpu.barrier(ptr %c)
      %bad = icmp eq i32 %t, 5
      br i1 %bad, label %throw, label %stay
    throw:
      %site = call i32 @site.0()
      call void @gpu.throw(ptr %c, i32 %site, i64 -1, i64 2, i64 3, i64 4)
      ret void
    stay:
      %r = call i32 @gpu.barrier.count(ptr %c, i32 1)
    """
        + STORE
    )
    np.testing.assert_array_equal(run_threads(body, 33, sites=1), np.where(np.arange(33) == 5, -1, 32))
    report = read_mailbox(device().take_mailbox())
    assert (report.count, report.site, report.thread, report.has_details) == (1, 0, (5, 0, 0), True)
    assert report.numbers == (2**64 - 1, 2, 3, 4)


def test_a_barrier_in_a_recursive_function_is_refused() -> None:
    more = """
define internal void @again(ptr %c, i32 %n) {
  %over = icmp eq i32 %n, 0
  br i1 %over, label %end, label %deeper
deeper:
  call void @gpu.barrier(ptr %c)
  %less = sub i32 %n, 1
  call void @again(ptr %c, i32 %less)
  br label %end
end:
  ret void
}"""
    with pytest.raises(UnsupportedKernelError, match=r"recursive function waits .*gpu\.barrier"):
        compile_ir("  call void @again(ptr %c, i32 3)\n  ret void", (INT32,), recursion=True, more=more)


GRID_BARRIER = """
  %i = call i64 @gpu.global_id.x(ptr %c)
  %at = getelementptr i32, ptr %p0, i64 %i
  %v = trunc i64 %i to i32
  store i32 %v, ptr %at
  call void @gpu.barrier(ptr %c)
  call void @gpu.barrier.grid(ptr %c)
  %last = sub i64 %p1, 1
  %j = sub i64 %last, %i
  %other.at = getelementptr i32, ptr %p0, i64 %j
  %other = load i32, ptr %other.at
  call void @gpu.barrier.grid(ptr %c)
  store i32 %other, ptr %at
  ret void
"""


def test_a_grid_waits_for_all_its_blocks() -> None:
    out = np.zeros(8 * 96, np.int32)
    launch(load_ir(GRID_BARRIER, (INT32,)), 8, 96, out)
    np.testing.assert_array_equal(out, np.arange(out.size)[::-1])


def test_a_grid_too_large_to_wait_is_refused() -> None:
    with pytest.raises(LaunchError, match=r"waits for its whole grid, whose 100000 blocks need .* limit is 1073741824"):
        launch(load_ir(GRID_BARRIER, (INT32,)), 100_000, 1024, np.zeros(1, np.int32))


def test_parameters_survive_barriers() -> None:
    body = """
      %t = call i32 @gpu.thread_id.x(ptr %c)
      %t.wide = zext i32 %t to i64
      call void @gpu.barrier(ptr %c)
      %d = fadd double %p0, %p4
      %s = sext i8 %p1 to i32
      %sum = add i32 %s, %t
      %at = getelementptr double, ptr %p2, i64 %t.wide
      %f = sitofp i32 %sum to double
      %r = fadd double %d, %f
      store double %r, ptr %at
      ret void
    """
    types = (scalar("float64"), scalar("int8"), array("float64"), scalar("float64"))
    out = np.zeros(16)
    launch(load_ir(body, types), 1, 16, 0.25, -3, out, 0.5)
    np.testing.assert_array_equal(out, np.arange(16) - 3 + 0.75)
