"""Flat programs on the CPU whose rows run along y or z, since neighbours there are neighbours in memory."""

from __future__ import annotations

import numpy as np
import pytest

from numba_gpucore.base.mailbox import read_mailbox
from tests.unit.cpu_programs import Compiled, array, compile_ir, device, launch, scalar

AXES = "xyz"
#: Which axes are the row and the column of a matrix, and the axis of rows of threads: that of columns.
PLACES = [("y", "x", 0), ("x", "y", 1), ("z", "y", 1), ("x", "z", 2), ("y", "z", 2), ("z", "x", 0)]
TYPES = (array("int32", 2), scalar("int64"))

#: %i, %j = the thread's place in the grid along two axes.
PLACE = """
  %i = call i64 @gpu.global_id.{row}(ptr %c)
  %j = call i64 @gpu.global_id.{column}(ptr %c)
"""
#: The same as programs write it with blockIdx, blockDim and threadIdx.
PLACE_BY_HAND = "".join(
    f"""
  %t.{name} = call i32 @gpu.thread_id.{{{axis}}}(ptr %c)
  %b.{name} = call i32 @gpu.block_id.{{{axis}}}(ptr %c)
  %n.{name} = call i32 @gpu.block_dim.{{{axis}}}(ptr %c)
  %t.{name}.wide = sext i32 %t.{name} to i64
  %b.{name}.wide = sext i32 %b.{name} to i64
  %n.{name}.wide = sext i32 %n.{name} to i64
  %first.{name} = mul i64 %b.{name}.wide, %n.{name}.wide
  %{name} = add nsw i64 %t.{name}.wide, %first.{name}
"""
    for name, axis in (("i", "row"), ("j", "column"))
)
#: o[i, j] += 1000 * i + j for all i, j inside; where a condition holds, threads throw site 1 instead.
ADD = """
  %low = icmp slt i64 %i, %p1
  %left = icmp slt i64 %j, %p2
  %inside = and i1 %low, %left
  br i1 %inside, label %check, label %end
check:
  %before = mul i64 %i, %p2
  %item = add i64 %before, %j
  %at = getelementptr i32, ptr %p0, i64 %item
  %old = load i32, ptr %at
  %bad = icmp {bad}
  br i1 %bad, label %throw, label %work
throw:
  %site = call i32 @site.1()
  call void @gpu.throw(ptr %c, i32 %site, i64 %i, i64 0, i64 %j, i64 0)
  ret void
work:
  %i.many = mul i64 %i, 1000
  %sum = add i64 %i.many, %j
  %more = trunc i64 %sum to i32
  %new = add i32 %old, %more
  store i32 %new, ptr %at
  br label %end
end:
  ret void
"""
NEVER = "slt i64 %p3, 0"


def compile_add(row: str, column: str, bad: str = NEVER, place: str = PLACE, **options) -> Compiled:
    body = place.format(row=row, column=column) + ADD.format(bad=bad)
    return compile_ir(body, TYPES, sites=2, **options)


def extents(row: str, column: str, n_rows: int, n_columns: int) -> tuple[int, int, int]:
    """An extent of 1 along the third axis."""
    n = {row: n_rows, column: n_columns}
    return n.get("x", 1), n.get("y", 1), n.get("z", 1)


@pytest.mark.parametrize("place", [PLACE, PLACE_BY_HAND], ids=["grid", "by hand"])
@pytest.mark.parametrize(("row", "column", "axis"), PLACES)
def test_rows_run_where_items_are_neighbours(row: str, column: str, axis: int, place: str) -> None:
    compiled = compile_add(row, column, place=place)
    assert compiled.artifact.fact("row_axis") == axis
    assert " x i32>" in compiled.text
    assert "llvm.masked" not in compiled.text
    out = np.ones((37, 53), np.int32)
    block = extents(row, column, 8, 4)
    launch(device().load(compiled.artifact), extents(row, column, 5, 14), block, out, 0)
    i, j = np.indices(out.shape)
    np.testing.assert_array_equal(out, 1 + 1000 * i + j)


@pytest.mark.parametrize(("row", "column", "axis"), PLACES)
def test_reports_name_the_thread_whose_column_is_too_large(row: str, column: str, axis: int) -> None:
    """Columns from 50 on throw, in all 37 rows."""
    program = device().load(compile_add(row, column, "sge i64 %j, %p3").artifact)
    out = np.zeros((37, 53), np.int32)
    launch(program, extents(row, column, 5, 14), extents(row, column, 8, 4), out, 50)
    report = read_mailbox(device().take_mailbox())
    assert (report.site, report.program, report.count, report.counts_all) == (1, program.number, 37 * 3, True)
    i = report.block[AXES.index(row)] * 8 + report.thread[AXES.index(row)]
    j = report.block[AXES.index(column)] * 4 + report.thread[AXES.index(column)]
    assert 0 <= i < 37 and 50 <= j < 53
    assert report.numbers == (i, 0, j, 0)
    third = 3 - AXES.index(row) - AXES.index(column)
    assert report.block[third] == report.thread[third] == 0


@pytest.mark.parametrize(("row", "column", "axis"), PLACES)
def test_reports_name_the_thread_that_throws_for_its_item(row: str, column: str, axis: int) -> None:
    """Row 21 is in block 2 of 8 rows, and column 30 in block 7 of 4 columns."""
    program = device().load(compile_add(row, column, "sgt i32 %old, 6").artifact)
    out = np.zeros((37, 53), np.int32)
    out[21, 30] = 7
    launch(program, extents(row, column, 5, 14), extents(row, column, 8, 4), out, 0)
    report = read_mailbox(device().take_mailbox())
    block, thread = [0, 0, 0], [0, 0, 0]
    block[AXES.index(row)], thread[AXES.index(row)] = 2, 5
    block[AXES.index(column)], thread[AXES.index(column)] = 7, 2
    assert (report.site, report.count, report.block, report.thread) == (1, 1, tuple(block), tuple(thread))
    assert not report.has_details
    i, j = np.indices(out.shape)
    np.testing.assert_array_equal(out, np.where((i == 21) & (j == 30), 7, 1000 * i + j))


def test_more_blocks_in_x_than_y_may_have() -> None:
    out = np.zeros((70_000, 2), np.int32)
    compiled = compile_add("x", "y")
    assert compiled.artifact.fact("row_axis") == 1
    launch(device().load(compiled.artifact), (70_000, 2), 1, out, 0)
    i, j = np.indices(out.shape)
    np.testing.assert_array_equal(out, 1000 * i + j)


def test_threads_that_go_on_through_y_by_the_size_of_the_grid() -> None:
    """o[i, j] += 1 for j = y, y + 8, … below 53: 7 rounds of 8 threads."""
    body = """
      %i = call i64 @gpu.global_id.x(ptr %c)
      %j.first = call i64 @gpu.global_id.y(ptr %c)
      %step = call i64 @gpu.global_size.y(ptr %c)
      %before = mul i64 %i, %p2
      %some = icmp slt i64 %j.first, %p2
      br i1 %some, label %loop, label %end
    loop:
      %j = phi i64 [ %j.first, %0 ], [ %j.next, %loop ]
      %item = add i64 %before, %j
      %at = getelementptr i32, ptr %p0, i64 %item
      %old = load i32, ptr %at
      %new = add i32 %old, 1
      store i32 %new, ptr %at
      %j.next = add nsw i64 %j, %step
      %more = icmp slt i64 %j.next, %p2
      br i1 %more, label %loop, label %end
    end:
      ret void
    """
    compiled = compile_ir(body, (array("int32", 2),))
    assert compiled.artifact.fact("row_axis") == 1
    out = np.zeros((6, 53), np.int32)
    launch(device().load(compiled.artifact), (3, 2), (2, 4), out)
    assert (out == 1).all()


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ("%lane = call i32 @gpu.lane_id(ptr %c)", {}),
        ('%shared = call ptr @"gpu.shared.4.4.0"(ptr %c)', {}),
        ("%seen = atomicrmw add ptr %p0, i32 0 monotonic", {}),
        ("%nothing = add i64 0, 0", {"opt": 0}),
    ],
    ids=["lanes", "shared memory", "atomics", "not optimised"],
)
def test_programs_that_look_at_more_than_their_place_keep_x(more: str, options: dict) -> None:
    assert compile_add("x", "y", place=f"{PLACE}\n{more}\n", **options).artifact.fact("row_axis") == 0


@pytest.mark.parametrize(("row", "column", "axis"), PLACES)
def test_rows_take_the_shorter_steps(row: str, column: str, axis: int) -> None:
    """o[i, j, 1] = i + j: neither axis comes to the address as it is."""
    body = (
        PLACE.format(row=row, column=column)
        + """
      %before = mul i64 %i, %p2
      %item = add i64 %before, %j
      %first = mul i64 %item, %p3
      %one = add i64 %first, 1
      %at = getelementptr i32, ptr %p0, i64 %one
      %sum = add i64 %i, %j
      %new = trunc i64 %sum to i32
      store i32 %new, ptr %at
      ret void
    """
    )
    compiled = compile_ir(body, (array("int32", 3),))
    assert compiled.artifact.fact("row_axis") == axis
    out = np.zeros((6, 8, 3), np.int32)
    launch(device().load(compiled.artifact), extents(row, column, 3, 2), extents(row, column, 2, 4), out)
    i, j, k = np.indices(out.shape)
    np.testing.assert_array_equal(out, np.where(k == 1, i + j, 0))


def test_copies_between_rows_and_columns_keep_x() -> None:
    """One address for x, one for y."""
    body = (
        PLACE.format(row="x", column="y")
        + """
      %from.row = mul i64 %i, %p2
      %from = add i64 %from.row, %j
      %from.at = getelementptr i32, ptr %p0, i64 %from
      %to.row = mul i64 %j, %p2
      %to = add i64 %to.row, %i
      %to.at = getelementptr i32, ptr %p3, i64 %to
      %item = load i32, ptr %from.at
      store i32 %item, ptr %to.at
      ret void
    """
    )
    assert compile_ir(body, (array("int32", 2),) * 2).artifact.fact("row_axis") == 0
