"""The arrays that one activation of a function works on, for all lanes. Before: slots.py. After: every thunk.

Lanes that execute the same function at the same call depth share a frame; each has its own row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .memory import FRESH_BYTE, READABLE, WINDOW_BITS, WINDOWS, WRITABLE, RowSpace
from .slots import AddressSlot, ConstantSlot, RegisterSlot, SinkSlot, Slot, SpecialSlot
from .types import PtxType, dest_view, source_view, storage_dtype

if TYPE_CHECKING:
    from .program import FunctionCode
    from .wave import Wave

#: Lanes that an instruction works on: all (a slice) or some (their ids, sorted).
Lanes = slice | np.ndarray
ALL = slice(None)


class Frame:
    """views: the arrays of the function's slots. params: formal, returned and call parameters, a row each lane.

    return_pc: where each lane goes back to. local_base: start of each lane's local variables.
    """

    def __init__(self, code: FunctionCode, depth: int, wave: Wave):
        self.code = code
        self.depth = depth
        self.wave = wave
        nlanes = wave.nlanes
        self.params = RowSpace("param", wave.ids, nlanes, code.layout.params_nbytes)
        self.params.flags[:] = READABLE | WRITABLE
        self.return_pc = np.full(nlanes, -1, np.int64)
        self.local_base = np.zeros(nlanes, np.int64)
        self.registers: dict[str, np.ndarray] = {}
        self.views = [self._array(slot) for slot in code.slots]

    def _array(self, slot: Slot) -> np.ndarray:
        match slot:
            case RegisterSlot(name, type_, is_dest):
                storage = self._register(name)
                return dest_view(storage, type_) if is_dest else source_view(storage, type_)
            case ConstantSlot(bits, type_):
                return self._constant(bits, type_)
            case SpecialSlot(name, type_):
                return self.wave.special(name, type_)
            case AddressSlot(place, type_):
                if place.space == "local":
                    # filled in by `enter_function`, when the lanes' depots are known
                    return np.zeros(self.wave.nlanes, type_.dtype)
                return self._constant(place.address, type_)
            case SinkSlot(type_):
                return self._constant(0, type_).copy()
        raise AssertionError(slot)

    def _register(self, name: str) -> np.ndarray:
        if name not in self.registers:
            dtype = storage_dtype(self.code.registers[name])
            octets = np.full(self.wave.nlanes * dtype.itemsize, 0 if dtype.kind == "b" else FRESH_BYTE, np.uint8)
            self.registers[name] = octets.view(dtype)
        return self.registers[name]

    def _constant(self, bits: int, type_: PtxType) -> np.ndarray:
        nlanes = self.wave.nlanes
        if type_.kind == "pred":
            return np.broadcast_to(np.array([bool(bits)]), (nlanes,))
        value = np.array([bits], f"u{type_.nbytes}").view(type_.dtype)
        return np.broadcast_to(value, (nlanes, type_.nparts) if type_.nparts > 1 else (nlanes,))

    def enter_function(self, lanes: Lanes) -> None:
        """Give the lanes fresh local variables on top of their stacks."""
        code, wave = self.code, self.wave
        if not code.layout.local_nbytes:
            return
        base = wave.stack_top[lanes].copy()
        wave.stack_top[lanes] = base + code.layout.local_nbytes
        self.local_base[lanes] = base
        wave.local.widen(int(wave.stack_top.max()))
        ids = wave.ids[lanes]
        rows = wave.local.flag_rows
        for start, nbytes in code.layout.local_ranges:
            rows[ids[:, None], base[:, None] + start + np.arange(nbytes)] = READABLE | WRITABLE
        for number, slot in enumerate(code.slots):
            if isinstance(slot, AddressSlot) and slot.place.space == "local":
                self.views[number][lanes] = base + slot.place.address

    def leave_function(self, lanes: Lanes) -> None:
        """Take the local variables away again."""
        code, wave = self.code, self.wave
        if code.layout.local_nbytes:
            base = self.local_base[lanes]
            wave.stack_top[lanes] = base
            ids = wave.ids[lanes]
            wave.local.flag_rows[ids[:, None], base[:, None] + np.arange(code.layout.local_nbytes)] = 0


def generic_base(space: str) -> int:
    """What is added to an address of a space to make it generic; global and constant addresses are generic already."""
    return 0 if space in ("global", "const") else WINDOWS[space] << WINDOW_BITS
