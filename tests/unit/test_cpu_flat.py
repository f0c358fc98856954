"""Flat programs on the CPU: loops over threads, conditions that become bounds, merged blocks, throws."""

from __future__ import annotations

import re

import numpy as np
import pytest

from numba_gpucore.base.mailbox import read_mailbox
from numba_gpucore.cpu.device import CpuDevice
from numba_gpucore.cpu.merge_blocks import MAX_ROW_THREADS
from numba_gpucore.cpu.shape import MAX_FLAT_SITES
from numba_gpucore.cpu.thread_text import name_plainly
from tests.unit.cpu_programs import array, compile_ir, device, launch, load_ir, scalar

INT32, INT64, FLOAT32 = array("int32"), array("int64"), array("float32")

#: r[i] = a * x[i] + y[i] for i < r.size; %p6 is the extent of r.
SAXPY = """
  %i = call i64 @gpu.global_id.x(ptr %c)
  %inside = icmp slt i64 %i, %p6
  br i1 %inside, label %work, label %end
work:
  %x.at = getelementptr float, ptr %p1, i64 %i
  %y.at = getelementptr float, ptr %p3, i64 %i
  %r.at = getelementptr float, ptr %p5, i64 %i
  %x = load float, ptr %x.at
  %y = load float, ptr %y.at
  %ax = fmul float %p0, %x
  %r = fadd float %ax, %y
  store float %r, ptr %r.at
  br label %end
end:
  ret void
"""
SAXPY_TYPES = (scalar("float32"), FLOAT32, FLOAT32, FLOAT32)


def saxpy_arrays(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)


@pytest.mark.parametrize("n", [1, 31, 1000, 100_003])
@pytest.mark.parametrize("block", [1, 32, 256, 1024])
def test_guarded_kernel_writes_each_item_once(n: int, block: int) -> None:
    x, y, r = saxpy_arrays(n)
    launch(load_ir(SAXPY, SAXPY_TYPES), -(-n // block), block, 2.0, x, y, r)
    np.testing.assert_array_equal(r, np.float32(2) * x + y)


def test_guarded_kernel_is_vectorised_across_threads_without_masks() -> None:
    text = compile_ir(SAXPY, SAXPY_TYPES).text
    assert " x float>" in text
    assert "llvm.masked" not in text


@pytest.mark.parametrize("opt", [0, 1, 2, 3])
def test_every_optimisation_level_gives_the_same(opt: int) -> None:
    x, y, r = saxpy_arrays(1000)
    launch(load_ir(SAXPY, SAXPY_TYPES, opt=opt), 4, 256, 2.0, x, y, r)
    np.testing.assert_array_equal(r, np.float32(2) * x + y)


#: o[i] += 1 where x compares with %p2, an int64 argument; o has 64 items and a frame of 8 on both sides.
COMPARE = """
  %i = call i64 @gpu.global_id.x(ptr %c)
  %place = {place}
  %inside = icmp {compare}
  br i1 %inside, label %work, label %end
work:
  %at = getelementptr i32, ptr %p0, i64 %i
  %old = load i32, ptr %at
  %new = add i32 %old, 1
  store i32 %new, ptr %at
  br label %end
end:
  ret void
"""
LIMITS = [-(2**63), -5, -1, 0, 1, 7, 33, 63, 64, 65, 2**62, 2**63 - 1]
PREDICATES = {
    "slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal, "eq": np.equal,
}  # fmt: skip


@pytest.mark.parametrize("offset", [0, -3, 3])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_any_condition_on_x_keeps_its_meaning(predicate: str, offset: int) -> None:
    """Thread x does something exactly if `x + offset <predicate> limit`, by NumPy on the same numbers."""
    body = COMPARE.format(place=f"add nsw i64 %i, {offset}", compare=f"{predicate} i64 %place, %p2")
    program = load_ir(body, (INT32, scalar("int64")))
    for limit in LIMITS:
        out = np.zeros(64, np.int32)
        launch(program, 4, 16, out, limit)
        np.testing.assert_array_equal(out, PREDICATES[predicate](np.arange(64) + offset, limit), err_msg=f"{limit}")


@pytest.mark.parametrize("predicate", ["ult", "ule", "ugt", "uge"])
def test_unsigned_conditions_on_x_keep_their_meaning(predicate: str) -> None:
    body = COMPARE.format(place="add i64 %i, 0", compare=f"{predicate} i64 %place, %p2")
    program = load_ir(body, (INT32, scalar("int64")))
    compare = PREDICATES["s" + predicate[1:]]
    for limit in LIMITS:
        out = np.zeros(64, np.int32)
        launch(program, 4, 16, out, limit)
        np.testing.assert_array_equal(out, compare(np.arange(64, dtype=np.uint64), np.uint64(limit % 2**64)))


def test_a_range_of_x_becomes_bounds_on_both_sides() -> None:
    """0 < i < n - 1, as stencils have it."""
    body = """
      %i = call i64 @gpu.global_id.x(ptr %c)
      %last = sub nsw i64 %p1, 1
      %low = icmp sgt i64 %i, 0
      br i1 %low, label %more, label %end
    more:
      %high = icmp slt i64 %i, %last
      br i1 %high, label %work, label %end
    work:
      %at = getelementptr i32, ptr %p0, i64 %i
      store i32 1, ptr %at
      br label %end
    end:
      ret void
    """
    compiled = compile_ir(body, (INT32,))
    assert "llvm.masked" not in compiled.text
    program = device().load(compiled.artifact)
    for n in (0, 1, 2, 3, 50, 64, 100):
        out = np.zeros(128, np.int32)
        launch(program, 4, 16, out[:n])
        assert out.sum() == max(min(n - 1, 64) - 1, 0)
        assert out[0] == 0


def test_an_else_branch_is_not_skipped() -> None:
    body = """
      %i = call i64 @gpu.global_id.x(ptr %c)
      %at = getelementptr i32, ptr %p0, i64 %i
      %low = icmp slt i64 %i, 10
      br i1 %low, label %first, label %second
    first:
      store i32 1, ptr %at
      ret void
    second:
      store i32 2, ptr %at
      ret void
    """
    out = np.zeros(64, np.int32)
    launch(load_ir(body, (INT32,)), 4, 16, out)
    np.testing.assert_array_equal(out, np.where(np.arange(64) < 10, 1, 2))


#: o[((z * height + y) * width + x] = a mix of everything that tells where a thread is.
PLACES = ["thread_id", "block_id", "block_dim", "grid_dim"]


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("name", PLACES)
def test_places_in_three_dimensions(name: str, axis: str) -> None:
    grid, block = (3, 2, 4), (5, 3, 2)
    body = f"""
      %x = call i64 @gpu.global_id.x(ptr %c)
      %y = call i64 @gpu.global_id.y(ptr %c)
      %z = call i64 @gpu.global_id.z(ptr %c)
      %w = call i64 @gpu.global_size.x(ptr %c)
      %h = call i64 @gpu.global_size.y(ptr %c)
      %zh = mul i64 %z, %h
      %row = add i64 %zh, %y
      %before = mul i64 %row, %w
      %i = add i64 %before, %x
      %v = call i32 @gpu.{name}.{axis}(ptr %c)
      %at = getelementptr i32, ptr %p0, i64 %i
      store i32 %v, ptr %at
      ret void
    """
    out = np.full((8, 6, 15), -1, np.int32)
    types = (array("int32", 3),)
    launch(load_ir(body, types), grid, block, out)
    k = "xyz".index(axis)
    place = np.indices(out.shape)[2 - k]
    wanted = {
        "thread_id": place % block[k],
        "block_id": place // block[k],
        "block_dim": np.full(out.shape, block[k]),
        "grid_dim": np.full(out.shape, grid[k]),
    }
    np.testing.assert_array_equal(out, wanted[name])


def test_blocks_are_merged_where_only_their_sum_counts() -> None:
    """i = blockIdx.x * blockDim.x + threadIdx.x in 64 bits, as Numba computes it: the row is not cut into blocks."""
    body = SAXPY.replace(
        "%i = call i64 @gpu.global_id.x(ptr %c)",
        """%t = call i32 @gpu.thread_id.x(ptr %c)
  %b = call i32 @gpu.block_id.x(ptr %c)
  %n = call i32 @gpu.block_dim.x(ptr %c)
  %t.wide = sext i32 %t to i64
  %b.wide = sext i32 %b to i64
  %n.wide = sext i32 %n to i64
  %first = mul i64 %b.wide, %n.wide
  %i = add nsw i64 %t.wide, %first""",
    )
    merged = compile_ir(body, SAXPY_TYPES)
    assert merged.text == compile_ir(SAXPY, SAXPY_TYPES).text
    x, y, r = saxpy_arrays(1000)
    launch(device().load(merged.artifact), 63, 16, 2.0, x, y, r)
    np.testing.assert_array_equal(r, np.float32(2) * x + y)


def test_lanes_and_shared_memory_without_barriers_stay_with_their_block() -> None:
    body = """
      %t = call i32 @gpu.lane_id(ptr %c)
      %i = call i64 @gpu.global_id.x(ptr %c)
      %sh = call ptr @"gpu.shared.4.4.0"(ptr %c)
      %old = load i32, ptr %sh
      %zero = icmp eq i32 %t, 0
      %kept = select i1 %zero, i32 0, i32 %old
      %new = add i32 %kept, 1
      store i32 %new, ptr %sh
      %at = getelementptr i32, ptr %p0, i64 %i
      store i32 %new, ptr %at
      ret void
    """
    out = np.zeros(160, np.int32)
    launch(load_ir(body, (INT32,)), 5, 32, out)
    np.testing.assert_array_equal(out, np.tile(np.arange(32), 5) + 1)


#: o[i + %p2] = 1 with a bounds check that throws site 1.
CHECKED = """
  %i = call i64 @gpu.global_id.x(ptr %c)
  %j = add nsw i64 %i, %p2
  %bad = icmp uge i64 %i, %p1
  br i1 %bad, label %throw, label %work
throw:
  %site = call i32 @site.1()
  call void @gpu.throw(ptr %c, i32 %site, i64 %i, i64 0, i64 %p1, i64 0)
  ret void
work:
  %at = getelementptr i32, ptr %p0, i64 %i
  store i32 1, ptr %at
  {more}
  ret void
"""


def test_threads_whose_x_is_too_large_report_everything() -> None:
    out = np.zeros(1000, np.int32)
    program = load_ir(CHECKED.format(more=""), (INT32, scalar("int64")), sites=2)
    launch(program, 10, 128, out, 0)
    report = read_mailbox(device().take_mailbox())
    assert (report.site, report.program) == (1, program.number)
    assert (report.count, report.has_details, report.counts_all) == (10 * 128 - 1000, True, True)
    x = report.block[0] * 128 + report.thread[0]
    assert x >= 1000
    assert report.numbers == (x, 0, 1000, 0)
    assert out.all()
    assert read_mailbox(device().take_mailbox()) is None


def test_rows_whose_y_is_too_large_report_everything() -> None:
    """A condition on y is the same for a whole row."""
    body = CHECKED.format(more="").replace("%bad = icmp uge i64 %i, %p1", "%bad = icmp uge i64 %y, 5")
    body = f"  %y = call i64 @gpu.global_id.y(ptr %c)\n{body}"
    out = np.zeros(32, np.int32)
    program = load_ir(body, (INT32, scalar("int64")), sites=2)
    launch(program, (2, 4), (16, 2), out, 0)
    report = read_mailbox(device().take_mailbox())
    assert (report.count, report.has_details) == (3 * 32, True)
    assert report.block[1] * 2 + report.thread[1] >= 5
    assert out.all()


def test_a_throw_that_depends_on_memory_names_the_first_thread_of_its_row() -> None:
    """Such threads run among the others, in vectors."""
    body = CHECKED.format(more="").replace(
        "%bad = icmp uge i64 %i, %p1",
        "%seen.at = getelementptr i32, ptr %p0, i64 %i\n%seen = load i32, ptr %seen.at\n%bad = icmp sgt i32 %seen, 6",
    )
    out = np.full(1280, 5, np.int32)
    out[900::100] = 7
    program = load_ir(body, (INT32, scalar("int64")), sites=2)
    assert " x i32>" in compile_ir(body, (INT32, scalar("int64")), sites=2).text
    launch(program, 10, 128, out, 0)
    report = read_mailbox(device().take_mailbox())
    assert (report.site, report.block, report.thread) == (1, (7, 0, 0), (4, 0, 0))
    assert not report.has_details
    assert set(np.flatnonzero(out == 7)) == {900, 1000, 1100, 1200}
    assert (np.delete(out, range(900, 1280, 100)) == 1).all()


@pytest.mark.parametrize("sites", [MAX_FLAT_SITES, MAX_FLAT_SITES + 1])
def test_the_last_site_in_the_last_place_of_the_longest_row_is_told(sites: int) -> None:
    """16 chunks of a row each, whose last thread throws. One site more, in all 12 bits, would say -1: no failure."""
    body = f"""
      %i = call i64 @gpu.global_id.x(ptr %c)
      %item = urem i64 %i, {MAX_ROW_THREADS}
      %at = getelementptr i32, ptr %p0, i64 %item
      %seen = load i32, ptr %at
      %bad = icmp sgt i32 %seen, 6
      br i1 %bad, label %throw, label %done
    throw:
      %site = call i32 @site.{sites - 1}()
      call void @gpu.throw(ptr %c, i32 %site, i64 0, i64 0, i64 0, i64 0)
      ret void
    done:
      ret void
    """
    items = np.zeros(MAX_ROW_THREADS, np.int32)
    items[-1] = 7
    own = CpuDevice(0, 1)
    program = own.load(compile_ir(body, (INT32,), sites=sites).artifact)
    launch(program, 16 * MAX_ROW_THREADS // 1024, 1024, items, on=own)
    report = read_mailbox(own.take_mailbox())
    assert (report.site, report.count, report.block[0] % 1024, report.thread[0]) == (sites - 1, 16, 1023, 1023)


def test_threads_with_other_work_to_do_stay_in_vectors() -> None:
    """Of threads on both sides of a comparison of x, those on either side may be many."""
    body = """
      %i = call i64 @gpu.global_id.x(ptr %c)
      %at = getelementptr i32, ptr %p0, i64 %i
      %old = load i32, ptr %at
      %small = icmp slt i64 %i, %p2
      br i1 %small, label %low, label %high
    low:
      %new.low = mul i32 %old, 3
      store i32 %new.low, ptr %at
      ret void
    high:
      %new.high = xor i32 %old, 5
      store i32 %new.high, ptr %at
      ret void
    """
    out = np.arange(1280, dtype=np.int32)
    launch(load_ir(body, (INT32, scalar("int64"))), 10, 128, out, 300)
    np.testing.assert_array_equal(out, np.where(np.arange(1280) < 300, np.arange(1280) * 3, np.arange(1280) ^ 5))
    text = compile_ir(body, (INT32, scalar("int64"))).text
    (every,) = re.findall(r"^define [^\n]*@gpu\.run_threads\(.*?^}", text, re.MULTILINE | re.DOTALL)
    assert " x i32>" in every


def test_checks_that_pass_cost_no_masks() -> None:
    """Rows that lie within the array run a version of the code without the check."""
    text = compile_ir(CHECKED.format(more=""), (INT32, scalar("int64")), sites=2).text
    assert " x i32>" in text


def test_a_throw_beside_atomics_has_all_details() -> None:
    body = CHECKED.format(more="%old = atomicrmw add ptr %p0, i32 1 monotonic")
    program = load_ir(body, (INT32, scalar("int64")), sites=2)
    out = np.zeros(1000, np.int32)
    launch(program, (10, 1, 1), (100, 1, 1), out, 0)
    assert read_mailbox(device().take_mailbox()) is None
    launch(program, 11, 100, out, 0)
    report = read_mailbox(device().take_mailbox())
    assert (report.count, report.site, report.block[0], report.has_details) == (100, 1, 10, True)
    assert report.numbers == (1000 + report.thread[0], 0, 1000, 0)


def test_recursive_functions_stay_functions() -> None:
    more = """
define internal i64 @fibonacci(ptr %c, i64 %n) {
  %small = icmp slt i64 %n, 2
  br i1 %small, label %end, label %deeper
deeper:
  %a = sub i64 %n, 1
  %b = sub i64 %n, 2
  %x = call i64 @fibonacci(ptr %c, i64 %a)
  %y = call i64 @fibonacci(ptr %c, i64 %b)
  %s = add i64 %x, %y
  ret i64 %s
end:
  ret i64 %n
}"""
    body = """
      %i = call i64 @gpu.global_id.x(ptr %c)
      %f = call i64 @fibonacci(ptr %c, i64 %i)
      %at = getelementptr i64, ptr %p0, i64 %i
      store i64 %f, ptr %at
      ret void
    """
    out = np.zeros(16, np.int64)
    launch(load_ir(body, (INT64,), recursion=True, more=more), 2, 8, out)
    assert out.tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610]


def test_quoted_names_become_plain() -> None:
    """LLVM quotes names with a `$`, which Numba uses; texts keep their quotes."""
    text = (
        '  %"$phi.1" = add i64 %x, %"$x-1"\n"b$":\n  br label %"b$"\n'
        '@a = constant { [2 x i8], [1 x i8] } { c"a%", c"b" }'
    )
    assert name_plainly(text) == (
        "  %.24.phi.1 = add i64 %x, %.24.x-1\nb.24.:\n  br label %b.24.\n"
        '@a = constant { [2 x i8], [1 x i8] } { c"a%", c"b" }'
    )
