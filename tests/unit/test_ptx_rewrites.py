"""Edits of LLVM assembly and PTX text. Each test gives a text and what must become of it."""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_ptxplus.codegen.rewrites import (
    keep_barrier_loops_rolled,
    merge_address_sums,
    merge_compile_units,
    permit_fast_forms,
    scope_atomics,
    strip_call_numbers,
)

MODULE = """
@text = constant [16 x i8] c"  %x = fmul abc\\00"
declare float @llvm.sqrt.f32(float)
define float @f(float %a, float %b) {{
  %m = fmul {fast}float %a, %b
  %s = fsub {fast}float %m, %a
  %d = fdiv {divide}{fast}float %s, %b
  %r = tail call {root}float @llvm.sqrt.f32(float %d)
  ret float %r
}}
"""


def test_arithmetic_may_contract():
    given = MODULE.format(fast="", divide="", root="")
    assert permit_fast_forms(given, fastmath=False) == MODULE.format(fast="contract ", divide="", root="")


def test_fastmath_lets_division_and_square_root_be_approximate():
    given = MODULE.format(fast="", divide="", root="")
    expected = MODULE.format(fast="contract ", divide="afn arcp ", root="afn ")
    assert permit_fast_forms(given, fastmath=True) == expected
    llvm.parse_assembly(expected).verify()


ATOMICS = """
define i32 @f(ptr %p, i32 %v) {{
  %a = atomicrmw add ptr %p, i32 %v{scope} monotonic, align 4
  %b = cmpxchg volatile ptr %p, i32 %a, i32 %v{scope} monotonic monotonic, align 4
  %c = atomicrmw add ptr %p, i32 %v syncscope("block") monotonic, align 4
  %d = load atomic i32, ptr %p{scope} monotonic, align 4
  ret i32 %d
}}
"""


def test_atomics_hold_on_the_device():
    expected = ATOMICS.format(scope=' syncscope("device")')
    assert scope_atomics(ATOMICS.format(scope="")) == expected
    llvm.parse_assembly(expected).verify()


SPLIT = """define void @f(ptr %p, ptr %q, i64 %row, i64 %next, i64 %column) {
entry:
  %a = getelementptr float, ptr %p, i64 %row
  %b = getelementptr float, ptr %a, i64 %column
  store float 1.0, ptr %b
  %c = getelementptr float, ptr %p, i64 %next
  %d = getelementptr float, ptr %c, i64 %column
  store float 2.0, ptr %d
  %e = getelementptr float, ptr %q, i64 %row
  store float 3.0, ptr %e
  ret void
}"""
MERGED = """define void @f(ptr %p, ptr %q, i64 %row, i64 %next, i64 %column) {
entry:
  %b.sum = add i64 %row, %column
  %b = getelementptr float, ptr %p, i64 %b.sum
  store float 1.0, ptr %b
  %d.sum = add i64 %next, %column
  %d = getelementptr float, ptr %p, i64 %d.sum
  store float 2.0, ptr %d
  %e = getelementptr float, ptr %q, i64 %row
  store float 3.0, ptr %e
  ret void
}"""


def test_addresses_with_one_column_become_sums():
    assert merge_address_sums(SPLIT) == MERGED
    llvm.parse_assembly(MERGED).verify()


def test_a_row_that_is_used_again_stays():
    used = SPLIT.replace("ptr %d\n", "ptr %d\n  store float 4.0, ptr %a\n  store float 4.0, ptr %c\n")
    assert merge_address_sums(used) == used


def test_a_chain_of_three_addresses_stays_whole():
    """Plane, row and column, twice with one row and one column: the rows are joined with their planes."""
    given = """define void @f(ptr %p, i64 %k, i64 %l, i64 %i, i64 %j) {
  %a = getelementptr float, ptr %p, i64 %k
  %b = getelementptr float, ptr %a, i64 %i
  %c = getelementptr float, ptr %b, i64 %j
  %d = getelementptr float, ptr %p, i64 %l
  %e = getelementptr float, ptr %d, i64 %i
  %f = getelementptr float, ptr %e, i64 %j
  store float 1.0, ptr %c
  store float 1.0, ptr %f
  ret void
}
"""
    merged = merge_address_sums(given)
    llvm.parse_assembly(merged).verify()
    assert "%c = getelementptr float, ptr %b, i64 %j" in merged and "%e.sum = add i64 %l, %i" in merged


def test_different_item_types_do_not_merge():
    mixed = SPLIT.replace("%b = getelementptr float", "%b = getelementptr i8")
    assert merge_address_sums(mixed) == mixed


def test_addresses_in_different_blocks_do_not_merge():
    cut = SPLIT.replace("  %b =", "  br label %then\nthen:\n  %b =").replace(
        "  %d =", "  br label %last\nlast:\n  %d ="
    )
    assert merge_address_sums(cut) == cut


UNITS = """
!llvm.dbg.cu = {units}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: DebugDirectivesOnly)
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "f.py", directory: "/")
!3 = distinct !DISubprogram(name: "f", file: !2, line: 1, unit: !{f}, spFlags: DISPFlagDefinition)
!4 = distinct !DISubprogram(name: "g", file: !2, line: 2, unit: !1, spFlags: DISPFlagDefinition)
"""


def test_one_compile_unit_stays():
    given = UNITS.format(units="!{!0, !1}", f=0)
    assert merge_compile_units(given) == UNITS.format(units="!{!1}", f=1)


def test_call_numbers_go():
    given = "\t{ // callseq 17, 0\n\tcall.uni f, (param0);\n\t} // callseq 17\n"
    assert strip_call_numbers(given) == "\t{\n\tcall.uni f, (param0);\n\t}\n"


LOOP = """.visible .entry k()
{
\tbra.uni \t$L__BB0_1;
$L__BB0_1:
\tadd.s32 \t%r1, %r1, 1;
\tBODY
\t@%p1 bra \t$L__BB0_1;
\tbar.sync \t0;
\tret;
}
"""


def test_a_loop_with_a_barrier_is_not_unrolled_by_ptxas():
    ptx = LOOP.replace("BODY", "bar.sync \t0;")
    expected = ptx.replace("$L__BB0_1:\n", '$L__BB0_1:\n\t.pragma "nounroll";\n')
    assert keep_barrier_loops_rolled(ptx) == expected


def test_a_loop_without_a_barrier_is_left_to_ptxas():
    ptx = LOOP.replace("BODY", "add.s32 \t%r2, %r2, 1;")
    assert keep_barrier_loops_rolled(ptx) == ptx


def test_a_barrier_after_a_forward_branch_makes_no_loop():
    ptx = LOOP.replace("\t@%p1 bra \t$L__BB0_1;\n", "").replace("BODY", "bar.sync \t0;")
    assert keep_barrier_loops_rolled(ptx) == ptx
