"""Loads and stores. Before: memory.py, slots.py. After: program.py. PTX ISA, "ld", "ld.global.nc", "st", "prefetch".

Orders and scopes (.relaxed, .gpu, .volatile …) change nothing: instructions execute one after another. Cache hints
change nothing either, but `.nc` is checked: what it reads, no thread of the launch may write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .elementwise import Thunk
from .errors import LaneFault
from .frames import Frame, Lanes
from .memory import READABLE, WINDOW_BITS, WINDOWS, WRITABLE, ByteSpace, GlobalMemory
from .operations.operation import Modifiers
from .slots import AddressSlot, Place, SlotTable, unsupported
from .syntax import Address, Instruction, Operand, Register, Symbol, Vector
from .types import TYPES, PtxType

ORDERS = ("weak", "relaxed", "acquire", "release", "acq_rel", "seq_cst", "volatile", "mmio")
SCOPES = ("cta", "cluster", "gpu", "sys")
CACHE_HINTS = (
    "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
    "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
    "L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::64B", "L2::128B", "L2::256B",
)  # fmt: skip
SPACES = ("global", "const", "shared::cta", "shared", "local", "param")


@dataclass(frozen=True)
class BoundAddress:
    """An address operand: the value of a slot plus a constant, in a state space ("generic" if none was written)."""

    slot: int
    offset: int
    space: str
    is_narrow: bool

    def of(self, frame: Frame, lanes: Lanes) -> np.ndarray:
        """Addresses of the lanes; int64."""
        addresses = frame.views[self.slot][lanes].astype(np.int64)
        if self.offset:
            addresses = addresses + self.offset
        return addresses & 0xFFFFFFFF if self.is_narrow else addresses


def take_space(mods: Modifiers) -> str:
    return mods.choose(*SPACES, default="generic").removesuffix("::cta")


def bind_address(instruction: Instruction, operand: Operand, space: str, table: SlotTable) -> BoundAddress:
    if not isinstance(operand, Address):
        raise unsupported(instruction, f"{operand} is no address")
    base = operand.base
    is_narrow = isinstance(base, Register) and table.registers[base.name].nbits == 32
    type_ = TYPES["u32" if is_narrow else "u64"]
    if isinstance(base, Symbol):
        place = table.place(instruction, base.name)
        space = _space_of_symbol(instruction, place, space)
        return BoundAddress(table.number(AddressSlot(place, type_)), operand.offset, space, False)
    if space == "param":
        space = "kernel_param"
    return BoundAddress(table.source(instruction, base, type_), operand.offset, _merged(space), is_narrow)


def _merged(space: str) -> str:
    """Constant variables lie in global memory, protected."""
    return "global" if space == "const" else space


def _space_of_symbol(instruction: Instruction, place: Place, space: str) -> str:
    expected = {"param": ("kernel_param", "frame_param")}.get(space, (_merged(space),))
    if space != "generic" and place.space not in expected:
        raise unsupported(instruction, f"a variable in .{place.space} accessed as .{space}")
    return place.space


def parts_by_space(
    frame: Frame, lanes: Lanes, space: str, addresses: np.ndarray
) -> Iterator[tuple[np.ndarray | slice, ByteSpace, np.ndarray, np.ndarray]]:
    """Split an access by state space: yields (which of the lanes, space, their ids, addresses inside the space)."""
    wave = frame.wave
    ids = wave.ids[lanes]
    if space == "frame_param":
        yield slice(None), frame.params, ids, addresses
    elif space != "generic":
        yield slice(None), wave.space(space), ids, addresses
    else:
        windows = addresses >> WINDOW_BITS
        for window in np.unique(windows):
            chosen = slice(None) if (windows == window).all() else np.flatnonzero(windows == window)
            name = _WINDOW_NAMES.get(int(window))
            if name is None:
                first = ids[chosen][0]
                raise LaneFault(f"generic address {int(addresses[chosen][0]):#x} is in no state space", int(first))
            base = 0 if name == "global" else int(window) << WINDOW_BITS
            yield chosen, wave.space(name), ids[chosen], addresses[chosen] - base


_WINDOW_NAMES = {number: name for name, number in WINDOWS.items() if name != "code"}


def _take_memory_modifiers(mods: Modifiers) -> tuple[str, bool, int, PtxType]:
    """(space, is .nc, vector length, element type) of a load or store."""
    for choices in (ORDERS, SCOPES):
        mods.choose(*choices, default="none")
    space = take_space(mods)
    is_nc = "nc" in mods.left
    while mods.choose(*CACHE_HINTS, default="none") != "none":
        pass
    count = int(mods.choose("v2", "v4", "v8", default="v1")[1:])
    type_ = mods.type()
    mods.finish()
    return space, is_nc, count, type_


def _elements(instruction: Instruction, operand: Operand, count: int) -> tuple[Operand, ...]:
    items = operand.items if isinstance(operand, Vector) else (operand,)
    if len(items) != count:
        raise unsupported(instruction, f"{len(items)} registers for {count} elements")
    return items


def bind_load(instruction: Instruction, table: SlotTable) -> Thunk:
    space, is_nc, count, type_ = _take_memory_modifiers(Modifiers(instruction))
    written, where = instruction.operands
    dests = [table.dest(instruction, item, type_) for item in _elements(instruction, written, count)]
    address = bind_address(instruction, where, space, table)
    nbytes = type_.nbytes

    def run(frame: Frame, lanes: Lanes) -> None:
        values = load_lanes(frame, lanes, address, nbytes, count, is_nc).view(type_.dtype)
        if count == 1:
            frame.views[dests[0]][lanes] = values
        else:
            for column, dest in enumerate(dests):
                frame.views[dest][lanes] = values[:, column]

    return run


def load_lanes(
    frame: Frame, lanes: Lanes, address: BoundAddress, nbytes: int, count: int, is_nc: bool = False
) -> np.ndarray:
    """Unsigned values, shape (lanes,) or (lanes, count)."""
    addresses = address.of(frame, lanes)
    whole: np.ndarray | None = None
    for chosen, space, ids, local in parts_by_space(frame, lanes, address.space, addresses):
        offsets = space.locate(ids, local, nbytes * count, READABLE)
        if is_nc and isinstance(space, GlobalMemory):
            space.note_nc_read(ids, offsets, nbytes * count)
        values = space.load(offsets, nbytes, count)
        if isinstance(chosen, slice):
            return values
        if whole is None:
            whole = np.empty((len(addresses), *values.shape[1:]), values.dtype)
        whole[chosen] = values
    return whole if whole is not None else np.empty(0, f"u{nbytes}")


def bind_store(instruction: Instruction, table: SlotTable) -> Thunk:
    space, _is_nc, count, type_ = _take_memory_modifiers(Modifiers(instruction))
    where, written = instruction.operands
    sources = [table.source(instruction, item, type_) for item in _elements(instruction, written, count)]
    address = bind_address(instruction, where, space, table)

    def run(frame: Frame, lanes: Lanes) -> None:
        if count == 1:
            values = frame.views[sources[0]][lanes]
        else:
            values = np.stack([frame.views[source][lanes] for source in sources], axis=-1)
        store_lanes(frame, lanes, address, values)

    return run


def store_lanes(frame: Frame, lanes: Lanes, address: BoundAddress, values: np.ndarray) -> None:
    count = 1 if values.ndim == 1 else values.shape[1]
    nbytes = values.itemsize * count
    unsigned = np.ascontiguousarray(values).view(f"u{values.itemsize}")
    for chosen, space, ids, local in parts_by_space(frame, lanes, address.space, address.of(frame, lanes)):
        offsets = space.locate(ids, local, nbytes, READABLE | WRITABLE)
        if frame.wave.watches_nc and isinstance(space, GlobalMemory):
            space.note_write(ids, offsets, nbytes)
        space.store(offsets, unsigned[chosen])


def bind_prefetch(instruction: Instruction, table: SlotTable) -> Thunk:
    """A hint: nothing happens."""
    mods = Modifiers(instruction)
    take_space(mods)
    mods.choose("L1", "L2", "L2::evict_last", "L2::evict_normal")
    mods.finish()
    return lambda frame, lanes: None
