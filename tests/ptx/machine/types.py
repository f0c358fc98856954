"""PTX's types and how registers of them lie in NumPy arrays. Before: nothing. After: parser, operations, slots.

PTX ISA, "Types" (Fundamental Types, Packed Data Types). A register of N bits is one unsigned integer of N bits a
lane; an operand of some type is a view of it. Packed types (f16x2) are views with a last axis of 2. NumPy has no
bfloat16: its bits are kept in uint16.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np

if sys.byteorder != "little":
    raise ImportError("the PTX machine views registers as bytes and needs a little-endian host, as PTX is")

Kind = Literal["bits", "signed", "unsigned", "float", "bfloat", "pred"]
NUMPY_LETTER = {"bits": "u", "signed": "i", "unsigned": "u", "float": "f", "bfloat": "u", "pred": "b"}


@dataclass(frozen=True)
class PtxType:
    """`nbits` is the width of the whole value; packed types hold `nparts` values of `nbits / nparts` bits."""

    name: str
    kind: Kind
    nbits: int
    nparts: int = 1

    @property
    def nbytes(self) -> int:
        return max(self.nbits // 8, 1)

    @property
    def dtype(self) -> np.dtype:
        """NumPy's type of one part."""
        return np.dtype(f"{NUMPY_LETTER[self.kind]}{self.nbytes // self.nparts}")

    @property
    def is_integer(self) -> bool:
        return self.kind in ("signed", "unsigned", "bits")

    @property
    def is_float(self) -> bool:
        return self.kind in ("float", "bfloat")


def _all_types() -> dict[str, PtxType]:
    letters: dict[str, Kind] = {"b": "bits", "u": "unsigned", "s": "signed"}
    types = [PtxType(f"{letter}{n}", kind, n) for letter, kind in letters.items() for n in (8, 16, 32, 64)]
    types += [PtxType(f"f{n}", "float", n) for n in (16, 32, 64)]
    types += [PtxType("f16x2", "float", 32, 2), PtxType("bf16", "bfloat", 16), PtxType("bf16x2", "bfloat", 32, 2)]
    types.append(PtxType("f32x2", "float", 64, 2))
    types.append(PtxType("pred", "pred", 1))
    return {type_.name: type_ for type_ in types}


TYPES = _all_types()
PRED = TYPES["pred"]
#: The carry flag of add.cc and its relatives (PTX ISA, "Extended-Precision Integer Arithmetic Instructions"): an
#: operand that is not written down.
CARRY = PtxType("carry", "pred", 1)
CARRY_REGISTER = "CC.CF"


def storage_dtype(type_: PtxType) -> np.dtype:
    """How a register declared with this type is kept: one unsigned integer (predicates: bool) a lane."""
    return np.dtype(bool) if type_.kind == "pred" else np.dtype(f"u{type_.nbytes}")


def source_view(storage: np.ndarray, type_: PtxType) -> np.ndarray:
    """`storage` (one register, shape (lanes,)) read as `type_`: shape (lanes,) or (lanes, nparts).

    A narrower type reads the low bits (PTX ISA, "Operand Size Exceeding Instruction-Type Size"). Raises ValueError
    when the register is narrower than the type, or one is a predicate and the other is not.
    """
    if (storage.dtype.kind == "b") != (type_.kind == "pred"):
        raise ValueError(f"a register of {storage.dtype} as .{type_.name}")
    if type_.kind == "pred":
        return storage
    if type_.nbytes > storage.itemsize:
        raise ValueError(f"a register of {storage.itemsize * 8} bits as .{type_.name}")
    view = storage.view(type_.dtype)
    if type_.nparts > 1:
        return view.reshape(-1, type_.nparts)
    return view[:: storage.itemsize // type_.nbytes]


def dest_view(storage: np.ndarray, type_: PtxType) -> np.ndarray:
    """`storage` written as `type_`: assigning a narrower integer sign- or zero-extends it, as PTX does."""
    if type_.is_integer and type_.nbytes < storage.itemsize:
        return storage.view(f"{NUMPY_LETTER[type_.kind]}{storage.itemsize}")
    if type_.kind != "pred" and type_.nbytes != storage.itemsize:
        raise ValueError(f"a result .{type_.name} in a register of {storage.itemsize * 8} bits")
    return source_view(storage, type_)
