"""Instructions that compute each lane's result from that lane's operands. Before: syntax. After: every family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import UnsupportedInstruction
from ..syntax import Instruction
from ..types import TYPES, PtxType


@dataclass(frozen=True)
class Operation:
    """`function` takes one array for each of `operands` (shape (lanes,), packed types (lanes, 2)) and returns one
    array, or a tuple of them if there are several `results`."""

    function: Callable[..., np.ndarray | tuple[np.ndarray, ...]]
    results: tuple[PtxType, ...]
    operands: tuple[PtxType, ...]


class Modifiers:
    """The modifiers of one instruction, taken one by one; what is left at the end was not understood."""

    def __init__(self, instruction: Instruction):
        self.instruction = instruction
        self.left = list(instruction.modifiers)

    def flag(self, name: str) -> bool:
        if name in self.left:
            self.left.remove(name)
            return True
        return False

    def choose(self, *names: str, default: str | None = None) -> str:
        """The one of `names` that is there, else `default`; without a default one must be there."""
        for name in names:
            if self.flag(name):
                return name
        if default is None:
            raise self.unsupported(f"needs one of {', '.join(names)}")
        return default

    def type(self, *allowed: str) -> PtxType:
        """The first modifier that is a type. With `allowed`, it must be one of these."""
        for name in self.left:
            if name in TYPES:
                self.left.remove(name)
                if allowed and name not in allowed:
                    raise self.unsupported(f"has no type .{name}")
                return TYPES[name]
        raise self.unsupported("needs a type")

    @property
    def nsources(self) -> int:
        """How many operands are written after the result."""
        return len(self.instruction.operands) - 1

    def finish(self) -> None:
        if self.left:
            raise self.unsupported(f"unknown modifier .{' .'.join(self.left)}")

    def unsupported(self, what: str) -> UnsupportedInstruction:
        instruction = self.instruction
        return UnsupportedInstruction(instruction.line, instruction.text, f"{instruction.opcode}: {what}")


Select = Callable[[Modifiers], Operation]
INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
BITS = ("b16", "b32", "b64")
