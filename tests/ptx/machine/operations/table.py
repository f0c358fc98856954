"""Which family computes an instruction. Before: the families' tables. After: program.py.

Several families share a name (`add`); the types and modifiers written decide.
"""

from __future__ import annotations

from ..syntax import Instruction
from . import approximate, bits, compare, convert, floats, halves, integer, mixed
from .operation import Modifiers, Operation

_HALF_TYPES = frozenset(halves.HALVES)
_FLOAT_TYPES = frozenset(("f32", "f32x2", "f64"))
_UNSHARED = {**bits.OPERATIONS, **compare.OPERATIONS, **convert.OPERATIONS}


def select_operation(instruction: Instruction) -> Operation | None:
    """The operation of an elementwise instruction; None if it is none. Raises UnsupportedInstruction."""
    mods = Modifiers(instruction)
    name, written = instruction.opcode, set(instruction.modifiers)
    if name in _UNSHARED:
        return _UNSHARED[name](mods)
    if written & _HALF_TYPES and "f32" in written and name in mixed.OPERATIONS:
        family = mixed.OPERATIONS
    elif written & _HALF_TYPES:
        family = halves.OPERATIONS
    elif written & {"approx", "full"}:
        family = approximate.OPERATIONS
    elif written & _FLOAT_TYPES:
        family = floats.OPERATIONS
    else:
        family = integer.OPERATIONS
    return family[name](mods) if name in family else None
