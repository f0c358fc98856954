"""Binding of elementwise instructions and moves to slots. Before: operations/, slots.py. After: program.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .frames import Frame, Lanes, generic_base
from .memory import WINDOW_BITS, WINDOWS
from .operations.operation import Modifiers, Operation
from .slots import SlotTable, unsupported
from .syntax import Both, Instruction, Not, Operand, Register, Vector
from .types import CARRY, CARRY_REGISTER, PRED, TYPES, PtxType

#: One instruction, bound: changes a frame for the lanes given.
Thunk = Callable[[Frame, Lanes], None]


def bind_operation(instruction: Instruction, operation: Operation, table: SlotTable) -> Thunk:
    """Raises UnsupportedInstruction if the operands do not fit the operation."""
    first, *written_sources = instruction.operands
    written_results: list[Operand] = [first.first, first.second] if isinstance(first, Both) else [first]
    dests = _dest_slots(instruction, operation, written_results, table)
    sources, negated = _source_slots(instruction, operation, written_sources, table)
    function = _negating(operation.function, negated) if any(negated) else operation.function
    if len(operation.results) == 1:
        return _single_result(function, dests[0], sources)

    def run(frame: Frame, lanes: Lanes) -> None:
        views = frame.views
        results = function(*[views[source][lanes] for source in sources])
        for dest, result in zip(dests, results, strict=False):
            views[dest][lanes] = result

    return run


def _single_result(function: Callable, dest: int, sources: list[int]) -> Thunk:
    """The common shapes, without a list in between: this is the machine's innermost call."""
    if len(sources) == 1:
        (a,) = sources

        def run(frame: Frame, lanes: Lanes) -> None:
            views = frame.views
            views[dest][lanes] = function(views[a][lanes])

    elif len(sources) == 2:
        a, b = sources

        def run(frame: Frame, lanes: Lanes) -> None:
            views = frame.views
            views[dest][lanes] = function(views[a][lanes], views[b][lanes])

    else:

        def run(frame: Frame, lanes: Lanes) -> None:
            views = frame.views
            views[dest][lanes] = function(*[views[source][lanes] for source in sources])

    return run


def _dest_slots(instruction: Instruction, operation: Operation, written: list[Operand], table: SlotTable) -> list[int]:
    visible = [type_ for type_ in operation.results if type_ is not CARRY]
    if len(written) > len(visible):
        raise unsupported(instruction, f"{len(written)} results, expected {len(visible)}")
    dests = [table.dest(instruction, operand, type_) for operand, type_ in zip(written, visible, strict=False)]
    if CARRY in operation.results:
        dests.append(table.dest(instruction, Register(CARRY_REGISTER), PRED))
    return dests


def _source_slots(
    instruction: Instruction, operation: Operation, written: list[Operand], table: SlotTable
) -> tuple[list[int], list[bool]]:
    visible = [type_ for type_ in operation.operands if type_ is not CARRY]
    if len(written) != len(visible):
        raise unsupported(instruction, f"{len(written)} operands after the result, expected {len(visible)}")
    sources, negated = [], []
    for operand, type_ in zip(written, visible, strict=True):
        negated.append(isinstance(operand, Not))
        inner = operand.register if isinstance(operand, Not) else operand
        sources.append(table.source(instruction, inner, type_))
    if CARRY in operation.operands:
        sources.append(table.source(instruction, Register(CARRY_REGISTER), PRED))
        negated.append(False)
    return sources, negated


def _negating(function: Callable, negated: list[bool]) -> Callable:
    return lambda *operands: function(*(~x if invert else x for x, invert in zip(operands, negated, strict=True)))


def bind_mov(instruction: Instruction, table: SlotTable) -> Thunk:
    """PTX ISA, "Data Movement and Conversion Instructions: mov": copies, addresses, packing and unpacking."""
    mods = Modifiers(instruction)
    type_ = mods.type()
    mods.finish()
    dest, source = instruction.operands
    if isinstance(dest, Vector):
        return _bind_unpack(instruction, dest, source, type_, table)
    if isinstance(source, Vector):
        return _bind_pack(instruction, dest, source, type_, table)
    return _single_result(lambda a: a, table.dest(instruction, dest, type_), [table.source(instruction, source, type_)])


def _parts_of(instruction: Instruction, type_: PtxType, nparts: int) -> tuple[PtxType, PtxType]:
    part = TYPES.get(f"b{type_.nbits // nparts}")
    if part is None:
        raise unsupported(instruction, f"{nparts} parts of .{type_.name}")
    return PtxType(f"{type_.name} as {nparts} parts", "bits", type_.nbits, nparts), part


def _bind_unpack(instruction: Instruction, dest: Vector, source: Operand, type_: PtxType, table: SlotTable) -> Thunk:
    whole, part = _parts_of(instruction, type_, len(dest.items))
    parts = table.source(instruction, source, whole)
    dests = [table.dest(instruction, item, part) for item in dest.items]

    def run(frame: Frame, lanes: Lanes) -> None:
        # copied, for a destination may be part of the source
        values = frame.views[parts][lanes].copy()
        for column, number in enumerate(dests):
            frame.views[number][lanes] = values[:, column]

    return run


def _bind_pack(instruction: Instruction, dest: Operand, source: Vector, type_: PtxType, table: SlotTable) -> Thunk:
    whole, part = _parts_of(instruction, type_, len(source.items))
    parts = table.dest(instruction, dest, whole)
    sources = [table.source(instruction, item, part) for item in source.items]

    def run(frame: Frame, lanes: Lanes) -> None:
        frame.views[parts][lanes] = np.stack([frame.views[number][lanes] for number in sources], axis=-1)

    return run


def bind_cvta(instruction: Instruction, table: SlotTable) -> Thunk:
    """PTX ISA, "cvta": to and from generic addresses."""
    mods = Modifiers(instruction)
    to_space = mods.flag("to")
    space = mods.choose("global", "const", "shared", "local", "param")
    type_ = mods.type("u32", "u64")
    mods.finish()
    base = generic_base("kernel_param" if space == "param" else space)
    change = np.uint64((-base if to_space else base) & (2**64 - 1)).astype(type_.dtype)
    dest, source = instruction.operands
    return _single_result(
        lambda a: a + change, table.dest(instruction, dest, type_), [table.source(instruction, source, type_)]
    )


def bind_isspacep(instruction: Instruction, table: SlotTable) -> Thunk:
    """PTX ISA, "isspacep": does a generic address lie in a space?"""
    mods = Modifiers(instruction)
    space = mods.choose("global", "const", "shared", "local", "param")
    mods.finish()
    number = WINDOWS[{"const": "global", "param": "kernel_param"}.get(space, space)]
    dest, source = instruction.operands
    return _single_result(
        lambda a: a >> np.uint64(WINDOW_BITS) == number,
        table.dest(instruction, dest, PRED),
        [table.source(instruction, source, TYPES["u64"])],
    )
