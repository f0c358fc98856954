"""Code that throws leaves the kernel, which passes no more than it has to."""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from numba_ptxplus.codegen.outline_throws import outline_throws

DECLARATIONS = """declare void @gpu.throw(ptr, i32, i64, i64, i64, i64) noreturn
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @effect()
"""
#: Thread t reads x[k], which is known only on the way, and y[t], from the same branch.
KERNEL = f"""{DECLARATIONS}
define void @kernel(i64 %nx, i64 %ny, ptr %x) {{
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %t to i64
  %k = load i64, ptr %x
  %c1 = icmp ult i64 %k, %nx
  %c2 = icmp ult i64 %wide, %ny
  %both = select i1 %c1, i1 %c2, i1 false
  br i1 %both, label %work, label %failed
failed:
  %again = icmp ult i64 %k, %nx
  br i1 %again, label %throw.2, label %throw.1
throw.1:
  tail call void @gpu.throw(ptr null, i32 1, i64 %k, i64 0, i64 range(i64 0, 99) %nx, i64 0), !dbg !9
  unreachable
throw.2:
  tail call void @gpu.throw(ptr null, i32 2, i64 %wide, i64 0, i64 %ny, i64 0), !dbg !9
  unreachable
work:
  store i64 %wide, ptr %x
  ret void
}}
"""
LOCATIONS = """
!9 = !DILocation(line: 3, scope: !8)
!8 = distinct !DISubprogram(name: "kernel", file: !7, line: 1, unit: !6, spFlags: DISPFlagDefinition)
!7 = !DIFile(filename: "a.py", directory: "/")
!6 = distinct !DICompileUnit(language: DW_LANG_C, file: !7, emissionKind: FullDebug)
!5 = !{i32 2, !"Debug Info Version", i32 3}
!llvm.dbg.cu = !{!6}
!llvm.module.flags = !{!5}
"""


def outlined(text: str) -> tuple[str, dict[str, str]]:
    """The kernel and the functions taken out of it, by name."""
    result = outline_throws(text)
    llvm.parse_assembly(result).verify()
    functions = dict(re.findall(r"^define [^@]*@([\w.]+)\((.*?^\})", result, re.MULTILINE | re.DOTALL))
    return functions.pop("kernel"), functions


def test_what_is_known_where_the_thread_throws_is_not_passed():
    """The thread's index is read again there; parameters and what was loaded are passed."""
    kernel, functions = outlined(KERNEL.replace(", !dbg !9", ""))
    (code,) = functions.values()
    call = re.search(r"call void @throws.0\((.*)\)", kernel)
    assert call is not None and set(call[1].split(", ")) == {"i64 %k", "i64 %nx", "i64 %ny"}
    assert "gpu.throw" not in kernel and "sreg.tid.x" in code


def test_one_call_tells_which_check_failed():
    _kernel, functions = outlined(KERNEL.replace(", !dbg !9", ""))
    (code,) = functions.values()
    assert code.count("@gpu.throw(") == 1
    assert "phi i32 [ 2, %throw.2 ], [ 1, %throw.1 ]" in code
    assert "phi i64 [ %ny, %throw.2 ], [ %nx, %throw.1 ]" in code


def test_the_call_is_of_the_users_line():
    kernel, functions = outlined(KERNEL.replace("ptr %x) {", "ptr %x) !dbg !8 {") + LOCATIONS)
    assert re.search(r"call void @throws.0\(.*\) noreturn, !dbg !9", kernel)
    assert "!dbg" not in functions["throws.0"]


def test_values_that_differ_by_where_the_thread_comes_from_are_passed():
    text = f"""{DECLARATIONS}
define void @kernel(i64 %n, i1 %which, i1 %more) {{
entry:
  br i1 %which, label %throw, label %second
second:
  br i1 %more, label %throw, label %end
throw:
  %i = phi i64 [ 7, %entry ], [ %n, %second ]
  call void @gpu.throw(ptr null, i32 3, i64 %i, i64 0, i64 0, i64 0)
  unreachable
end:
  ret void
}}
"""
    kernel, functions = outlined(text)
    assert "%i = phi i64 [ 7, %entry ], [ %n, %second ]" in kernel
    assert list(functions) == ["throws.0"] and "call void @throws.0(i64 %i)" in kernel


def test_code_that_throws_from_several_places_is_copied():
    """%throw is come to from the kernel and from other code that only throws; each phi keeps its own sources."""
    text = f"""{DECLARATIONS}
define void @kernel(i64 %n, i1 %which, i1 %more, i1 %last, ptr %x) {{
entry:
  %k = load i64, ptr %x
  br i1 %which, label %throw, label %second
second:
  br i1 %more, label %cold, label %end
cold:
  %doubled = mul i64 %k, 2
  br i1 %last, label %throw, label %other
other:
  call void @gpu.throw(ptr null, i32 4, i64 %k, i64 0, i64 0, i64 0)
  unreachable
throw:
  %i = phi i64 [ %n, %entry ], [ %doubled, %cold ]
  call void @gpu.throw(ptr null, i32 3, i64 %i, i64 0, i64 0, i64 0)
  unreachable
end:
  ret void
}}
"""
    kernel, functions = outlined(text)
    assert "%i = phi i64 [ %n, %entry ]\n" in kernel and "%doubled" not in kernel
    assert len(functions) == 2
    assert any("%i = phi i64 [ %doubled, %cold ]" in code for code in functions.values())


def test_values_of_several_parts_are_not_passed():
    text = KERNEL.replace(", !dbg !9", "").replace(
        "load i64, ptr %x\n", "load i64, ptr %x\n  %pair = load { i64, i64 }, ptr %x\n"
    )
    text = text.replace("throw.2:\n", "throw.2:\n  %part = extractvalue { i64, i64 } %pair, 1\n").replace(
        "i32 2, i64 %wide", "i32 2, i64 %part"
    )
    kernel, _functions = outlined(text)
    assert "extractvalue" in kernel and "i32 2, i64 %part" in kernel


def test_calls_stay_where_they_are():
    """Whatever else the thread does before it ends, such as printing, is not moved."""
    text = KERNEL.replace(", !dbg !9", "").replace("throw.1:\n", "throw.1:\n  call void @effect()\n")
    kernel, functions = outlined(text)
    assert kernel.index("@effect()") < kernel.index("i32 1, i64 %k")
    (code,) = functions.values()
    assert "i32 2, i64 %wide" in code and "@effect" not in code


def test_a_kernel_that_always_throws_keeps_its_first_block():
    text = f"""{DECLARATIONS}
define void @kernel() {{
entry:
  call void @gpu.throw(ptr null, i32 3, i64 0, i64 0, i64 0, i64 0)
  unreachable
}}
"""
    kernel, functions = outlined(text)
    assert "@gpu.throw" in kernel and not functions


def test_long_computations_are_passed():
    """Of a chain longer than Python can call itself, the result alone is handed over."""
    steps = "\n".join(f"  %k.{i + 1} = xor i64 %k.{i}, {i}" for i in range(2000))
    text = f"""{DECLARATIONS}
define void @kernel(i64 %n, ptr %x) {{
entry:
  %k.0 = add i64 %n, 1
{steps}
  %fits = icmp ult i64 %k.2000, %n
  br i1 %fits, label %work, label %failed
failed:
  call void @gpu.throw(ptr null, i32 1, i64 %k.2000, i64 0, i64 0, i64 0)
  unreachable
work:
  store i64 %k.2000, ptr %x
  ret void
}}
"""
    kernel, functions = outlined(text)
    assert "call void @throws.0(i64 %k.2000)" in kernel
    (code,) = functions.values()
    assert "xor" not in code
