"""What NVPTX selects, tried in a child process, since LLVM ends the process where it cannot."""

from __future__ import annotations

import pytest

from numba_gpucore.base.errors import UnsupportedKernelError
from numba_ptxplus.codegen import CODEGEN
from numba_ptxplus.codegen.selection import SELECTABLE, is_selectable
from tests.unit.ptx_modules import FLOAT32, compile_device_ir, make_job, parse_device_ir, vector

#: LLVM type of each suffix that Numba's code can bring.
INTEGERS = {"i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "i128": "i128"}
FLOATS = {"f16": "half", "f32": "float", "f64": "double"}
BY_FLOAT = {
    "{t} ({t})": "arithmetic.fence canonicalize ceil fabs floor nearbyint rint round roundeven sqrt trunc",
    "{t} ({t}, {t})": "copysign maximum maximumnum maxnum minimum minimumnum minnum",
    "{t} ({t}, {t}, {t})": "fma fmuladd",
}
BY_INTEGER = {
    "{t} ({t})": "bitreverse ctpop",
    "{t} ({t}, i1 false)": "abs ctlz cttz",
    "{t} ({t}, {t})": "expect sadd.sat smax smin sshl.sat ssub.sat uadd.sat umax umin ushl.sat usub.sat",
    "{{{t}, i1}} ({t}, {t})": "sadd.with.overflow smul.with.overflow ssub.with.overflow uadd.with.overflow "
    "umul.with.overflow usub.with.overflow",
    "{t} ({t}, {t}, {t})": "fshl fshr",
}
ONE_EACH = {
    "assume": "void (i1)",
    "bswap.i16": "i16 (i16)",
    "bswap.i64": "i64 (i64)",
    "donothing": "void ()",
    "exp2.f16": "half (half)",
    "exp2.f32": "float (float)",
    "fptosi.sat.i64.f32": "i64 (float)",
    "fptoui.sat.i32.f64": "i32 (double)",
    "frexp.f64.i32": "{double, i32} (double)",
    "is.constant.i32": "i1 (i32)",
    "is.fpclass.f32": "i1 (float, i32 3)",
    "ldexp.f32.i32": "float (float, i32)",
    "memcpy.p0.p0.i64": "void (ptr, ptr, i64, i1 false)",
    "memmove.p0.p3.i64": "void (ptr, ptr addrspace(3), i64, i1 false)",
    "memset.p0.i64": "void (ptr, i8, i64, i1 false)",
    "objectsize.i64.p0": "i64 (ptr, i1 false, i1 false, i1 false)",
    "prefetch.p0": "void (ptr, i32 0, i32 3, i32 1)",
    "ptrmask.p0.i64": "ptr (ptr, i64)",
    "readcyclecounter": "i64 ()",
    "scmp.i32.i64": "i32 (i64, i64)",
    "trap": "void ()",
    "ucmp.i8.i32": "i8 (i32, i32)",
}
#: Attached to values or blocks rather than called for a result; the optimiser's own modules show them selected.
WITHOUT_A_CALL = {"experimental.noalias.scope.decl", "lifetime.start", "lifetime.end"}


def signatures() -> dict[str, str]:
    table = {f"llvm.{name}": signature for name, signature in ONE_EACH.items()}
    for types, by_signature in ((FLOATS, BY_FLOAT), (INTEGERS, BY_INTEGER)):
        for signature, names in by_signature.items():
            for suffix, type_ in types.items():
                table |= {f"llvm.{name}.{suffix}": signature.format(t=type_) for name in names.split()}
    return table


def calling_function(name: str, signature: str, index: int) -> str:
    result, _, params = signature.partition(" (")
    if result.startswith("{"):
        result, _, params = signature.partition("} (")
        result += "}"
    operands = [p.strip() for p in params.removesuffix(")").split(",") if p.strip()]
    arguments = [p for p in operands if p.split()[-1] not in ("false", "0", "1", "3")]
    named = iter(f"{p} %a{i}" for i, p in enumerate(arguments))
    call = ", ".join(next(named) if p in arguments else p for p in operands)
    outer = ", ".join(["ptr %out", *(f"{p} %a{i}" for i, p in enumerate(arguments))])
    declared = ", ".join(p if p in arguments else p.split()[0] for p in operands)
    body = (
        f"call void @{name}({call})"
        if result == "void"
        else f"%r = call {result} @{name}({call})\n store {result} %r, ptr %out"
    )
    return f"declare {result} @{name}({declared})\ndefine void @f{index}({outer}) {{\n {body}\n ret void\n}}\n"


CHILD = """
import sys
import llvmlite.binding as llvm
from numba_ptxplus.codegen.machine import TRIPLE, MachineSpec, data_layout, target_machine
module = llvm.parse_assembly(sys.stdin.read())
module.verify()
for arch, opt in (("sm_75", 3), ("sm_90", 0), ("sm_120", 3)):
    ptx = target_machine(MachineSpec(arch, 87, opt)).emit_assembly(module)
    calls = [line for line in ptx.splitlines() if line.strip().startswith(("call", ".extern"))]
    assert not calls, calls
"""


def test_every_intrinsic_of_the_table_is_selected(run_python, tmp_path):
    table = signatures()
    tried = {
        name
        for name in SELECTABLE
        if any(is_selectable(full) and f"{full}.".startswith(f"llvm.{name}.") for full in table)
    }
    assert tried | WITHOUT_A_CALL == SELECTABLE
    script, module = tmp_path / "child.py", tmp_path / "module.ll"
    module.write_text("".join(calling_function(name, s, i) for i, (name, s) in enumerate(table.items())))
    script.write_text(CHILD.replace("sys.stdin.read()", f"open({str(module)!r}).read()"))
    run_python(script)


@pytest.mark.parametrize("name", ["llvm.exp.f32", "llvm.sin.f64", "llvm.pow.f64", "llvm.exp2.f64", "llvm.powi.f32.i32"])
def test_what_would_end_the_process_is_not_selectable(name):
    assert not is_selectable(name)


def test_an_unselectable_intrinsic_is_an_error():
    body = """
declare float @llvm.sin.f32(float)
define void @kernel(ptr %context, ptr %x, i64 %n) {
 %v = load float, ptr %x
 %s = call float @llvm.sin.f32(float %v)
 store float %s, ptr %x
 ret void
}"""
    with pytest.raises(UnsupportedKernelError, match=r"ptx_modules\.py:\d+: the kernel needs 'llvm\.sin\.f32'"):
        compile_device_ir(body, make_job([vector(FLOAT32)], ()))


def test_an_undefined_function_is_an_error():
    body = """
declare void @host_function()
define void @kernel(ptr %context, ptr %x, i64 %n) {
 call void @host_function()
 ret void
}"""
    job = make_job([vector(FLOAT32)], ())
    module = parse_device_ir(body, job)
    CODEGEN.legalize(module, job)
    with pytest.raises(UnsupportedKernelError, match="'host_function'"):
        CODEGEN.emit(module, job)
