"""A loop's count of rounds goes where its variable tells the same, and only there."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from numba_ptxplus.codegen.loop_counts import drop_loop_counts

#: for i in range(0, n, 16): as Numba and LLVM leave it.
LOOP = """define void @kernel(i64 %n, ptr %x) {
entry:
  %sum = add nuw nsw i64 %n, 15
  %rounds = lshr i64 %sum, 4
  %none = icmp eq i64 %rounds, 0
  br i1 %none, label %end, label %body
body:
  %count = phi i64 [ %rounds, %entry ], [ %fewer, %body ]
  %i = phi i64 [ %next, %body ], [ 0, %entry ]
  store volatile i64 %i, ptr %x
  %fewer = add nsw i64 %count, -1
  %next = add nuw nsw i64 %i, 16
  %left = icmp sgt i64 %count, 1
  br i1 %left, label %body, label %end
end:
  ret void
}
"""


def test_the_variable_takes_the_counts_place():
    text = drop_loop_counts(LOOP)
    llvm.parse_assembly(text).verify()
    assert "%left = icmp ult i64 %next, %n" in text
    assert "%count" not in text and "%fewer" not in text


def test_rounds_by_division():
    text = drop_loop_counts(
        LOOP.replace("i64 %n, 15", "i64 %n, 11")
        .replace("lshr i64 %sum, 4", "udiv i64 %sum, 12")
        .replace("%i, 16", "%i, 12")
    )
    assert "%left = icmp ult i64 %next, %n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("[ 0, %entry ]", "[ 5, %entry ]", id="does not start at 0"),
        pytest.param("%i, 16", "%i, 8", id="another step"),
        pytest.param("i64 %n, 15", "i64 %n, 16", id="one round more"),
        pytest.param("store volatile i64 %i", "store volatile i64 %count", id="the count is used"),
        pytest.param("add nuw nsw i64 %i", "add i64 %i", id="the variable may wrap"),
        pytest.param("i64 %count, 1", "i64 %count, 2", id="ends earlier"),
        pytest.param("label %body, label %end\nend", "label %end, label %body\nend", id="goes on the other way"),
    ],
)
def test_other_loops_stay(old, new):
    assert old in LOOP
    text = LOOP.replace(old, new)
    llvm.parse_assembly(text).verify()
    assert "%count = phi" in drop_loop_counts(text)
