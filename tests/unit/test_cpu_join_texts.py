"""Modules joined as text: LLVM takes the result, and each function says whether it is seen and inlined."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from numba_gpucore.cpu.frame_size import limit_alignment
from numba_gpucore.cpu.join_texts import join_texts

#: As LLVM writes a module: numbered attributes and metadata, names in quotes where they need them.
FIRST = """
; ModuleID = 'first'
source_filename = "first.py"
target triple = "x86_64-unknown-linux-gnu"

@seen = constant i64 1
@hidden = local_unnamed_addr global i64 2
@elsewhere = external global i64

define i32 @entry(ptr %c) #0 {
  %a = call i32 @plain(ptr %c), !note !0
  %b = call i32 @"quoted $name"(ptr %c)
  ret i32 %a
}
define i32 @plain(ptr %c) #0 align 16 {
  ret i32 1
}
define i32 @"quoted $name"(ptr %c) local_unnamed_addr #1 {
  ret i32 2
}
define i32 @placed(ptr %c) unnamed_addr #0 section "some place" align 16 personality ptr @plain !note !0 {
  ret i32 5
}
define i32 @calls_itself(ptr %c) {
  %r = call i32 @calls_itself(ptr %c)
  ret i32 %r
}
define weak hidden i32 @weak(ptr %c) {
  ret i32 3
}
declare i32 @defined_in_second(ptr)

attributes #0 = { nounwind }
attributes #1 = { noinline nounwind }
!0 = !{}
"""
SECOND = """
@elsewhere = global i64 5

define i32 @defined_in_second(ptr %c) {
  %r = call i32 @plain(ptr %c)
  %n = call i32 @unknown(ptr %c)
  ret i32 %r
}
define internal i32 @own(ptr %c) alwaysinline {
  ret i32 4
}
declare i32 @plain(ptr)
declare i32 @unknown(ptr)
declare i32 @unknown(ptr)
"""


@pytest.fixture(scope="module")
def joined() -> llvm.ModuleRef:
    text = join_texts([FIRST, SECOND], frozenset({"entry", "seen"}), frozenset({"calls_itself"}))
    module = llvm.parse_assembly(text)
    module.verify()
    return module


def test_only_visible_symbols_and_weak_ones_can_be_linked_to(joined: llvm.ModuleRef) -> None:
    values = (*joined.functions, *joined.global_variables)
    external = {value.name for value in values if not value.is_declaration and value.linkage.name != "internal"}
    assert external == {"entry", "seen", "weak"}
    assert {value.name for value in values if value.is_declaration} == {"unknown"}


def test_each_hidden_function_is_inlined_but_where_it_says_otherwise(joined: llvm.ModuleRef) -> None:
    marks = {
        function.name: {mark for mark in (b"alwaysinline", b"noinline") if mark in b" ".join(function.attributes)}
        for function in joined.functions
    }
    inlined, kept = {b"alwaysinline"}, {b"noinline"}
    assert marks == {
        "entry": set(), "plain": inlined, "placed": inlined, "quoted $name": kept, "calls_itself": kept, "weak": set(),
        "defined_in_second": inlined, "own": inlined, "unknown": set(),
    }  # fmt: skip


def test_local_arrays_promise_no_more_than_frames_keep() -> None:
    """Accesses that LLVM has found to be aligned as their array is promise no more either."""
    text = "  %a = alloca [4 x i64], align 64\n  %b = alloca i8, i64 8, align 16\n"
    text += "  %c = load i64, ptr %a, align 64\n  call void @f(ptr align 64 %a)"
    assert limit_alignment(text, 32) == text.replace("align 64", "align 32")
