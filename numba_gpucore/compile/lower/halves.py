"""Lowering of what Numba has for float and double only. Before: half_typing. After: target context.

A half is LLVM's `half`, on which most of Numba's lowering works as it is: + - * and comparisons, casts, `abs`. What is
here divides, or computes as float and rounds once; `half_ufuncs` does that for NumPy's functions.
"""

from __future__ import annotations

import operator

from numba_gpucore.compile.lower.as_float import lower_as_float
from numba_gpucore.compile.lower.division import throw_if_zero
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types


def lower_half_division(context, builder, _sig, args):
    throw_if_zero(context, builder, args[1], "division by zero")
    return builder.fdiv(*args)


for _function in (operator.truediv, operator.itruediv):
    lower(_function, types.float16, types.float16)(lower_half_division)


# Halves would be rounded at each step.
for _function in (operator.floordiv, operator.ifloordiv, operator.mod, operator.imod, divmod):
    lower_as_float(_function, types.float16, types.float16)
for _function in (operator.pow, operator.ipow, pow):
    for _exponent in (types.int32, types.int64, types.uint64, types.IntegerLiteral):
        lower_as_float(_function, types.float16, _exponent)
