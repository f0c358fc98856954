"""Conversions. PTX ISA, "Data Movement and Conversion Instructions: cvt".

Float to integer clamps to the result's range; NaN gives 0, or the integer with only its top bit set where the source
is .f64 or the result has 64 bits (PTX ISA 9.0, "cvt", "Integer Notes").
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numbers import bfloat, pairs
from ..numbers.rounding import flush, round_pair, saturate, step
from ..types import TYPES, PtxType
from .operation import Modifiers, Operation

TO_INTEGRAL: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
TO_FLOAT = ("rn", "rz", "rm", "rp", "rna")


def widen(x: np.ndarray, type_: PtxType) -> np.ndarray:
    """Any float type to float64, exactly."""
    return (bfloat.widen(x) if type_.kind == "bfloat" else x).astype(np.float64)


def narrow(pair: pairs.Pair, type_: PtxType, mode: str) -> np.ndarray:
    """A pair rounded once to any float type."""
    if type_.kind == "bfloat":
        return bfloat.narrow(pair, mode)
    if type_.name == "f64":
        # the pair's first part is the nearest float64 already
        return step(pair[0], np.sign(pair[1]), mode)
    return round_pair(pair, type_.dtype, mode)


def integer_to_integer(source: PtxType, result: PtxType, saturates: bool) -> Callable[[np.ndarray], np.ndarray]:
    low, high = limits_of(result)

    def operation(a: np.ndarray) -> np.ndarray:
        if saturates:
            source_low, source_high = limits_of(source)
            a = np.clip(a, a.dtype.type(max(low, source_low)), a.dtype.type(min(high, source_high)))
        return a.astype(result.dtype)

    return operation


def limits_of(type_: PtxType) -> tuple[int, int]:
    if type_.kind == "signed":
        return -(1 << type_.nbits - 1), (1 << type_.nbits - 1) - 1
    return 0, (1 << type_.nbits) - 1


def float_to_integer(source: PtxType, result: PtxType, integral: str) -> Callable[[np.ndarray], np.ndarray]:
    low, high = limits_of(result)
    nan_value = 0 if source.name != "f64" and result.nbits != 64 else 1 << (result.nbits - 1)
    nan = np.array(nan_value, f"u{result.nbytes}").view(result.dtype)

    def operation(a: np.ndarray) -> np.ndarray:
        whole = TO_INTEGRAL[integral](widen(a, source))
        # float(high + 1) is a power of two and exact, unlike float(high)
        in_range = (whole >= float(low)) & (whole < float(high + 1))
        clamped = np.where(whole < float(low), result.dtype.type(low), result.dtype.type(high))
        converted = np.where(in_range, whole, 0.0).astype(result.dtype)
        return np.where(np.isnan(whole), nan, np.where(in_range, converted, clamped))

    return operation


def integer_to_float(result: PtxType, mode: str) -> Callable[[np.ndarray], np.ndarray]:
    return lambda a: narrow(pairs.integer_pair(a), result, mode)


def float_to_float(source: PtxType, result: PtxType, mode: str) -> Callable[[np.ndarray], np.ndarray]:
    def operation(a: np.ndarray) -> np.ndarray:
        wide = widen(a, source)
        return narrow((wide, np.zeros_like(wide)), result, mode)

    if source == result:
        return lambda a: a
    return operation


def select_cvt(mods: Modifiers) -> Operation:
    if {"f16x2", "bf16x2"} & set(mods.left):
        return _select_packed(mods)
    integral, mode = mods.choose(*TO_INTEGRAL, default="none"), mods.choose(*TO_FLOAT, default="rn")
    flushes, saturates, rectifies = mods.flag("ftz"), mods.flag("sat"), mods.flag("relu")
    result, source = mods.type(), mods.type()
    mods.finish()
    if mode == "rna" or result.nparts > 1 or source.nparts > 1:
        raise mods.unsupported("unknown conversion")
    function = _conversion(mods, source, result, integral, mode, saturates)
    if rectifies:
        raise mods.unsupported(".relu is known for packed results only")
    return Operation(_finish(function, source, result, flushes, saturates), (result,), (source,))


def _conversion(
    mods: Modifiers, source: PtxType, result: PtxType, integral: str, mode: str, saturates: bool
) -> Callable[[np.ndarray], np.ndarray]:
    if source.is_integer and result.is_integer:
        return integer_to_integer(source, result, saturates)
    if source.is_integer:
        return integer_to_float(result, mode)
    if result.is_integer:
        if integral == "none":
            raise mods.unsupported("a conversion from float to integer needs a rounding modifier")
        return float_to_integer(source, result, integral)
    if integral != "none":
        if source != result:
            raise mods.unsupported("integral rounding between two float types")
        return TO_INTEGRAL[integral]
    return float_to_float(source, result, mode)


def _finish(function: Callable, source: PtxType, result: PtxType, flushes: bool, saturates: bool) -> Callable:
    flushes_source, flushes_result = (flushes and type_.name == "f32" for type_ in (source, result))
    saturates = saturates and result.kind == "float"
    if not (flushes_source or flushes_result or saturates):
        return function

    def operation(a: np.ndarray) -> np.ndarray:
        value = function(flush(a) if flushes_source else a)
        value = flush(value) if flushes_result else value
        return saturate(value) if saturates else value

    return operation


def _select_packed(mods: Modifiers) -> Operation:
    """cvt.rn{.relu}.f16x2.f32 d, a, b: a becomes the upper half, b the lower."""
    mode = mods.choose("rn", "rz")
    rectifies, saturates = mods.flag("relu"), mods.flag("satfinite")
    result, source = mods.type("f16x2", "bf16x2"), mods.type("f32")
    mods.finish()
    if saturates:
        raise mods.unsupported("unknown modifier .satfinite")
    part = TYPES[result.name.removesuffix("x2")]
    convert = float_to_float(source, part, mode)

    def operation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        lower, upper = np.broadcast_arrays(b, a)
        both = np.stack([lower, upper], axis=-1)
        return convert(np.where(both <= 0, np.float32(0), both) if rectifies else both)

    return Operation(operation, (result,), (source, source))


OPERATIONS = {"cvt": select_cvt}
