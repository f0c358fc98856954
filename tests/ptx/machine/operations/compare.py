"""Comparison and selection. PTX ISA, "Comparison and Selection Instructions"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numbers import bfloat
from ..numbers.rounding import flush
from ..types import PRED, PtxType
from .operation import BITS, INTEGERS, Modifiers, Operation

Compare = Callable[[np.ndarray, np.ndarray], np.ndarray]

#: PTX ISA, "Comparisons": ordered ones are false for NaN, as NumPy's are; `ne` too, unlike NumPy's.
ORDERED: dict[str, Compare] = {
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
UNORDERED: dict[str, Compare] = {
    "equ": lambda a, b: ~ORDERED["ne"](a, b),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
FLOAT_COMPARES = {**UNORDERED, **ORDERED}
INTEGER_COMPARES: dict[str, Compare] = {
    **ORDERED,
    "ne": np.not_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
COMBINE: dict[str, Compare] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
COMPARED_TYPES = (*BITS, *INTEGERS, "f16", "f16x2", "bf16", "bf16x2", "f32", "f64")


def take_comparison(mods: Modifiers, types: tuple[str, ...] = COMPARED_TYPES) -> tuple[Compare, PtxType]:
    name = mods.choose(*FLOAT_COMPARES, *INTEGER_COMPARES)
    flushes = mods.flag("ftz")
    type_ = mods.type(*types)
    table = FLOAT_COMPARES if type_.is_float else INTEGER_COMPARES
    if name not in table or (type_.kind == "bits" and name not in ("eq", "ne")):
        raise mods.unsupported(f"no comparison .{name} of .{type_.name}")
    compare = table[name]
    if type_.kind == "bfloat":
        return lambda a, b: compare(bfloat.widen(a), bfloat.widen(b)), type_
    if flushes:
        return lambda a, b: compare(flush(a), flush(b)), type_
    return compare, type_


def select_setp(mods: Modifiers) -> Operation:
    """`p = t op c`, `q = !t op c`; packed types give one predicate for each half."""
    combine = mods.choose(*COMBINE, default="none")
    compare, type_ = take_comparison(mods)
    mods.finish()
    is_packed = type_.nparts > 1

    def operation(a: np.ndarray, b: np.ndarray, *c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        truth = compare(a, b)
        first, second = (truth[:, 0], truth[:, 1]) if is_packed else (truth, ~truth)
        if combine == "none":
            return first, second
        return COMBINE[combine](first, c[0]), COMBINE[combine](second, c[0])

    operands = (type_, type_) if combine == "none" else (type_, type_, PRED)
    return Operation(operation, (PRED, PRED), operands)


def select_set(mods: Modifiers) -> Operation:
    """All ones, or 1.0 for a float result, where the comparison holds."""
    combine = mods.choose(*COMBINE, default="none")
    # the result's type is written before the operands'
    result = mods.type("u32", "s32", "f32")
    compare, type_ = take_comparison(mods, (*BITS, *INTEGERS, "f32", "f64"))
    mods.finish()
    true = result.dtype.type(1) if result.is_float else np.array(0xFFFFFFFF, np.uint32).view(result.dtype)

    def operation(a: np.ndarray, b: np.ndarray, *c: np.ndarray) -> np.ndarray:
        truth = compare(a, b)
        if c:
            truth = COMBINE[combine](truth, c[0])
        return np.where(truth, true, result.dtype.type(0))

    return Operation(operation, (result,), (type_, type_) if combine == "none" else (type_, type_, PRED))


def select_selp(mods: Modifiers) -> Operation:
    type_ = mods.type(*BITS, *INTEGERS, "f32", "f64")
    mods.finish()
    return Operation(lambda a, b, c: np.where(c, a, b), (type_,), (type_, type_, PRED))


def select_slct(mods: Modifiers) -> Operation:
    """a where c >= 0, else b; NaN selects b."""
    flushes = mods.flag("ftz")
    type_, control = mods.type(), mods.type("s32", "f32")
    mods.finish()

    def operation(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return np.where((flush(c) if flushes else c) >= 0, a, b)

    return Operation(operation, (type_,), (type_, type_, control))


OPERATIONS: dict[str, Callable[[Modifiers], Operation]] = {
    "setp": select_setp,
    "set": select_set,
    "selp": select_selp,
    "slct": select_slct,
}
