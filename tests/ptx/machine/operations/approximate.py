"""Approximate functions. PTX ISA, "Floating-Point Instructions": div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh.

Hardware gives an error bound, not bits. Here float32 functions are computed in float64 and rounded once, which lies
within every bound; code must not depend on more. `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` look at the upper
32 bits only and leave the lower ones zero, as documented, so that the Newton steps after them are really exercised.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numbers.rounding import flush
from ..types import PtxType
from .operation import Modifiers, Operation

F32_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "div": np.divide,
    "rcp": lambda a: 1.0 / a,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
    "sin": np.sin,
    "cos": np.cos,
    "lg2": np.log2,
    "ex2": np.exp2,
    "tanh": np.tanh,
}
UPPER_WORD = np.uint64(0xFFFFFFFF00000000)


def approximate(name: str, type_: PtxType, flushes: bool) -> Callable[..., np.ndarray]:
    function = F32_FUNCTIONS[name]

    def operation(*operands: np.ndarray) -> np.ndarray:
        if flushes:
            operands = tuple(flush(x) for x in operands)
        result = function(*(x.astype(np.float64) for x in operands)).astype(type_.dtype)
        return flush(result) if flushes else result

    return operation


def divide_approximately(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """div.approx: for 2**126 < |b| < 2**128 the result is 0 for finite a, NaN for infinite a (PTX ISA, "div")."""
    quotient = (a.astype(np.float64) / b.astype(np.float64)).astype(np.float32)
    is_huge = (np.abs(b) > np.float32(2.0**126)) & np.isfinite(b)
    zero = np.copysign(np.float32(0), quotient)
    return np.where(is_huge, np.where(np.isinf(a), np.float32(np.nan), np.where(np.isnan(a), a, zero)), quotient)


def gross(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """rcp and rsqrt .approx.ftz.f64: 20 bits of mantissa from 20 bits; subnormals flushed."""

    def operation(a: np.ndarray) -> np.ndarray:
        upper = (np.ascontiguousarray(a).view(np.uint64) & UPPER_WORD).view(np.float64)
        result = np.atleast_1d(F32_FUNCTIONS[name](flush(upper)))
        return flush((result.view(np.uint64) & UPPER_WORD).view(np.float64))

    return operation


def select_approximate(name: str) -> Callable[[Modifiers], Operation]:
    arity = 2 if name == "div" else 1

    def select(mods: Modifiers) -> Operation:
        kind = mods.choose("approx", "full")
        flushes = mods.flag("ftz")
        type_ = mods.type("f32", "f64")
        mods.finish()
        if type_.name == "f64":
            if name == "rsqrt" and not flushes:
                return Operation(F32_FUNCTIONS[name], (type_,), (type_,))
            if name not in ("rcp", "rsqrt") or not flushes:
                raise mods.unsupported("has no .f64 form")
            return Operation(gross(name), (type_,), (type_,))
        if name == "div" and kind == "approx":
            function = divide_approximately
            if flushes:
                return Operation(lambda a, b: flush(function(flush(a), flush(b))), (type_,), (type_, type_))
            return Operation(function, (type_,), (type_, type_))
        return Operation(approximate(name, type_, flushes), (type_,), (type_,) * arity)

    return select


OPERATIONS = {name: select_approximate(name) for name in F32_FUNCTIONS}
