"""Lowering of Python's `math`. Before: Numba's mathdecl, typing.math. After: gpu.math.* and LLVM intrinsics.

The result type of a signature decides the precision: integer arguments are converted to it first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from numba_gpucore.compile.lower import float_math
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import cgutils, types
from numba_gpucore.runtime import integer_math

Names = dict[Callable[..., Any], str]
#: Functions whose result has the type of their (converted) arguments, and C's names for them.
UNARY: Names = {
    math.acos: "acos", math.acosh: "acosh", math.asin: "asin", math.asinh: "asinh", math.atan: "atan",
    math.atanh: "atanh", math.cos: "cos", math.cosh: "cosh", math.erf: "erf", math.erfc: "erfc", math.exp: "exp",
    math.expm1: "expm1", math.fabs: "fabs", math.gamma: "tgamma", math.lgamma: "lgamma", math.log: "log",
    math.log10: "log10", math.log1p: "log1p", math.log2: "log2", math.sin: "sin", math.sinh: "sinh",
    math.sqrt: "sqrt", math.tan: "tan", math.tanh: "tanh",
}  # fmt: skip
BINARY: Names = {
    math.atan2: "atan2", math.copysign: "copysign", math.fmod: "fmod", math.hypot: "hypot",
    math.nextafter: "nextafter", math.pow: "pow", math.remainder: "remainder",
}  # fmt: skip
TERNARY: Names = {}
for _name, _table in (("exp2", UNARY), ("cbrt", UNARY), ("fma", TERNARY)):  # Python 3.11, 3.11, 3.13
    if hasattr(math, _name):
        _table[getattr(math, _name)] = _name
SCALES: dict[Callable[..., Any], float] = {math.degrees: 180.0 / math.pi, math.radians: math.pi / 180.0}
TO_INTEGER: Names = {math.ceil: "ceil", math.floor: "floor", math.trunc: "trunc"}
PREDICATES: dict[Callable[..., Any], tuple[Any, bool]] = {
    math.isnan: (float_math.is_nan, False),
    math.isinf: (float_math.is_infinite, False),
    math.isfinite: (float_math.is_finite, True),
}


def _lower_reals(function, name: str, arity: int) -> None:
    def implement(context, builder, sig, args):
        converted = [
            context.cast(builder, value, type_, sig.return_type) for value, type_ in zip(args, sig.args, strict=True)
        ]
        return float_math.call_real(builder, name, *converted)

    lower(function, *[types.Number] * arity)(implement)


for _arity, _table in enumerate((UNARY, BINARY, TERNARY), start=1):
    for _function, _name in _table.items():
        _lower_reals(_function, _name, _arity)


def _lower_scale(function, factor: float) -> None:
    @lower(function, types.Number)
    def implement(context, builder, sig, args):
        # the factor, rounded to a half, would be wrong by half an ulp
        type_ = types.float32 if sig.return_type == types.float16 else sig.return_type
        value = context.cast(builder, args[0], sig.args[0], type_)
        return context.cast(builder, builder.fmul(value, value.type(factor)), type_, sig.return_type)


def _lower_to_integer(function, name: str) -> None:
    @lower(function, types.Float)
    def implement(context, builder, sig, args):
        whole = float_math.call_real(builder, name, *args)
        return context.cast(builder, whole, sig.args[0], sig.return_type)

    @lower(function, types.Integer)
    def implement_integer(context, builder, sig, args):
        return context.cast(builder, args[0], sig.args[0], sig.return_type)


def _lower_predicate(function, test, of_integers: bool) -> None:
    @lower(function, types.Float)
    def implement(_context, builder, _sig, args):
        return test(builder, *args)

    @lower(function, types.Integer)
    def implement_integer(_context, _builder, _sig, _args):
        return ir.IntType(1)(of_integers)


for _function, _factor in SCALES.items():
    _lower_scale(_function, _factor)
for _function, _name in TO_INTEGER.items():
    _lower_to_integer(_function, _name)
for _function, (_test, _of_integers) in PREDICATES.items():
    _lower_predicate(_function, _test, _of_integers)


@lower(math.log, types.Number, types.Number)
def lower_log_to_base(context, builder, sig, args):
    """As CPython computes it (Modules/mathmodule.c, math_log)."""
    x, base = (
        float_math.call_real(builder, "log", context.cast(builder, value, type_, sig.return_type))
        for value, type_ in zip(args, sig.args, strict=True)
    )
    return builder.fdiv(x, base)


@lower(math.modf, types.Float)
def lower_modf(_context, builder, _sig, args):
    return cgutils.pack_array(builder, float_math.modf(builder, *args))


@lower(math.frexp, types.Float)
def lower_frexp(_context, builder, _sig, args):
    return cgutils.pack_struct(builder, float_math.frexp(builder, *args))


@lower(math.ldexp, types.Float, types.intc)
def lower_ldexp(_context, builder, _sig, args):
    return float_math.ldexp(builder, *args)


@lower(math.gcd, types.Integer, types.Integer)
def lower_gcd(context, builder, sig, args):
    return context.compile_internal(builder, integer_math.gcd, sig, args)
