"""Exchange inside a warp. Before: wave.py schedules. After: program.py binds them.

PTX ISA, "shfl.sync", "vote.sync", "match.sync", "activemask", "redux.sync", "elect.sync", "bar.warp.sync". A lane
waits until all lanes of its membermask that have not exited are at the same instruction. What a lane gets from one
that does not take part is unspecified; here every byte of it is FRESH_BYTE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .barriers import End
from .elementwise import Thunk
from .errors import LaneFault
from .frames import Frame, Lanes
from .memory import FRESH_BYTE
from .operations import floats
from .operations.operation import Modifiers
from .slots import SlotTable, unsupported
from .syntax import Both, Instruction, Not, Operand
from .types import PRED, TYPES, PtxType

WARP_SIZE = 32
U32, B32 = TYPES["u32"], TYPES["b32"]
LANE_NUMBERS = np.arange(WARP_SIZE, dtype=np.uint32)


@dataclass(frozen=True)
class Party:
    """Lanes that execute a `.sync` instruction together. ids: their numbers. arrived: bit mask of present lanes of each
    lane's warp. members: each lane's membermask, without the lanes that have exited."""

    ids: np.ndarray
    arrived: np.ndarray
    members: np.ndarray

    @property
    def lane_ids(self) -> np.ndarray:
        return self.ids % WARP_SIZE

    @property
    def warps(self) -> np.ndarray:
        return self.ids // WARP_SIZE


Execute = Callable[[Frame, Party], None]


def ballot(flags: np.ndarray) -> np.ndarray:
    """One bit mask a warp of flags over all lanes; uint32, shape (warps,)."""
    return np.packbits(flags.reshape(-1, WARP_SIZE), axis=1, bitorder="little").view(np.uint32).reshape(-1)


def lanes_ballot(frame: Frame, ids: np.ndarray, flags: np.ndarray | bool = True) -> np.ndarray:
    """The bit mask of each lane's warp, of those of `ids` whose flag is set; shape (ids,)."""
    dense = np.zeros(frame.wave.nlanes, bool)
    dense[ids] = flags
    return ballot(dense)[ids // WARP_SIZE]


def member_matrix(masks: np.ndarray) -> np.ndarray:
    """Bit masks as booleans, shape (lanes, 32)."""
    return (masks[:, None] >> LANE_NUMBERS & np.uint32(1)).astype(bool)


def warp_values(frame: Frame, party: Party, slot: int) -> np.ndarray:
    """For each lane of the party, its warp's 32 values of an operand: shape (lanes, 32)."""
    return np.ascontiguousarray(frame.views[slot]).reshape(-1, WARP_SIZE)[party.warps]


def bind_sync(instruction: Instruction, table: SlotTable, pc: int, mask: Operand, execute: Execute) -> End:
    """Wait for the members, execute, go on."""
    mask_slot = table.source(instruction, mask, U32)

    def end(frame: Frame, lanes: Lanes) -> None:
        wave = frame.wave
        where = (-frame.depth, pc)
        if where in wave.waiting:
            lanes = wave.join(wave.waiting.pop(where), lanes)
        ids = wave.ids[lanes]
        masks = frame.views[mask_slot][lanes]
        is_member = masks >> (ids % WARP_SIZE).astype(np.uint32) & np.uint32(1) != 0
        if not is_member.all():
            bad = int(np.argmin(is_member))
            raise LaneFault(f"the thread is not in its membermask {int(masks[bad]):#010x}", int(ids[bad]))
        arrived = lanes_ballot(frame, ids)
        members = masks & ballot(wave.is_alive)[ids // WARP_SIZE]
        goes = members & ~arrived == 0
        if not goes.all():
            wave.waiting[where] = ids[~goes]
        if goes.any():
            going = ids[goes]
            execute(frame, Party(going, arrived[goes], members[goes]))
            wave.schedule(frame.depth, pc + 1, wave.compact(going))

    return end


def _two_results(
    instruction: Instruction, operand: Operand, types: tuple[PtxType, PtxType], table: SlotTable
) -> tuple[int, int | None]:
    if isinstance(operand, Both):
        return table.dest(instruction, operand.first, types[0]), table.dest(instruction, operand.second, types[1])
    return table.dest(instruction, operand, types[0]), None


def source_lane(mode: str, lane: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(lane to read from, whether it is in range) by the pseudocode of PTX ISA, "shfl.sync"."""
    b, c = b.astype(np.int64), c.astype(np.int64)
    offset, clamp, segment = b & 31, c & 31, c >> 8 & 31
    max_lane = lane & segment | clamp & ~segment
    min_lane = lane & segment
    if mode == "up":
        source = lane - offset
        in_range = source >= max_lane
    elif mode == "down":
        source = lane + offset
        in_range = source <= max_lane
    elif mode == "bfly":
        source = lane ^ offset
        in_range = source <= max_lane
    else:
        source = min_lane | offset & ~segment
        in_range = source <= max_lane
    return np.where(in_range, source, lane), in_range


def bind_shfl(instruction: Instruction, table: SlotTable, pc: int) -> End:
    mods = Modifiers(instruction)
    mods.choose("sync")
    mode = mods.choose("up", "down", "bfly", "idx")
    mods.type("b32")
    mods.finish()
    written, a, b, c, mask = instruction.operands
    dest, in_range_dest = _two_results(instruction, written, (B32, PRED), table)
    slots = [table.source(instruction, operand, U32) for operand in (a, b, c)]

    def execute(frame: Frame, party: Party) -> None:
        value, offset, clamp = (frame.views[slot] for slot in slots)
        source, in_range = source_lane(mode, party.lane_ids, offset[party.ids], clamp[party.ids])
        takes_part = party.members >> source.astype(np.uint32) & np.uint32(1) != 0
        values = value[party.warps * WARP_SIZE + source]
        frame.views[dest][party.ids] = np.where(takes_part, values, np.uint32(FRESH_BYTE * 0x01010101))
        if in_range_dest is not None:
            frame.views[in_range_dest][party.ids] = in_range

    return bind_sync(instruction, table, pc, mask, execute)


VOTES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    # (bits of true predicates, bits of members)
    "all": lambda true, members: true == members,
    "any": lambda true, members: true != 0,
    "uni": lambda true, members: (true == 0) | (true == members),
    "ballot": lambda true, members: true,
}


def bind_vote(instruction: Instruction, table: SlotTable, pc: int) -> End:
    mods = Modifiers(instruction)
    mods.choose("sync")
    mode = mods.choose(*VOTES)
    type_ = mods.type("b32" if mode == "ballot" else "pred")
    mods.finish()
    written, voted, mask = instruction.operands
    dest = table.dest(instruction, written, type_)
    is_negated = isinstance(voted, Not)
    slot = table.source(instruction, voted.register if isinstance(voted, Not) else voted, PRED)

    def execute(frame: Frame, party: Party) -> None:
        true = lanes_ballot(frame, party.ids, frame.views[slot][party.ids] ^ is_negated)
        frame.views[dest][party.ids] = VOTES[mode](true & party.members, party.members)

    return bind_sync(instruction, table, pc, mask, execute)


def bind_match(instruction: Instruction, table: SlotTable, pc: int) -> End:
    mods = Modifiers(instruction)
    mode = mods.choose("any", "all")
    mods.choose("sync")
    type_ = mods.type("b32", "b64")
    mods.finish()
    written, value, mask = instruction.operands
    dest, all_equal_dest = _two_results(instruction, written, (B32, PRED), table)
    slot = table.source(instruction, value, type_)

    def execute(frame: Frame, party: Party) -> None:
        own = frame.views[slot][party.ids]
        equal = (warp_values(frame, party, slot) == own[:, None]) & member_matrix(party.members)
        found = np.packbits(equal, axis=1, bitorder="little").view(np.uint32).reshape(-1)
        if mode == "all":
            all_equal = found == party.members
            found = np.where(all_equal, found, np.uint32(0))
            if all_equal_dest is not None:
                frame.views[all_equal_dest][party.ids] = all_equal
        frame.views[dest][party.ids] = found

    return bind_sync(instruction, table, pc, mask, execute)


#: Reductions of redux.sync with their neutral elements.
REDUCTIONS: dict[str, tuple[np.ufunc, Callable[[np.dtype], int]]] = {
    "add": (np.add, lambda dtype: 0),
    "and": (np.bitwise_and, lambda dtype: int(np.invert(dtype.type(0)))),
    "or": (np.bitwise_or, lambda dtype: 0),
    "xor": (np.bitwise_xor, lambda dtype: 0),
    "min": (np.minimum, lambda dtype: int(np.iinfo(dtype).max)),
    "max": (np.maximum, lambda dtype: int(np.iinfo(dtype).min)),
}


def bind_redux(instruction: Instruction, table: SlotTable, pc: int) -> End:
    mods = Modifiers(instruction)
    mods.choose("sync")
    name = mods.choose(*REDUCTIONS)
    if "f32" in mods.left:
        return _bind_float_redux(mods, instruction, table, pc, name)
    type_ = mods.type("u32", "s32", "b32")
    mods.finish()
    function, neutral = REDUCTIONS[name]
    written, value, mask = instruction.operands
    dest, slot = table.dest(instruction, written, type_), table.source(instruction, value, type_)

    def execute(frame: Frame, party: Party) -> None:
        values = np.where(
            member_matrix(party.members), warp_values(frame, party, slot), type_.dtype.type(neutral(type_.dtype))
        )
        frame.views[dest][party.ids] = function.reduce(values, axis=1, dtype=type_.dtype)

    return bind_sync(instruction, table, pc, mask, execute)


def _bind_float_redux(mods: Modifiers, instruction: Instruction, table: SlotTable, pc: int, name: str) -> End:
    """redux.sync.{min,max}{.abs}{.NaN}.f32 (sm_100a)."""
    takes_abs, propagates = mods.flag("abs"), mods.flag("NaN")
    type_ = mods.type("f32")
    mods.finish()
    if name not in ("min", "max"):
        raise unsupported(instruction, f"no .{name}.f32")
    fold = floats.minimum if name == "min" else floats.maximum
    fold = floats.propagate_nan(fold) if propagates else fold
    written, value, mask = instruction.operands
    dest, slot = table.dest(instruction, written, type_), table.source(instruction, value, type_)

    def execute(frame: Frame, party: Party) -> None:
        values = warp_values(frame, party, slot)
        values = np.abs(values) if takes_abs else values
        members = member_matrix(party.members)
        # a lane that takes no part counts as a copy of one that does: the own lane
        values = np.where(members, values, values[np.arange(len(party.ids)), party.lane_ids][:, None])
        result = values[:, 0]
        for column in range(1, WARP_SIZE):
            result = fold(result, values[:, column])
        frame.views[dest][party.ids] = result

    return bind_sync(instruction, table, pc, mask, execute)


def bind_elect(instruction: Instruction, table: SlotTable, pc: int) -> End:
    """The member with the lowest lane number leads."""
    mods = Modifiers(instruction)
    mods.choose("sync")
    mods.finish()
    written, mask = instruction.operands
    dest, is_leader_dest = _two_results(instruction, written, (B32, PRED), table)

    def execute(frame: Frame, party: Party) -> None:
        leader = np.argmax(member_matrix(party.members), axis=1)
        frame.views[dest][party.ids] = leader
        if is_leader_dest is not None:
            frame.views[is_leader_dest][party.ids] = leader == party.lane_ids

    return bind_sync(instruction, table, pc, mask, execute)


def bind_warp_barrier(instruction: Instruction, table: SlotTable, pc: int) -> End:
    """bar.warp.sync."""
    mods = Modifiers(instruction)
    mods.choose("warp")
    mods.choose("sync")
    mods.finish()
    (mask,) = instruction.operands
    return bind_sync(instruction, table, pc, mask, lambda frame, party: None)


def bind_activemask(instruction: Instruction, table: SlotTable) -> Thunk:
    """The lanes of the warp that execute together at this moment."""
    mods = Modifiers(instruction)
    mods.type("b32")
    mods.finish()
    dest = table.dest(instruction, instruction.operands[0], B32)

    def run(frame: Frame, lanes: Lanes) -> None:
        frame.views[dest][lanes] = lanes_ballot(frame, frame.wave.ids[lanes])

    return run
