"""Atomics. Before: access.py. After: program.py. PTX ISA, "atom", "red".

Lanes that meet at one address take turns in the order of their ids, which makes results reproducible: lanes are ranked
among those of their address, and ranks execute one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .access import ORDERS, SCOPES, BoundAddress, bind_address, parts_by_space, take_space
from .elementwise import Thunk
from .frames import Frame, Lanes
from .memory import READABLE, WRITABLE, ByteSpace, GlobalMemory
from .numbers.rounding import flush
from .operations import floats
from .operations.halves import half_arithmetic, on_values
from .operations.operation import Modifiers
from .slots import SlotTable
from .syntax import Instruction
from .types import PtxType

Combine = Callable[..., np.ndarray]


def compare_and_swap(old: np.ndarray, expected: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.where(old == expected, new, old)


INTEGER_OPERATIONS: dict[str, Combine] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    # PTX ISA, "atom": inc wraps to 0 above b, dec to b at 0 or above b
    "inc": lambda old, b: np.where(old >= b, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, b: np.where((old == 0) | (old > b), b, old - old.dtype.type(1)),
    "exch": lambda old, b: b,
    "cas": compare_and_swap,
}


def choose_combine(mods: Modifiers, name: str, type_: PtxType, space: str) -> Combine:
    if not type_.is_float:
        return INTEGER_OPERATIONS[name]
    if name == "add" and type_.nbits == 32 and type_.nparts == 1:
        # documented for global memory alone: "flushes subnormal inputs and results to sign-preserving zero"
        return np.add if space == "shared" else lambda old, b: flush(flush(old) + flush(b))
    if name == "add":
        return np.add if type_.name == "f64" else half_arithmetic("add", type_)
    if name in ("min", "max") and type_.nbits == 16 * type_.nparts:
        return on_values(floats.minimum if name == "min" else floats.maximum, type_)
    raise mods.unsupported(f"no .{name} of .{type_.name}")


def bind_atom(instruction: Instruction, table: SlotTable) -> Thunk:
    """atom: the old value goes to the first operand."""
    return _bind(instruction, table, has_result=True)


def bind_red(instruction: Instruction, table: SlotTable) -> Thunk:
    """red: no result."""
    return _bind(instruction, table, has_result=False)


def _bind(instruction: Instruction, table: SlotTable, has_result: bool) -> Thunk:
    mods = Modifiers(instruction)
    for choices in (ORDERS, SCOPES):
        mods.choose(*choices, default="none")
    space = take_space(mods)
    name = mods.choose(*INTEGER_OPERATIONS)
    mods.flag("noftz")
    type_ = mods.type()
    mods.finish()
    combine = choose_combine(mods, name, type_, space)
    operands = list(instruction.operands)
    dest = table.dest(instruction, operands.pop(0), type_) if has_result else None
    address = bind_address(instruction, operands.pop(0), space, table)
    sources = [table.source(instruction, operand, type_) for operand in operands]

    def run(frame: Frame, lanes: Lanes) -> None:
        values = [frame.views[source][lanes] for source in sources]
        old = update_lanes(frame, lanes, address, type_, combine, values)
        if dest is not None:
            frame.views[dest][lanes] = old

    return run


def update_lanes(
    frame: Frame, lanes: Lanes, address: BoundAddress, type_: PtxType, combine: Combine, values: list[np.ndarray]
) -> np.ndarray:
    """Do the operation for every lane; returns what each found."""
    old = np.empty((len(frame.wave.ids[lanes]), *values[0].shape[1:]), type_.dtype)
    for chosen, space, ids, local in parts_by_space(frame, lanes, address.space, address.of(frame, lanes)):
        offsets = space.locate(ids, local, type_.nbytes, READABLE | WRITABLE)
        if frame.wave.watches_nc and isinstance(space, GlobalMemory):
            space.note_write(ids, offsets, type_.nbytes)
        old[chosen] = _update_space(space, offsets, type_, combine, [value[chosen] for value in values])
    return old


def _update_space(
    space: ByteSpace, offsets: np.ndarray, type_: PtxType, combine: Combine, values: list[np.ndarray]
) -> np.ndarray:
    flat = space.views[type_.nbytes].view(type_.dtype)
    cells = flat if type_.nparts == 1 else flat.reshape(-1, type_.nparts)
    index = offsets // type_.nbytes
    old = cells[index]
    if combine(old, *values).tobytes() == old.tobytes():
        # nobody changes anything, so turns do not matter: the many lanes that spin on a lock come here
        return old
    for turn in turns(index):
        where = index[turn]
        old[turn] = cells[where]
        cells[where] = combine(old[turn], *(value[turn] for value in values))
    return old


def turns(index: np.ndarray) -> Iterator[np.ndarray | slice]:
    """Groups of positions such that no two in a group have the same index, in order of position."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    is_first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    if is_first.all():
        yield slice(None)
        return
    starts = np.flatnonzero(is_first)
    rank = np.arange(len(index)) - np.repeat(starts, np.diff(np.append(starts, len(index))))
    by_rank = np.argsort(rank, kind="stable")
    yield from np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1])
