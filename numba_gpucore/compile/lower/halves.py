"""Lowering of what Numba has for float and double only. Before: half_typing. After: target context.

A half is LLVM's `half`, on which most of Numba's lowering works as it is: + - * and comparisons, casts, `abs`. What is
here divides, or computes as float and rounds once, as NumPy does.
"""

from __future__ import annotations

import operator

import numpy as np

from numba_gpucore.compile.lower import float_math
from numba_gpucore.compile.lower.as_float import lower_as_float
from numba_gpucore.compile.lower.division import throw_if_zero
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types, ufunc_db


def lower_half_division(context, builder, _sig, args):
    throw_if_zero(context, builder, args[1], "division by zero")
    return builder.fdiv(*args)


for _function in (operator.truediv, operator.itruediv):
    lower(_function, types.float16, types.float16)(lower_half_division)


# Multiplying halves would round at each step.
for _function in (operator.pow, operator.ipow, pow):
    for _exponent in (types.int32, types.int64, types.uint64, types.IntegerLiteral):
        lower_as_float(_function, types.float16, _exponent)


def lower_nextafter(_context, builder, _sig, args):
    return float_math.call_real(builder, "nextafter", *args)


def lower_spacing(_context, builder, _sig, args):
    """The distance to the next half above, which is never negative: so NumPy has it for halves (but for no others)."""
    (value,) = args
    above = float_math.call_real(builder, "nextafter", value, value.type(float("inf")))
    is_infinite = float_math.is_infinite(builder, value)
    return builder.select(is_infinite, value.type(float("nan")), builder.fsub(above, value))


def _lower_ufuncs() -> None:
    for ufunc in ufunc_db.get_ufuncs():
        if ufunc is np.nextafter:
            lower(ufunc, types.float16, types.float16)(lower_nextafter)
        elif ufunc is np.spacing:
            lower(ufunc, types.float16)(lower_spacing)
        elif ufunc is np.ldexp:
            lower_as_float(ufunc, types.float16, types.Integer)
        else:
            lower_as_float(ufunc, *[types.float16] * ufunc.nin)


_lower_ufuncs()
