"""Every neutral intrinsic, compiled to PTX and read by the machine: whatever a kernel may use, the machine knows.

Cached accesses are in tests/unit/test_ptx_cache_operators.py, all in one program.
"""

from __future__ import annotations

import pytest

from numba_gpucore.compile.intrinsics import INTRINSICS, Intrinsic, is_cached_access
from tests.ptx.machine import PtxMachine
from tests.unit.ptx_modules import FLOAT64, compile_device_ir, make_job, vector

#: From an operand's type to a value of it that the optimiser cannot see through: made of the loaded double %v.
VALUES = {
    "i16": "fptosi double %v to i16",
    "i32": "fptosi double %v to i32",
    "i64": "fptosi double %v to i64",
    "half": "fptrunc double %v to half",
    "<2 x half>": "load <2 x half>, ptr %x",
    "float": "fptrunc double %v to float",
    "double": "fadd double %v, 1.0",
}

#: How results are stored, where not as they are.
STORES = {"ptr": " %s = load double, ptr %r\n store double %s, ptr %x"}


def call_module(intrinsic: Intrinsic) -> str:
    """A kernel that calls the intrinsic with operands from memory and stores what it gives."""
    operands = [f"{type_} %a{i}" for i, type_ in enumerate(intrinsic.params)]
    values = "".join(f" %a{i} = {VALUES[type_]}\n" for i, type_ in enumerate(intrinsic.params))
    arguments = ", ".join((["ptr %context"] if intrinsic.takes_context else []) + operands)
    call = f"call {intrinsic.result} @{intrinsic.name}({arguments})"
    if intrinsic.result == "void":
        result = f" {call}\n"
    else:
        result = f" %r = {call}\n{STORES.get(intrinsic.result, f' store {intrinsic.result} %r, ptr %x')}\n"
    head = "define void @kernel(ptr %context, ptr %x, i64 %n) {\n %v = load double, ptr %x\n"
    return f"{head}{values}{result} ret void\n}}"


@pytest.mark.parametrize("fastmath", [False, True])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_every_intrinsic_is_known(arch: str, fastmath: bool) -> None:
    """Loading raises UnsupportedInstruction for whatever is not."""
    for name, intrinsic in INTRINSICS.items():
        if is_cached_access(name):
            continue
        job = make_job([vector(FLOAT64)], [name], arch=arch, fastmath=fastmath)
        text = compile_device_ir(call_module(intrinsic), job)
        assert PtxMachine(text).entries == ["kernel"], name
