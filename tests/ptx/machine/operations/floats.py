"""Arithmetic of float32 and float64. PTX ISA, "Floating-Point Instructions". See also halves.py and approximate.py.

Rounding to nearest is the host's own (IEEE 754); directed rounding goes through pairs (float32) or fractions.
A NaN's payload is what the host gives, which PTX leaves open for float32.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numbers import pairs
from ..numbers.exact import directed, directed_sqrt
from ..numbers.fused import fused_multiply_add
from ..numbers.rounding import flush, round_pair, saturate
from ..types import TYPES, PtxType
from .operation import Modifiers, Operation

ROUNDING = ("rn", "rz", "rm", "rp")

#: What sm_100 and later compute on two float32 in a 64-bit register (.f32x2).
PACKED = ("add", "sub", "mul", "fma")
NEAREST: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "fma": fused_multiply_add,
    "sqrt": np.sqrt,
    "rcp": np.reciprocal,
}
PAIRS: dict[str, Callable[..., pairs.Pair]] = {
    "add": pairs.add_pair,
    "sub": pairs.subtract_pair,
    "mul": pairs.multiply_pair,
    "div": pairs.divide_pair,
    "fma": pairs.fma_pair,
    "sqrt": pairs.sqrt_pair,
    "rcp": pairs.reciprocal_pair,
}
FRACTIONS: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
    "rcp": lambda a: 1 / a,
}
ADDENDS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "add": lambda a, b: (a, b),
    "sub": lambda a, b: (a, -b),
    "fma": lambda a, b, c: (a * b, c),
}


def rounded(name: str, mode: str, type_: PtxType) -> Callable[..., np.ndarray]:
    """The operation `name` of NEAREST on float32 or float64 with rounding `mode`."""
    if mode == "rn":
        return NEAREST[name]
    if type_.name in ("f32", "f32x2"):
        function = _through_pairs(name, mode)
    elif name == "sqrt":
        function = directed_sqrt(mode)
    else:
        function = directed(FRACTIONS[name], NEAREST[name], mode)
    return _with_negative_zero_sum(function, ADDENDS[name]) if mode == "rm" and name in ADDENDS else function


def _through_pairs(name: str, mode: str) -> Callable[..., np.ndarray]:
    def operation(*operands: np.ndarray) -> np.ndarray:
        wide = [x.astype(np.float64) for x in operands]
        return round_pair(PAIRS[name](*wide), np.dtype(np.float32), mode)

    return operation


def _with_negative_zero_sum(function: Callable, addends: Callable) -> Callable[..., np.ndarray]:
    """Rounding down, opposite addends give -0 (IEEE 754-2019, 6.3)."""

    def operation(*operands: np.ndarray) -> np.ndarray:
        result = function(*operands)
        a, b = addends(*(x.astype(np.float64) for x in operands))
        cancels = (result == 0) & (a == -b) & (np.signbit(a) != np.signbit(b))
        return np.where(cancels, result.dtype.type(-0.0), result)

    return operation


def finish_float(function: Callable, flushes: bool, saturates: bool = False) -> Callable:
    """Add .ftz (operands and result) and .sat."""
    if flushes:
        inner = function

        def function(*operands: np.ndarray) -> np.ndarray:
            return flush(inner(*(flush(x) for x in operands)))

    if saturates:
        unsaturated = function
        return lambda *operands: saturate(unsaturated(*operands))
    return function


def select_arithmetic(name: str, arity: int) -> Callable[[Modifiers], Operation]:
    """add, sub, mul, fma (mad), and with a rounding modifier div, rcp, sqrt."""

    def select(mods: Modifiers) -> Operation:
        mode = mods.choose(*ROUNDING, default="rn")
        flushes, saturates = mods.flag("ftz"), mods.flag("sat")
        type_ = mods.type("f32", "f64", *(("f32x2",) if name in PACKED else ()))
        mods.finish()
        if type_.name == "f64" and (flushes or saturates):
            raise mods.unsupported(".ftz and .sat are for .f32")
        if type_.name == "f32x2" and saturates:
            raise mods.unsupported(".sat is for .f32")
        return Operation(finish_float(rounded(name, mode, type_), flushes, saturates), (type_,), (type_,) * arity)

    return select


def order_zeros(picked: np.ndarray, other: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where a and b are both zero: `picked` and `other` combined, so that -0 counts as less than +0."""
    return np.where((a == 0) & (b == 0), other, picked)


def minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A number rather than NaN; -0 < +0 (PTX ISA, "min")."""
    return order_zeros(np.fmin(a, b), np.copysign(a.dtype.type(0), np.where(np.signbit(a), a, b)), a, b)


def maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return order_zeros(np.fmax(a, b), np.copysign(a.dtype.type(0), np.where(np.signbit(a), b, a)), a, b)


def propagate_nan(function: Callable) -> Callable:
    """.NaN: NaN if either operand is NaN."""
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), function(a, b))


def xor_sign_of_magnitudes(function: Callable) -> Callable:
    """.xorsign.abs: the operation on magnitudes, with the sign of the product."""

    def operation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        is_negative = np.signbit(a) != np.signbit(b)
        magnitude = function(np.abs(a), np.abs(b))
        return np.where(is_negative, -magnitude, magnitude)

    return operation


def choose_extremum(mods: Modifiers, function: Callable) -> Callable:
    """Consume .NaN and .xorsign.abs; fold over two or three operands."""
    if mods.flag("NaN"):
        function = propagate_nan(function)
    if mods.flag("xorsign"):
        mods.choose("abs")
        function = xor_sign_of_magnitudes(function)
    chosen = function
    return chosen if mods.nsources == 2 else lambda a, b, c: chosen(chosen(a, b), c)


def select_extremum(function: Callable) -> Callable[[Modifiers], Operation]:
    def select(mods: Modifiers) -> Operation:
        operation = choose_extremum(mods, function)
        flushes = mods.flag("ftz")
        type_ = mods.type("f32", "f64")
        mods.finish()
        return Operation(finish_float(operation, flushes), (type_,), (type_,) * mods.nsources)

    return select


def select_sign(function: Callable, arity: int = 1) -> Callable[[Modifiers], Operation]:
    """abs, neg, copysign: operations on the sign bit."""

    def select(mods: Modifiers) -> Operation:
        flushes = mods.flag("ftz")
        type_ = mods.type("f32", "f64")
        mods.finish()
        return Operation(finish_float(function, flushes), (type_,), (type_,) * arity)

    return select


def _is_normal(a: np.ndarray) -> np.ndarray:
    return np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny)


#: PTX ISA, "testp".
PROPERTIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    "normal": _is_normal,
    "subnormal": lambda a: (a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny),
}


def select_testp(mods: Modifiers) -> Operation:
    test = PROPERTIES[mods.choose(*PROPERTIES)]
    type_ = mods.type("f32", "f64")
    mods.finish()
    return Operation(test, (TYPES["pred"],), (type_,))


OPERATIONS: dict[str, Callable[[Modifiers], Operation]] = {
    "add": select_arithmetic("add", 2),
    "sub": select_arithmetic("sub", 2),
    "mul": select_arithmetic("mul", 2),
    "fma": select_arithmetic("fma", 3),
    "mad": select_arithmetic("fma", 3),
    "div": select_arithmetic("div", 2),
    "rcp": select_arithmetic("rcp", 1),
    "sqrt": select_arithmetic("sqrt", 1),
    "min": select_extremum(minimum),
    "max": select_extremum(maximum),
    "abs": select_sign(np.abs),
    "neg": select_sign(np.negative),
    # PTX's first operand gives the sign, the second the value.
    "copysign": select_sign(lambda a, b: np.copysign(b, a), 2),
    "testp": select_testp,
}
