"""Grid-stride loops on the CPU: a row of threads goes through its rounds together."""

from __future__ import annotations

import numpy as np
import pytest

from numba_gpucore.base.mailbox import read_mailbox
from tests.unit.cpu_programs import array, compile_ir, device, launch, load_ir, scalar

INT64 = array("int64")

#: o[i] += i for i = x, x + size of the grid, ... below n: as `while`, and as Numba's ranges count rounds.
#: {before} comes before the loop, {work} in it, {after} after it.
WHILE_STRIDE = """
  %i0 = call i64 @gpu.global_id.x(ptr %c)
  %size = call i64 @gpu.global_size.x(ptr %c)
  {before}
  %some = icmp slt i64 %i0, %p2
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [ %i0, %0 ], [ %i.next, %again ]
  %at = getelementptr i64, ptr %p0, i64 %i
  %old = load i64, ptr %at
  %new = add i64 %old, %i
  store i64 %new, ptr %at
  {work}
  br label %again
again:
  %i.next = add i64 %i, %size
  %more = icmp slt i64 %i.next, %p2
  br i1 %more, label %loop, label %end
end:
  {after}
  ret void
"""
RANGE_STRIDE = """
  %i0 = call i64 @gpu.global_id.x(ptr %c)
  %size = call i64 @gpu.global_size.x(ptr %c)
  {before}
  %distance = sub i64 %p2, %i0
  %none = icmp slt i64 %distance, 1
  br i1 %none, label %end, label %count
count:
  %rest = srem i64 %distance, %size
  %has_rest = icmp ne i64 %rest, 0
  %whole = sdiv i64 %distance, %size
  %one = zext i1 %has_rest to i64
  %rounds = add i64 %whole, %one
  br label %loop
loop:
  %left = phi i64 [ %rounds, %count ], [ %left.next, %again ]
  %i = phi i64 [ %i0, %count ], [ %i.next, %again ]
  %at = getelementptr i64, ptr %p0, i64 %i
  %old = load i64, ptr %at
  %new = add i64 %old, %i
  store i64 %new, ptr %at
  {work}
  br label %again
again:
  %left.next = sub i64 %left, 1
  %i.next = add i64 %i, %size
  %more = icmp sgt i64 %left.next, 0
  br i1 %more, label %loop, label %end
end:
  {after}
  ret void
"""
STRIDE_TYPES = (INT64, scalar("int64"))
STRIDE_LIMITS = [-(2**62), -1, 0, 1, 63, 64, 65, 500, 1000]
#: Things beside the loop that show which round a thread is in, or that happen once a thread: %p1 is the extent of o,
#: whose last items nothing else touches.
ASIDE = """
  %aside{0} = sub i64 %p1, 1
  %aside.at{0} = getelementptr i64, ptr %p0, i64 %aside{0}
  %aside.old{0} = load i64, ptr %aside.at{0}
  %aside.new{0} = add i64 %aside.old{0}, {1}
  store i64 %aside.new{0}, ptr %aside.at{0}
"""


def run_stride(form: str, limit: int, before: str = "", work: str = "", after: str = "", grid: int = 4) -> np.ndarray:
    program = load_ir(form.format(before=before, work=work, after=after), STRIDE_TYPES)
    out = np.zeros(1001, np.int64)
    launch(program, grid, 16, out, limit)
    return out


def expect_stride(limit: int) -> np.ndarray:
    return np.where(np.arange(1001) < limit, np.arange(1001), 0)


@pytest.mark.parametrize("form", [WHILE_STRIDE, RANGE_STRIDE], ids=["while", "range"])
def test_grid_stride_loops_are_vectorised_across_threads(form: str) -> None:
    """Rounds are counted by no division any more: only blocks are, in unsigned numbers."""
    text = compile_ir(form.format(before="", work="", after=""), STRIDE_TYPES).text
    assert " x i64>" in text
    assert "sdiv" not in text
    assert "llvm.masked" not in text


@pytest.mark.parametrize("limit", STRIDE_LIMITS)
@pytest.mark.parametrize("form", [WHILE_STRIDE, RANGE_STRIDE], ids=["while", "range"])
def test_grid_stride_loops_visit_each_item_once(form: str, limit: int) -> None:
    np.testing.assert_array_equal(run_stride(form, limit), expect_stride(limit))


@pytest.mark.parametrize("form", [WHILE_STRIDE, RANGE_STRIDE], ids=["while", "range"])
@pytest.mark.parametrize("place", ["before", "after", "both"])
def test_what_a_thread_does_beside_its_loop_happens_once(form: str, place: str) -> None:
    parts = {"before": ASIDE.format(0, 1), "after": ASIDE.format(1, 1)}
    wanted = expect_stride(500)
    wanted[1000] = 64 * (2 if place == "both" else 1)
    out = run_stride(form, 500, **(parts if place == "both" else {place: parts[place]}))
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("form", [WHILE_STRIDE, RANGE_STRIDE], ids=["while", "range"])
def test_rounds_that_look_at_the_thread_itself(form: str) -> None:
    """Each round adds the thread's own x: 7 or 8 rounds of 64 threads over 500 items."""
    wanted = expect_stride(500)
    wanted[1000] = sum(i % 64 for i in range(500))
    np.testing.assert_array_equal(run_stride(form, 500, work=ASIDE.format(0, "%i0")), wanted)


@pytest.mark.parametrize("form", [WHILE_STRIDE, RANGE_STRIDE], ids=["while", "range"])
def test_a_thread_that_breaks_out_of_its_loop_does_no_later_round(form: str) -> None:
    """Threads leave when i is 70 or 80: of these, i = 134, 144, ... are not visited."""
    leave = """
  %is70 = icmp eq i64 %i, 70
  %is80 = icmp eq i64 %i, 80
  %leave = or i1 %is70, %is80
  br i1 %leave, label %end, label %stay
stay:
"""
    items = np.arange(1001)
    left = np.isin(items % 64, [70 % 64, 80 % 64]) & (items > 80)
    np.testing.assert_array_equal(run_stride(form, 500, work=leave), np.where(left, 0, expect_stride(500)))


def test_another_condition_on_x_holds_for_the_thread_not_for_its_rounds() -> None:
    """Threads from 32 on do nothing; the others run all their rounds."""
    other = """
  %low = icmp slt i64 %i0, 32
  br i1 %low, label %go, label %end
go:
"""
    form = WHILE_STRIDE.replace("[ %i0, %0 ]", "[ %i0, %go ]")
    items = np.arange(1001)
    np.testing.assert_array_equal(run_stride(form, 500, before=other), np.where(items % 64 < 32, expect_stride(500), 0))


def test_a_loop_that_runs_at_least_once_is_kept() -> None:
    """do ... while: the first round has no guard."""
    form = WHILE_STRIDE.replace("br i1 %some, label %loop, label %end", "br label %loop")
    wanted = np.arange(1001) * (np.arange(1001) < 64)
    np.testing.assert_array_equal(run_stride(form, 10), wanted)


def test_a_throw_in_a_grid_stride_loop_names_its_thread() -> None:
    check = """
  %bad = icmp uge i64 %i, %p1
  br i1 %bad, label %throw, label %work
throw:
  %site = call i32 @site.0()
  call void @gpu.throw(ptr %c, i32 %site, i64 %i, i64 0, i64 %p1, i64 0)
  ret void
work:
"""
    body = WHILE_STRIDE.format(before="", work="", after="").replace("  %at = ", check + "  %at = ")
    program = load_ir(body, STRIDE_TYPES, sites=1)
    out = np.zeros(900, np.int64)
    launch(program, 4, 16, out, 900)
    np.testing.assert_array_equal(out, np.arange(900))
    assert read_mailbox(device().take_mailbox()) is None
    assert " x i64>" in compile_ir(body, STRIDE_TYPES, sites=1).text
    launch(program, 4, 16, out, 965)
    report = read_mailbox(device().take_mailbox())
    x = report.block[0] * 16 + report.thread[0]
    assert report.site == 0
    # The thread of item 900 fails in two rounds, which do not make two threads.
    assert (report.count, report.has_details, report.counts_all) == (1, True, False)
    assert report.numbers[0] in (x + 64 * 14, x + 64 * 15)
    assert 900 <= report.numbers[0] < 965
