"""Every neutral intrinsic, compiled to PTX and read by the machine: whatever a kernel may use, the machine knows.

Cached accesses are in tests/unit/test_ptx_cache_operators.py, all in one program.
"""

from __future__ import annotations

import pytest

from numba_gpucore.compile.intrinsics import INTRINSICS, Intrinsic, is_cached_access
from tests.ptx.machine import PtxMachine
from tests.unit.ptx_modules import FLOAT64, compile_device_ir, make_job, vector

#: From an operand's type to a value of it that the optimiser cannot see through: made of the double {v} at {at}.
VALUES = {
    "i16": "fptosi double {v} to i16",
    "i32": "fptosi double {v} to i32",
    "i64": "fptosi double {v} to i64",
    "half": "fptrunc double {v} to half",
    "<2 x half>": "load <2 x half>, ptr {at}",
    "float": "fptrunc double {v} to float",
    "double": "fadd double {v}, 1.0",
}
#: Intrinsics in one kernel: what takes the time of this test is making kernels.
_N_TOGETHER = 20


def call_text(intrinsic: Intrinsic, number: int) -> str:
    """LLVM assembly that calls the intrinsic with operands from a place in memory and stores there what it gives."""
    at, value, result = f"%at{number}", f"%v{number}", f"%r{number}"
    lines = [f"{at} = getelementptr double, ptr %x, i64 {4 * number}", f"{value} = load double, ptr {at}"]
    operands = []
    for position, type_ in enumerate(intrinsic.params):
        operands.append(f"{type_} %a{number}.{position}")
        lines.append(f"%a{number}.{position} = {VALUES[type_].format(v=value, at=at)}")
    arguments = ", ".join((["ptr %context"] if intrinsic.takes_context else []) + operands)
    call = f"call {intrinsic.result} @{intrinsic.name}({arguments})"
    if intrinsic.result == "void":
        lines.append(call)
    elif intrinsic.result == "ptr":
        lines += [f"{result} = {call}", f"%s{number} = load double, ptr {result}"]
        lines.append(f"store double %s{number}, ptr {at}")
    else:
        lines += [f"{result} = {call}", f"store {intrinsic.result} {result}, ptr {at}"]
    return "".join(f" {line}\n" for line in lines)


@pytest.mark.parametrize("fastmath", [False, True])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_every_intrinsic_is_known(arch: str, fastmath: bool) -> None:
    """Loading raises UnsupportedInstruction for whatever is not."""
    # A throw ends the kernel, so it comes last.
    names = sorted((name for name in INTRINSICS if not is_cached_access(name)), key="gpu.throw".__eq__)
    for start in range(0, len(names), _N_TOGETHER):
        together = names[start : start + _N_TOGETHER]
        body = "".join(call_text(INTRINSICS[name], number) for number, name in enumerate(together))
        job = make_job([vector(FLOAT64)], together, arch=arch, fastmath=fastmath)
        text = compile_device_ir(f"define void @kernel(ptr %context, ptr %x, i64 %n) {{\n{body} ret void\n}}", job)
        assert PtxMachine(text).entries == ["kernel"], together
