"""NumPy's ufuncs, element by element. Before: Numba's table of loops. After: the target context asks `ufunc_info`.

Numba's table is for the CPU: its transcendental loops call C. Those loops are replaced here, and those of integers that
leave results open; comparisons, datetimes and the like are Numba's own.
"""

from __future__ import annotations

import cmath
import math
from functools import cache

import numpy as np
from llvmlite import ir

from numba_gpucore.compile.lower import division, float_math, integers, power
from numba_gpucore.compile.numba_api import templates, types, ufunc_db
from numba_gpucore.runtime import complex_math, integer_math, real_math

REAL_LETTERS, COMPLEX_LETTERS, INTEGER_LETTERS = "efd", "FD", "bBhHiIlLqQ"
MAX_LDEXP_EXPONENT = 2**16

#: Loops over reals that are functions of C.
REALS = {
    np.arccos: "acos", np.arccosh: "acosh", np.arcsin: "asin", np.arcsinh: "asinh", np.arctan: "atan",
    np.arctan2: "atan2", np.arctanh: "atanh", np.cbrt: "cbrt", np.ceil: "ceil", np.copysign: "copysign",
    np.cos: "cos", np.cosh: "cosh", np.exp: "exp", np.exp2: "exp2", np.expm1: "expm1", np.fabs: "fabs",
    np.floor: "floor", np.fmod: "fmod", np.hypot: "hypot", np.log: "log", np.log10: "log10", np.log1p: "log1p",
    np.log2: "log2", np.nextafter: "nextafter", np.power: "pow", np.float_power: "pow", np.rint: "rint",
    np.sin: "sin", np.sinh: "sinh", np.sqrt: "sqrt", np.tan: "tan", np.tanh: "tanh", np.trunc: "trunc",
}  # fmt: skip
DIVISIONS = {
    np.remainder: division.lower_real_mod,
    np.floor_divide: division.lower_real_floordiv,
    np.divmod: division.lower_real_divmod,
}
INTEGERS = {
    np.add: integers.wrapping("add"),
    np.subtract: integers.wrapping("sub"),
    np.multiply: integers.wrapping("mul"),
    np.remainder: integers.lower_modulo,
    np.floor_divide: integers.lower_floor_divide,
    np.divmod: integers.lower_divmod,
    np.fmod: integers.lower_truncated_modulo,
    np.power: power.lower_integer_power,
    np.left_shift: integers.lower_left_shift,
    np.right_shift: integers.lower_right_shift,
}
COMPLEX = {
    np.arccos: cmath.acos, np.arccosh: cmath.acosh, np.arcsin: cmath.asin, np.arcsinh: cmath.asinh,
    np.arctan: cmath.atan, np.arctanh: cmath.atanh, np.cos: cmath.cos, np.cosh: cmath.cosh, np.exp: cmath.exp,
    np.log: cmath.log, np.log10: cmath.log10, np.sin: cmath.sin, np.sinh: cmath.sinh, np.sqrt: cmath.sqrt,
    np.tan: cmath.tan, np.tanh: cmath.tanh,
}  # fmt: skip
OWN_COMPLEX = {
    np.divide: complex_math.divide,
    np.exp2: complex_math.exp2,
    np.expm1: complex_math.expm1,
    np.log1p: complex_math.log1p,
    np.log2: complex_math.log2,
}


def ufunc_info(ufunc: np.ufunc):
    """Loop ("dd->d") to lowering function for one ufunc. Raises KeyError for ufuncs that Numba does not know."""
    return _ufunc_table()[ufunc]


@cache
def _ufunc_table():
    table = {ufunc: dict(ufunc_db.get_ufunc_info(ufunc)) for ufunc in ufunc_db.get_ufuncs()}
    for ufunc, name in REALS.items():
        _fill(table, ufunc, REAL_LETTERS, _real_loop(name))
    for ufunc, loop in DIVISIONS.items():
        _fill(table, ufunc, REAL_LETTERS, loop)
    for ufunc, loop in INTEGERS.items():
        _fill(table, ufunc, INTEGER_LETTERS, loop)
    for ufunc, function in COMPLEX.items():
        _fill(table, ufunc, COMPLEX_LETTERS, _python_loop(_called(function)))
    for ufunc, function in OWN_COMPLEX.items():
        _fill(table, ufunc, COMPLEX_LETTERS, _python_loop(function))
    for ufunc in (np.power, np.float_power):
        _fill(table, ufunc, COMPLEX_LETTERS, power.lower_complex_power)
    _fill(table, np.rint, COMPLEX_LETTERS, _lower_complex_rint)
    _fill(table, np.gcd, INTEGER_LETTERS, _python_loop(integer_math.gcd))
    _fill(table, np.lcm, INTEGER_LETTERS, _python_loop(integer_math.lcm))
    _fill(table, np.sign, REAL_LETTERS, _lower_real_sign)
    _fill(table, np.sign, INTEGER_LETTERS, _lower_integer_sign)
    _fill(table, np.spacing, REAL_LETTERS, _lower_spacing)
    _fill(table, np.logaddexp, REAL_LETTERS, _loop_with_constants(real_math.log_add_exp, 0.0))
    _fill(table, np.logaddexp2, REAL_LETTERS, _loop_with_constants(real_math.log_add_exp2, 0.0, math.log(2.0)))
    for loop in table[np.ldexp]:
        table[np.ldexp][loop] = _lower_ldexp
    return table


def _fill(table, ufunc: np.ufunc, letters: str, loop) -> None:
    """Put `loop` in for the loops of `ufunc` that work on one type throughout."""
    for letter in letters:
        signature = f"{letter * ufunc.nin}->{letter * ufunc.nout}"
        if signature in ufunc.types:
            table[ufunc][signature] = loop


def _real_loop(name: str):
    def implement(_context, builder, _sig, args):
        return float_math.call_real(builder, name, *args)

    return implement


def _called(function):
    def implement(z):
        return function(z)

    return implement


def _python_loop(function):
    def implement(context, builder, sig, args):
        return context.compile_internal(builder, function, sig, args)

    return implement


def _loop_with_constants(function, *constants: float):
    """`function` takes the constants, in the type of the result, after the arguments of the ufunc."""

    def implement(context, builder, sig, args):
        type_ = sig.return_type
        inner = templates.signature(type_, *sig.args, *[type_] * len(constants))
        return context.compile_internal(
            builder, function, inner, (*args, *(context.get_constant(type_, value) for value in constants))
        )

    return implement


def _lower_complex_rint(context, builder, sig, args):
    z = context.make_complex(builder, sig.args[0], args[0])
    z.real = float_math.call_real(builder, "rint", z.real)
    z.imag = float_math.call_real(builder, "rint", z.imag)
    return z._getvalue()


def _lower_real_sign(_context, builder, _sig, args):
    (value,) = args
    zero, one = value.type(0.0), value.type(1.0)
    sign = builder.select(builder.fcmp_ordered("<", value, zero), value.type(-1.0), zero)
    sign = builder.select(builder.fcmp_ordered(">", value, zero), one, sign)
    return builder.select(float_math.is_nan(builder, value), value, sign)


def _lower_integer_sign(_context, builder, sig, args):
    (value,) = args
    zero, one = value.type(0), value.type(1)
    sign = builder.select(builder.icmp_unsigned("!=", value, zero), one, zero)
    if not sig.return_type.signed:
        return sign
    return builder.select(builder.icmp_signed("<", value, zero), value.type(-1), sign)


def _lower_spacing(_context, builder, _sig, args):
    """The distance to the next number away from zero, with the sign of the number; of -0.0 as of 0.0."""
    value = builder.fadd(*args, args[0].type(0.0))
    away = float_math.call_llvm(builder, "llvm.copysign", value.type(float("inf")), value)
    return builder.fsub(float_math.call_math(builder, "nextafter", value, away), value)


def _lower_ldexp(context, builder, sig, args):
    value, exponent = args
    wide = context.cast(builder, exponent, sig.args[1], types.int64)
    limit = ir.IntType(64)(MAX_LDEXP_EXPONENT)
    wide = builder.select(builder.icmp_signed(">", wide, limit), limit, wide)
    wide = builder.select(builder.icmp_signed("<", wide, builder.neg(limit)), builder.neg(limit), wide)
    return float_math.ldexp(builder, value, builder.trunc(wide, ir.IntType(32)))
