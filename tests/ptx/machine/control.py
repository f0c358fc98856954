"""Branches, calls, returns, exits. Before: wave.py schedules. After: program.py binds them.

PTX ISA, "Control Flow Instructions", "Miscellaneous Instructions". Each ends a basic block and says where its lanes
go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .barriers import End
from .errors import LaneFault
from .frames import Frame, Lanes
from .operations.operation import Modifiers
from .slots import SlotTable, unsupported
from .syntax import Arguments, Instruction, Not, Operand, Register, Symbol
from .types import PRED, TYPES

if TYPE_CHECKING:
    from .program import FunctionCode


@dataclass(frozen=True)
class CallSite:
    """Parameter variables of a call as (start, nbytes) in the caller's frame; values come back into `results`."""

    caller: FunctionCode
    results: tuple[tuple[int, int], ...]
    arguments: tuple[tuple[int, int], ...]


def bind_fallthrough(pc: int) -> End:
    return lambda frame, lanes: frame.wave.schedule(frame.depth, pc, lanes)


def guard_slot(instruction: Instruction, table: SlotTable) -> tuple[int, bool] | None:
    """(slot, is negated) of the predicate before an instruction."""
    guard = instruction.guard
    if guard is None:
        return None
    register = guard.register if isinstance(guard, Not) else guard
    return table.source(instruction, register, PRED), isinstance(guard, Not)


def split_by_guard(frame: Frame, lanes: Lanes, guard: tuple[int, bool]) -> tuple[Lanes | None, Lanes | None]:
    """The lanes that a guard, as `guard_slot` gives it, lets through, and the others; None for none."""
    slot, is_negated = guard
    condition = frame.views[slot][lanes]
    return frame.wave.split(lanes, ~condition if is_negated else condition)


def with_guard(end: End, guard: tuple[int, bool] | None, next_pc: int) -> End:
    """Lanes whose predicate is false go to `next_pc` instead."""
    if guard is None:
        return end

    def guarded(frame: Frame, lanes: Lanes) -> None:
        taken, rest = split_by_guard(frame, lanes, guard)
        if rest is not None:
            frame.wave.schedule(frame.depth, next_pc, rest)
        if taken is not None:
            end(frame, taken)

    return guarded


def bind_bra(instruction: Instruction, labels: Mapping[str, int]) -> End:
    mods = Modifiers(instruction)
    mods.flag("uni")
    mods.finish()
    (target,) = instruction.operands
    if not isinstance(target, Symbol) or target.name not in labels:
        raise unsupported(instruction, f"no label {target}")
    return bind_fallthrough(labels[target.name])


def bind_brx(
    instruction: Instruction, table: SlotTable, labels: Mapping[str, int], targets: Mapping[str, tuple[str, ...]]
) -> End:
    """brx.idx: jump through a table of labels."""
    mods = Modifiers(instruction)
    mods.choose("idx")
    mods.flag("uni")
    mods.finish()
    index, name = instruction.operands
    if not isinstance(name, Symbol) or name.name not in targets:
        raise unsupported(instruction, f"no .branchtargets {name}")
    pcs = [labels[label] for label in targets[name.name]]
    slot = table.source(instruction, index, TYPES["u32"])

    def end(frame: Frame, lanes: Lanes) -> None:
        values = frame.views[slot][lanes]
        ids = frame.wave.ids[lanes]
        if (values >= len(pcs)).any():
            bad = int(np.argmax(values >= len(pcs)))
            raise LaneFault(f"index {values[bad]} into {len(pcs)} branch targets", int(ids[bad]))
        for value in np.unique(values):
            frame.wave.schedule(frame.depth, pcs[value], frame.wave.compact(ids[values == value]))

    return end


def bind_exit(instruction: Instruction) -> End:
    Modifiers(instruction).finish()
    return lambda frame, lanes: frame.wave.end_lanes(lanes)


def bind_trap(instruction: Instruction) -> End:
    Modifiers(instruction).finish()

    def end(frame: Frame, lanes: Lanes) -> None:
        raise LaneFault("trap", int(frame.wave.ids[lanes][0]))

    return end


def bind_ret(instruction: Instruction, code: FunctionCode, call_sites: Mapping[int, CallSite]) -> End:
    mods = Modifiers(instruction)
    mods.flag("uni")
    mods.finish()

    def end(frame: Frame, lanes: Lanes) -> None:
        wave = frame.wave
        if frame.depth == 0:
            wave.end_lanes(lanes)
            return
        frame.leave_function(lanes)
        return_pcs = frame.return_pc[lanes]
        ids = wave.ids[lanes]
        for pc in np.unique(return_pcs):
            going = wave.compact(ids[return_pcs == pc])
            site = call_sites[int(pc)]
            caller = wave.frame(site.caller, frame.depth - 1)
            _copy_params(frame, code.layout.result_ranges, caller, site.results, going)
            wave.schedule(caller.depth, int(pc), going)

    return end


def _copy_params(
    source: Frame, sources: tuple[tuple[int, int], ...], dest: Frame, dests: tuple[tuple[int, int], ...], lanes: Lanes
) -> None:
    for (start, nbytes), (to, to_nbytes) in zip(sources, dests, strict=True):
        count = min(nbytes, to_nbytes)
        dest.params.cell_rows[lanes, to : to + count] = source.params.cell_rows[lanes, start : start + count]


@dataclass(frozen=True)
class CallOperands:
    results: tuple[Operand, ...]
    target: Register | Symbol
    arguments: tuple[Operand, ...]


def split_call(instruction: Instruction) -> CallOperands:
    """`(results), target, (arguments), prototype`, all but the target optional."""
    operands = list(instruction.operands)
    results = _take_arguments(operands)
    target = operands.pop(0)
    arguments = _take_arguments(operands)
    if not isinstance(target, Register | Symbol) or any(not isinstance(rest, Symbol) for rest in operands):
        raise unsupported(instruction, "unknown form of call")
    return CallOperands(results, target, arguments)


def _take_arguments(operands: list[Operand]) -> tuple[Operand, ...]:
    if operands and isinstance(operands[0], Arguments):
        return operands.pop(0).items  # type: ignore[union-attr]
    return ()


def bind_call(
    instruction: Instruction,
    table: SlotTable,
    pc: int,
    caller: FunctionCode,
    functions: Mapping[str, FunctionCode],
    call_sites: dict[int, CallSite],
) -> End:
    mods = Modifiers(instruction)
    mods.flag("uni")
    mods.finish()
    call = split_call(instruction)
    site = CallSite(
        caller,
        tuple(_param_range(instruction, caller, operand) for operand in call.results),
        tuple(_param_range(instruction, caller, operand) for operand in call.arguments),
    )
    call_sites[pc + 1] = site
    if isinstance(call.target, Register):
        return _bind_indirect(instruction, call.target, table, site, pc)
    name = call.target.name
    if name in functions:
        callee = functions[name]
        return lambda frame, lanes: enter(frame, lanes, callee, site, pc + 1)
    raise unsupported(instruction, f"function {name} has no body")


def _param_range(instruction: Instruction, caller: FunctionCode, operand: Operand) -> tuple[int, int]:
    if not isinstance(operand, Symbol) or operand.name not in caller.layout.param_ranges:
        raise unsupported(instruction, f"{operand} is no .param variable")
    return caller.layout.param_ranges[operand.name]


def enter(frame: Frame, lanes: Lanes, callee: FunctionCode, site: CallSite, return_pc: int) -> None:
    """Start a call: hand over the arguments, remember where to return to."""
    wave = frame.wave
    inner = wave.frame(callee, frame.depth + 1)
    _copy_params(frame, site.arguments, inner, callee.layout.argument_ranges, lanes)
    inner.return_pc[lanes] = return_pc
    inner.enter_function(lanes)
    wave.schedule(inner.depth, callee.entry_pc, lanes)


def _bind_indirect(instruction: Instruction, target: Register, table: SlotTable, site: CallSite, pc: int) -> End:
    slot = table.source(instruction, target, TYPES["u64"])

    def end(frame: Frame, lanes: Lanes) -> None:
        wave = frame.wave
        addresses = frame.views[slot][lanes]
        ids = wave.ids[lanes]
        for address in np.unique(addresses):
            going = ids[addresses == address]
            callee = wave.program.function_at(int(address))
            if callee is None:
                raise LaneFault(f"no function at address {int(address):#x}", int(going[0]))
            enter(frame, wave.compact(going), callee, site, pc + 1)

    return end
