"""Arithmetic of f16, bf16 and their pairs. PTX ISA, "Half Precision Floating-Point Instructions".

NumPy computes float16 in float32 and rounds, which is right for + - * (24 >= 2 * 11 + 2 bits). fma goes through float64
pairs. bfloat16 is widened to float64, computed exactly as a pair and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numbers import bfloat, pairs
from ..numbers.rounding import flush, round_pair, saturate
from ..types import PtxType
from . import floats
from .operation import Modifiers, Operation

HALVES = ("f16", "f16x2", "bf16", "bf16x2")
F16 = np.dtype(np.float16)


def half_arithmetic(name: str, type_: PtxType) -> Callable[..., np.ndarray]:
    if type_.kind == "float" and name != "fma":
        return floats.NEAREST[name]

    def operation(*operands: np.ndarray) -> np.ndarray:
        if type_.kind == "float":
            return round_pair(pairs.fma_pair(*(x.astype(np.float64) for x in operands)), F16, "rn")
        wide = [bfloat.widen(x).astype(np.float64) for x in operands]
        return bfloat.narrow(floats.PAIRS[name](*wide), "rn")

    return operation


def on_values(function: Callable[..., np.ndarray], type_: PtxType) -> Callable[..., np.ndarray]:
    """Lift a function of floats to the type: bfloat16 is widened to float32 and narrowed again."""
    if type_.kind == "float":
        return function

    def operation(*operands: np.ndarray) -> np.ndarray:
        result = function(*(bfloat.widen(x) for x in operands)).astype(np.float64)
        return bfloat.narrow((result, np.zeros_like(result)), "rn")

    return operation


def finish_half(function: Callable, type_: PtxType, flushes: bool, saturates: bool, rectifies: bool) -> Callable:
    """Add .ftz, .sat and .relu (negative to +0, NaN stays)."""
    if flushes and type_.kind == "float":
        inner = function

        def function(*operands: np.ndarray) -> np.ndarray:
            return flush(inner(*(flush(x) for x in operands)))

    if saturates:
        unsaturated, limit = function, on_values(saturate, type_)
        return lambda *operands: limit(unsaturated(*operands))
    if rectifies:
        unrectified, rectify = function, on_values(lambda x: np.where(x <= 0, x.dtype.type(0), x), type_)
        return lambda *operands: rectify(unrectified(*operands))
    return function


def select_arithmetic(name: str, arity: int) -> Callable[[Modifiers], Operation]:
    def select(mods: Modifiers) -> Operation:
        mods.choose("rn", default="rn")
        flushes, saturates, rectifies = mods.flag("ftz"), mods.flag("sat"), mods.flag("relu")
        type_ = mods.type(*HALVES)
        mods.finish()
        function = finish_half(half_arithmetic(name, type_), type_, flushes, saturates, rectifies)
        return Operation(function, (type_,), (type_,) * arity)

    return select


def select_extremum(function: Callable) -> Callable[[Modifiers], Operation]:
    def select(mods: Modifiers) -> Operation:
        chosen = floats.choose_extremum(mods, function)
        flushes = mods.flag("ftz")
        type_ = mods.type(*HALVES)
        mods.finish()
        operation = finish_half(on_values(chosen, type_), type_, flushes, False, False)
        return Operation(operation, (type_,), (type_,) * mods.nsources)

    return select


def select_sign(is_abs: bool) -> Callable[[Modifiers], Operation]:
    """abs and neg change the sign bit alone."""

    def select(mods: Modifiers) -> Operation:
        flushes = mods.flag("ftz")
        type_ = mods.type(*HALVES)
        mods.finish()
        sign, rest = np.uint16(0x8000), np.uint16(0x7FFF)

        def operation(a: np.ndarray) -> np.ndarray:
            bits = np.ascontiguousarray(a).view(np.uint16)
            return (bits & rest if is_abs else bits ^ sign).view(type_.dtype)

        return Operation(finish_half(operation, type_, flushes, False, False), (type_,), (type_,))

    return select


def select_approximate(name: str) -> Callable[[Modifiers], Operation]:
    """ex2 and tanh of halves: exact in float64, rounded once."""
    function = {"ex2": np.exp2, "tanh": np.tanh}[name]

    def select(mods: Modifiers) -> Operation:
        mods.choose("approx")
        mods.flag("ftz")
        type_ = mods.type(*HALVES)
        mods.finish()

        def operation(a: np.ndarray) -> np.ndarray:
            if type_.kind == "float":
                return function(a.astype(np.float64)).astype(F16)
            result = function(bfloat.widen(a).astype(np.float64))
            return bfloat.narrow((result, np.zeros_like(result)), "rn")

        return Operation(operation, (type_,), (type_,))

    return select


OPERATIONS: dict[str, Callable[[Modifiers], Operation]] = {
    "add": select_arithmetic("add", 2),
    "sub": select_arithmetic("sub", 2),
    "mul": select_arithmetic("mul", 2),
    "fma": select_arithmetic("fma", 3),
    "min": select_extremum(floats.minimum),
    "max": select_extremum(floats.maximum),
    "abs": select_sign(True),
    "neg": select_sign(False),
    "ex2": select_approximate("ex2"),
    "tanh": select_approximate("tanh"),
}
