"""Results of compare-and-swap that meet at the start of a block, as their parts. Before: `ir_reader`. After: every pass
of the emitter, which knows no structs as values.

LLVM makes one phi of structs where two ways through a loop compare and swap. Source: LLVM's InstCombine,
foldPHIArgExtractValueInstructionIntoPHI.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from numba_metal.codegen.ir_types import (
    Aggregate,
    Block,
    Function,
    Instr,
    Local,
    Module,
    StructType,
    Undefined,
    Value,
    Zero,
)


def split_structs(module: Module) -> Module:
    """The module with a phi for each part of structs."""
    return replace(module, functions={name: _split(function) for name, function in module.functions.items()})


def _split(function: Function) -> Function:
    phis = [
        instr
        for block in function.blocks
        for instr in block.instrs
        if instr.opcode == "phi" and isinstance(instr.type, StructType)
    ]
    if not phis:
        return function
    names = {phi.name for phi in phis if phi.name is not None}
    sources = {operand.name for phi in phis for operand in phi.operands if isinstance(operand, Local)} - names
    blocks = tuple(
        Block(block.label, tuple(new for instr in block.instrs for new in _replace(instr, names, sources)))
        for block in function.blocks
    )
    return replace(function, blocks=blocks)


def _replace(instr: Instr, phis: set[str], sources: set[str]) -> Iterator[Instr]:
    if instr.name in phis:
        assert isinstance(instr.type, StructType)
        for index, type_ in enumerate(instr.type.items):
            operands = tuple(_part(operand, index) for operand in instr.operands)
            yield replace(instr, type=type_, operands=operands, name=_part_name(instr.name, index))
        return
    if instr.opcode == "extractvalue" and isinstance(instr.operands[0], Local) and instr.operands[0].name in phis:
        yield replace(instr, opcode="freeze", operands=(_part(instr.operands[0], instr.indices[0]),), indices=())
        return
    yield instr
    if instr.name in sources:
        assert isinstance(instr.type, StructType)
        for index, type_ in enumerate(instr.type.items):
            name = _part_name(instr.name, index)
            yield Instr("extractvalue", type_, (instr.result,), name, indices=(index,), source=instr.source)


def _part_name(name: str | None, index: int) -> str:
    return f"{name}.part{index}"


def _part(value: Value, index: int) -> Value:
    assert isinstance(value.type, StructType)
    type_ = value.type.items[index]
    match value:
        case Local(name=name):
            return Local(_part_name(name, index), type_)
        case Aggregate(items=items):
            return items[index]
        case Zero():
            return Zero(type_)
    return Undefined(type_)
