"""Integer arithmetic. PTX ISA, "Integer Arithmetic" and "Extended-Precision Integer Arithmetic Instructions".

NumPy's integers wrap as PTX's do. `u16x2` and `s16x2` are not known.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..types import CARRY, TYPES, PtxType
from .operation import INTEGERS, Modifiers, Operation, Select

U32, S32 = TYPES["u32"], TYPES["s32"]
NO_CARRY = np.zeros(1, bool)
WIDE = {"u16": TYPES["u32"], "s16": TYPES["s32"], "u32": TYPES["u64"], "s32": TYPES["s64"]}


def clamp_sum(function: Callable, type_: PtxType) -> Callable:
    """.sat of add and sub, .s32 only: the exact result limited to the type's range."""

    def operation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        wide = function(a.astype(np.int64), b.astype(np.int64))
        return np.clip(wide, -(2**31), 2**31 - 1).astype(type_.dtype)

    return operation


def multiply_high(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The upper half of the product."""
    if a.itemsize < 8:
        wide = np.int64 if a.dtype.kind == "i" else np.uint64
        return (a.astype(wide) * b.astype(wide) >> wide(8 * a.itemsize)).astype(a.dtype)
    if a.dtype.kind == "i":
        ua, ub = a.view(np.uint64), b.view(np.uint64)
        fixed = multiply_high(ua, ub) - np.where(a < 0, ub, 0).astype(np.uint64) - np.where(b < 0, ua, 0)
        return fixed.astype(np.uint64).view(np.int64)
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_low, a_high, b_low, b_high = a & mask, a >> half, b & mask, b >> half
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> half) + (other >> half)


def multiply_wide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    wide = np.dtype(f"{a.dtype.kind}{2 * a.itemsize}")
    return a.astype(wide) * b.astype(wide)


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Truncating. Division by zero is unspecified in PTX; all ones here, as NVIDIA's hardware gives."""
    a, b = np.broadcast_arrays(a, b)
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = a // safe
    if a.dtype.kind == "i":
        quotient = quotient + ((a - quotient * safe != 0) & ((a < 0) != (safe < 0)))
    return np.where(b == 0, ~a.dtype.type(0), quotient)


def remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a - (a / b) * b`, with the sign of a. By zero unspecified in PTX; a here."""
    return np.where(b == 0, a, a - divide(a, b) * b)


def absolute_difference_sum(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return c + np.where(a < b, b - a, a - b)


MULTIPLY: dict[str, Callable[..., np.ndarray]] = {"lo": np.multiply, "hi": multiply_high, "wide": multiply_wide}


def select_add_sub(function: Callable) -> Select:
    def select(mods: Modifiers) -> Operation:
        if "cc" in mods.left:
            return _select_carry(mods, function, takes_carry=False)
        saturates = mods.flag("sat")
        type_ = mods.type(*(("s32",) if saturates else INTEGERS))
        mods.finish()
        return Operation(clamp_sum(function, type_) if saturates else function, (type_,), (type_, type_))

    return select


def select_add_carry(function: Callable) -> Select:
    return lambda mods: _select_carry(mods, function, takes_carry=True)


def _carried(function: Callable, a: np.ndarray, b: np.ndarray, carry: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unsigned sum or difference with a carry or borrow, and the carry or borrow out."""
    carry = carry.astype(a.dtype)
    if function is np.add:
        partial = a + b
        total = partial + carry
        return total, (partial < a) | (total < partial)
    partial = a - b
    total = partial - carry
    return total, (a < b) | (partial < carry)


def _select_carry(mods: Modifiers, function: Callable, takes_carry: bool) -> Operation:
    gives_carry = mods.flag("cc")
    type_ = TYPES[mods.type("u32", "s32", "u64", "s64").name.replace("s", "u")]
    mods.finish()

    def operation(a: np.ndarray, b: np.ndarray, carry: np.ndarray = NO_CARRY) -> tuple | np.ndarray:
        total, carry_out = _carried(function, a, b, carry)
        return (total, carry_out) if gives_carry else total

    return Operation(
        operation, (type_, CARRY) if gives_carry else (type_,), (type_, type_, CARRY) if takes_carry else (type_, type_)
    )


def select_mul(mods: Modifiers) -> Operation:
    half = mods.choose("lo", "hi", "wide")
    type_ = mods.type(*INTEGERS)
    mods.finish()
    return Operation(MULTIPLY[half], (WIDE[type_.name] if half == "wide" else type_,), (type_, type_))


def select_mad(mods: Modifiers) -> Operation:
    if "cc" in mods.left:
        return _select_mad_carry(mods, takes_carry=False)
    half = mods.choose("lo", "hi", "wide")
    saturates = mods.flag("sat")
    type_ = mods.type(*(("s32",) if saturates else INTEGERS))
    mods.finish()
    multiply = MULTIPLY[half]
    sum_type = WIDE[type_.name] if half == "wide" else type_
    add = clamp_sum(np.add, type_) if saturates else np.add
    return Operation(lambda a, b, c: add(multiply(a, b), c), (sum_type,), (type_, type_, sum_type))


def select_mad_carry(mods: Modifiers) -> Operation:
    return _select_mad_carry(mods, takes_carry=True)


def _select_mad_carry(mods: Modifiers, takes_carry: bool) -> Operation:
    gives_carry = mods.flag("cc")
    multiply = MULTIPLY[mods.choose("lo", "hi")]
    type_ = mods.type("u32", "s32", "u64", "s64")
    mods.finish()
    unsigned = f"u{type_.nbytes}"

    def operation(a: np.ndarray, b: np.ndarray, c: np.ndarray, carry: np.ndarray = NO_CARRY) -> tuple | np.ndarray:
        product = multiply(a, b).view(unsigned)
        total, carry_out = _carried(np.add, product, np.ascontiguousarray(c).view(unsigned), carry)
        return (total, carry_out) if gives_carry else total

    operands = (type_, type_, type_, CARRY) if takes_carry else (type_, type_, type_)
    result = TYPES[f"u{type_.nbits}"]
    return Operation(operation, (result, CARRY) if gives_carry else (result,), operands)


def mul24(half: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The low (or bits 47 to 16, "hi") 32 bits of the product of the operands' low 24 bits."""
    wide = np.int64 if a.dtype.kind == "i" else np.uint64
    shift = wide(40)
    product = (a.astype(wide) << shift >> shift) * (b.astype(wide) << shift >> shift)
    return (product if half == "lo" else product >> wide(16)).astype(a.dtype)


def select_mul24(mods: Modifiers) -> Operation:
    half = mods.choose("lo", "hi")
    type_ = mods.type("u32", "s32")
    mods.finish()
    return Operation(lambda a, b: mul24(half, a, b), (type_,), (type_, type_))


def select_mad24(mods: Modifiers) -> Operation:
    half = mods.choose("lo", "hi")
    type_ = mods.type("u32", "s32")
    mods.finish()
    return Operation(lambda a, b, c: mul24(half, a, b) + c, (type_,), (type_,) * 3)


def same_type(function: Callable, arity: int, types: tuple[str, ...]) -> Select:
    """An operation whose operands and result have the one type in its name."""

    def select(mods: Modifiers) -> Operation:
        type_ = mods.type(*types)
        mods.finish()
        return Operation(function, (type_,), (type_,) * arity)

    return select


def dot_product(nparts: int) -> Select:
    """dp4a and dp2a: sum of products of bytes (and halves), added to c."""

    def select(mods: Modifiers) -> Operation:
        takes_upper = nparts == 2 and mods.choose("lo", "hi") == "hi"
        a_type, b_type = mods.type("u32", "s32"), mods.type("u32", "s32")
        mods.finish()
        is_signed = "s32" in (a_type.name, b_type.name)
        result = S32 if is_signed else U32
        a_part = np.dtype(f"{a_type.dtype.kind}{4 // nparts}")
        b_part = np.dtype(f"{b_type.dtype.kind}1")

        def operation(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
            a_parts = np.ascontiguousarray(a).view(a_part).reshape(-1, nparts).astype(np.int64)
            b_parts = np.ascontiguousarray(b).view(b_part).reshape(-1, 4).astype(np.int64)
            b_parts = b_parts[:, 2:] if takes_upper else b_parts[:, :nparts]
            return ((a_parts * b_parts).sum(axis=1) + c).astype(result.dtype)

        return Operation(operation, (result,), (a_type, b_type, result))

    return select


def select_neg(mods: Modifiers) -> Operation:
    type_ = mods.type("s16", "s32", "s64")
    mods.finish()
    return Operation(np.negative, (type_,), (type_,))


OPERATIONS: dict[str, Select] = {
    "add": select_add_sub(np.add),
    "sub": select_add_sub(np.subtract),
    "addc": select_add_carry(np.add),
    "subc": select_add_carry(np.subtract),
    "mul": select_mul,
    "mad": select_mad,
    "madc": select_mad_carry,
    "mul24": select_mul24,
    "mad24": select_mad24,
    "div": same_type(divide, 2, INTEGERS),
    "rem": same_type(remainder, 2, INTEGERS),
    "abs": same_type(np.abs, 1, ("s16", "s32", "s64")),
    "neg": select_neg,
    "min": same_type(np.minimum, 2, INTEGERS),
    "max": same_type(np.maximum, 2, INTEGERS),
    "sad": same_type(absolute_difference_sum, 3, INTEGERS),
    "dp4a": dot_product(4),
    "dp2a": dot_product(2),
}
