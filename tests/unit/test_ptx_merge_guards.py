"""Checks in a row become one branch, and the thread still throws at the first that fails."""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from numba_ptxplus.codegen.merge_guards import merge_guards

THROWS = "\n".join(
    f"""throw.{site}:
  tail call void @gpu.throw(ptr null, i32 {site}, i64 %i, i64 0, i64 %n, i64 0)
  unreachable"""
    for site in (1, 2, 3)
)
#: Three axes; the second comparison is true where the check fails, and a phi knows from where each way comes.
GUARDS = f"""declare void @gpu.throw(ptr, i32, i64, i64, i64, i64) noreturn

define void @kernel(i64 %i, i64 %j, i64 %k, i64 %n, ptr %x) {{
entry:
  %c1 = icmp ult i64 %i, %n
  br i1 %c1, label %second, label %throw.1, !prof !0
second:
  %j2 = add nuw i64 %j, 1
  %c2 = icmp uge i64 %j2, %n
  br i1 %c2, label %throw.2, label %third, !prof !0
third:
  %c3 = icmp ult i64 %k, %n
  br i1 %c3, label %work, label %throw.3
work:
  %from = phi i32 [ 7, %third ]
  store i32 %from, ptr %x
  br label %end
{THROWS}
end:
  ret void
}}

!0 = !{{!"branch_weights", i32 2000, i32 1}}
"""


def branches(text: str) -> list[str]:
    return re.findall(r"br i1 .*", text)


def test_checks_in_a_row_become_one_branch():
    merged = merge_guards(GUARDS)
    llvm.parse_assembly(merged).verify()
    body = merged[merged.index("entry:") :]
    way = body[: body.index("work:")]
    assert len(branches(way)) == 1
    assert "%from = phi i32 [ 7, %entry ]" in merged
    # Each throw is reached from one place, in the order of the checks.
    cold = merged[merged.index("guard.0.failed.0:") :]
    assert re.findall(r"%throw\.\d", cold) == ["%throw.1", "%throw.2", "%throw.3"]


def test_lines_of_the_users_do_not_matter():
    """Comparisons and branches end in a location under lineinfo."""
    lines = re.sub(r"^(  (?:%c\d = icmp|br i1) .*)$", r"\1, !dbg !9", GUARDS, flags=re.MULTILINE)
    lines += """!9 = !DILocation(line: 3, scope: !8)
!8 = distinct !DISubprogram(name: "kernel", file: !7, line: 1, unit: !6, spFlags: DISPFlagDefinition)
!7 = !DIFile(filename: "a.py", directory: "/")
!6 = distinct !DICompileUnit(language: DW_LANG_C, file: !7, emissionKind: FullDebug)
!5 = !{i32 2, !"Debug Info Version", i32 3}
!llvm.dbg.cu = !{!6}
!llvm.module.flags = !{!5}
"""
    merged = merge_guards(lines.replace("ptr %x) {", "ptr %x) !dbg !8 {"))
    llvm.parse_assembly(merged).verify()
    assert "guard.0.failed.1" in merged


def test_what_stands_between_stays():
    """A store between two checks is seen by others although the second fails, so these are not joined."""
    stored = GUARDS.replace("  %j2 = add", "  store i32 1, ptr %x\n  %j2 = add")
    merged = merge_guards(stored)
    llvm.parse_assembly(merged).verify()
    assert len(branches(merged)) == len(branches(GUARDS))
    assert merged.index("icmp ult i64 %i") < merged.index("store i32 1") < merged.index("icmp uge i64 %j2")


def test_a_check_with_other_ways_to_it_stays():
    text = GUARDS.replace("  br label %end\nthrow.1:", "  br label %second\nthrow.1:")
    merged = merge_guards(text)
    llvm.parse_assembly(merged).verify()
    assert "second:" in merged


def test_a_switch_is_a_way_too():
    """LLVM prints its cases on lines of their own: the second check is not to be joined, since one leads to it."""
    text = GUARDS.replace(
        "  store i32 %from, ptr %x\n  br label %end\n",
        "  store i32 %from, ptr %x\n  switch i32 %from, label %end [\n    i32 1, label %second\n  ]\n",
    )
    merged = merge_guards(text)
    llvm.parse_assembly(merged).verify()
    assert "second:" in merged


def test_text_that_does_not_throw_is_as_it_was():
    text = GUARDS.replace("gpu.throw", "another")
    assert merge_guards(text) == text
