"""Functions that LLVM's code generator calls for halves: each program has those that it needs, and no other."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from numba_gpucore.cpu.arch import SYSTEMS
from numba_gpucore.cpu.definitions import read_ir
from numba_gpucore.cpu.half_conversions import half_files
from numba_gpucore.cpu.machine import make_target_machine
from numba_gpucore.cpu.object_symbols import undefined_symbols

ARCHS = [f"{level}-{system}" for level, systems in SYSTEMS.items() for system in systems]
CONVERSIONS = {"__truncsfhf2", "__extendhfsf2", "__truncdfhf2"}
#: Instructions of one function each, with parameters %h and %g (half), %f (float), %d (double), %i (i64), and vectors.
WITHOUT_DOUBLES = (
    "%r = fptrunc float %f to half",
    "%r = fpext half %h to float",
    "%r = fadd half %h, %g",
    "%r = frem half %h, %g",
    "%r = fcmp olt half %h, %g",
    "%r = fptosi half %h to i64",
    "%r = sitofp i64 %i to half",
    "%r = uitofp i64 %i to half",
    "%r = call half @llvm.sqrt.f16(half %h)",
    "%r = call half @llvm.floor.f16(half %h)",
    "%r = call half @llvm.exp.f16(half %h)",
    "%r = call half @llvm.pow.f16(half %h, half %g)",
    "%r = call half @llvm.maximum.f16(half %h, half %g)",
    "%r = fptrunc <8 x float> %fs to <8 x half>",
    "%r = fpext <8 x half> %hs to <8 x float>",
)
WITH_DOUBLES = (
    "%r = fptrunc double %d to half",
    "%r = fpext half %h to double",
    "%r = call half @llvm.fma.f16(half %h, half %g, half %h)",
    "%r = call half @llvm.fmuladd.f16(half %h, half %g, half %h)",
    "%r = fptrunc <8 x double> %ds to <8 x half>",
    "%n = fptrunc double %d to float\n  %r = fptrunc float %n to half",
)
DECLARATIONS = "\n".join(
    f"declare half @llvm.{name}.f16({', '.join(['half'] * count)})"
    for name, count in {"sqrt": 1, "floor": 1, "exp": 1, "pow": 2, "maximum": 2, "fma": 3, "fmuladd": 3}.items()
)


def function_text(index: int, instructions: str) -> str:
    """Stores the result, whatever its type is."""
    result = instructions.rsplit("%r = ", 1)[1]
    type_ = result.rsplit(" to ", 1)[1] if " to " in result else "i1" if result.startswith("fcmp") else "half"
    values = {"%h": "half", "%g": "half", "%f": "float", "%d": "double", "%i": "i64"}
    values |= {"%fs": "<8 x float>", "%hs": "<8 x half>", "%ds": "<8 x double>"}
    used = [f"{kind} {value}" for value, kind in values.items() if f"{value} " in f"{instructions} ".replace(",", " ")]
    used += [f"{kind} {value}" for value, kind in values.items() if f"{value})" in instructions]
    params = ", ".join(["ptr %to", *dict.fromkeys(used)])
    return f"define void @f{index}({params}) {{\n  {instructions}\n  store {type_} %r, ptr %to\n  ret void\n}}"


def needed_conversions(arch: str, instructions: tuple[str, ...], with_files: bool) -> tuple[set[str], tuple[str, ...]]:
    """Which functions the object of a module still needs from elsewhere, and the files for its text."""
    functions = [function_text(i, text) for i, text in enumerate(instructions)]
    declared = [
        line for line in DECLARATIONS.splitlines() if line.split("@")[1].split("(")[0] in " ".join(instructions)
    ]
    module = llvm.parse_assembly("\n".join([*functions, *declared]))
    machine = make_target_machine(arch, 3)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    files = half_files(str(module), arch)
    for name in files if with_files else ():
        module.link_in(llvm.parse_assembly(read_ir(name)))
    return CONVERSIONS & set(undefined_symbols(machine.emit_object(module))), files


@pytest.mark.parametrize("arch", [f"{level}-{systems[0]}" for level, systems in SYSTEMS.items()])
@pytest.mark.parametrize("instruction", [*WITHOUT_DOUBLES, *WITH_DOUBLES])
def test_no_function_is_missing(arch: str, instruction: str) -> None:
    assert needed_conversions(arch, (instruction,), with_files=True)[0] == set()


@pytest.mark.parametrize("arch", ARCHS)
def test_files_hold_what_is_called(arch: str) -> None:
    """What LLVM calls without the files is what they define."""
    for instructions in (WITHOUT_DOUBLES, (*WITHOUT_DOUBLES, *WITH_DOUBLES)):
        called, files = needed_conversions(arch, instructions, with_files=False)
        assert called == {name for name in CONVERSIONS if any(f"@{name}(" in read_ir(file) for file in files)}
