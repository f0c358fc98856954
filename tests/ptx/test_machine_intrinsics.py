"""Every neutral intrinsic, compiled to PTX and read by the machine: whatever a kernel may use, the machine knows."""

from __future__ import annotations

import pytest

from numba_gpucore.compile.intrinsics import INTRINSICS, Intrinsic
from tests.ptx.machine import PtxMachine
from tests.unit.ptx_modules import FLOAT64, compile_device_ir, make_job, vector

#: From an operand's type to a value of it that the optimiser cannot see through: made of the loaded double %v.
VALUES = {
    "i32": "fptosi double %v to i32",
    "i64": "fptosi double %v to i64",
    "half": "fptrunc double %v to half",
    "float": "fptrunc double %v to float",
    "double": "fadd double %v, 1.0",
}
#: From a result to the double that is stored.
RESULTS = {
    "i32": "sitofp i32 %r to double",
    "i64": "sitofp i64 %r to double",
    "half": "fpext half %r to double",
    "float": "fpext float %r to double",
    "double": "fadd double %r, 1.0",
    "ptr": "load double, ptr %r",
}


def call_module(intrinsic: Intrinsic) -> str:
    """A kernel that calls the intrinsic with operands from memory and stores what it gives."""
    operands = [f"{type_} %a{i}" for i, type_ in enumerate(intrinsic.params)]
    values = "".join(f" %a{i} = {VALUES[type_]}\n" for i, type_ in enumerate(intrinsic.params))
    arguments = ", ".join((["ptr %context"] if intrinsic.takes_context else []) + operands)
    call = f"call {intrinsic.result} @{intrinsic.name}({arguments})"
    if intrinsic.result == "void":
        result = f" {call}\n"
    else:
        result = f" %r = {call}\n %s = {RESULTS[intrinsic.result]}\n store double %s, ptr %x\n"
    head = "define void @kernel(ptr %context, ptr %x, i64 %n) {\n %v = load double, ptr %x\n"
    return f"{head}{values}{result} ret void\n}}"


@pytest.mark.parametrize("fastmath", [False, True])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_every_intrinsic_is_known(arch: str, fastmath: bool) -> None:
    """Loading raises UnsupportedInstruction for whatever is not."""
    for name, intrinsic in INTRINSICS.items():
        job = make_job([vector(FLOAT64)], [name], arch=arch, fastmath=fastmath)
        text = compile_device_ir(call_module(intrinsic), job)
        assert PtxMachine(text).entries == ["kernel"], name
