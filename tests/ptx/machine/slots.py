"""Operands as arrays. Before: parser.py's operands. After: binder.py asks for slots, frames.py fills them.

A slot is a number by which an instruction finds an operand in its frame: an array with one row a lane, be it a view
of a register, a constant, a special register or a variable's address. Equal operands share a slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import UnsupportedInstruction
from .syntax import Instruction, Literal, Operand, Register, Sink, Special, Symbol
from .types import TYPES, PtxType


@dataclass(frozen=True)
class Place:
    """Where a symbol lives. `space`: "global" (absolute address), "shared", "local" (relative to the frame's depot),
    "kernel_param", "frame_param", "code" (absolute address of a function)."""

    space: str
    address: int


@dataclass(frozen=True)
class RegisterSlot:
    name: str
    type: PtxType
    is_dest: bool


@dataclass(frozen=True)
class ConstantSlot:
    bits: int
    type: PtxType


@dataclass(frozen=True)
class SpecialSlot:
    name: str
    type: PtxType


@dataclass(frozen=True)
class AddressSlot:
    place: Place
    type: PtxType


@dataclass(frozen=True)
class SinkSlot:
    type: PtxType


Slot = RegisterSlot | ConstantSlot | SpecialSlot | AddressSlot | SinkSlot


class SlotTable:
    """The slots of one function, numbered in order of first use; `places` knows every symbol that it may name."""

    def __init__(self, registers: dict[str, PtxType], places: dict[str, Place]):
        self.registers = registers
        self.places = places
        self.numbers: dict[Slot, int] = {}

    @property
    def slots(self) -> list[Slot]:
        return list(self.numbers)

    def number(self, slot: Slot) -> int:
        return self.numbers.setdefault(slot, len(self.numbers))

    def source(self, instruction: Instruction, operand: Operand, type_: PtxType) -> int:
        match operand:
            case Register(name):
                self._check_width(instruction, name, type_)
                return self.number(RegisterSlot(name, type_, False))
            case Literal():
                return self.number(ConstantSlot(literal_bits(operand, type_), type_))
            case Special(name):
                return self.number(SpecialSlot(name, type_))
            case Symbol(name):
                return self.number(AddressSlot(self.place(instruction, name), type_))
        raise unsupported(instruction, f"operand {operand} is not known here")

    def dest(self, instruction: Instruction, operand: Operand, type_: PtxType) -> int:
        match operand:
            case Register(name):
                self._check_width(instruction, name, type_)
                return self.number(RegisterSlot(name, type_, True))
            case Sink():
                return self.number(SinkSlot(type_))
        raise unsupported(instruction, f"result {operand} is not known here")

    def place(self, instruction: Instruction, name: str) -> Place:
        if name not in self.places:
            raise unsupported(instruction, f"{name} is not declared")
        return self.places[name]

    def _check_width(self, instruction: Instruction, name: str, type_: PtxType) -> None:
        declared = self.registers[name]
        if (declared.kind == "pred") != (type_.kind == "pred") or declared.nbits < type_.nbits:
            raise unsupported(instruction, f"register {name} of type .{declared.name} as .{type_.name}")


def unsupported(instruction: Instruction, what: str) -> UnsupportedInstruction:
    return UnsupportedInstruction(instruction.line, instruction.text, what)


def literal_bits(literal: Literal, type_: PtxType) -> int:
    """The bit pattern of a constant as an operand of `type_` (PTX ISA, "Constants")."""
    if type_.kind == "pred":
        return int(literal.value != 0)
    if literal.kind == "int":
        return int(literal.value) & ((1 << type_.nbits) - 1)
    if literal.kind == "real":
        return _float_bits(float(literal.value), type_)
    if type_.nbits == (32 if literal.kind == "f32" else 64):
        return int(literal.value)
    source = TYPES[literal.kind]
    value = np.array(literal.value, f"u{source.nbytes}").view(source.dtype)
    return _float_bits(float(value), type_)


def _float_bits(value: float, type_: PtxType) -> int:
    return int(np.array(value, f"f{type_.nbytes}").view(f"u{type_.nbytes}"))
