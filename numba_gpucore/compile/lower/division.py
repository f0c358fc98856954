"""Lowering of `%`, `//` and `divmod` of floats, and of `/` of complex numbers.

Numba's own of floats use LLVM's `frem`, which code generators for GPUs compute as x - trunc(x / y) * y, wrong for large
quotients; these use `gpu.math.fmod`. Its own of complex numbers throws ZeroDivisionError under NumPy's error model too.

Registered for single types, which are more specific than Numba's own for all; `halves` has those of float16.
"""

from __future__ import annotations

import operator

from numba_gpucore.compile.lower import float_math
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import cgutils, types
from numba_gpucore.runtime import complex_math


def throw_if_zero(context, builder, divisor, message: str) -> None:
    """Under Python's error model, throw ZeroDivisionError where `divisor` is zero; under NumPy's do nothing."""
    if context.error_model.raise_on_fp_zero_division:
        is_zero = builder.fcmp_ordered("==", divisor, divisor.type(0.0))
        with cgutils.if_unlikely(builder, is_zero):
            context.error_model.fp_zero_division(builder, (message,))


def lower_real_mod(context, builder, _sig, args):
    throw_if_zero(context, builder, args[1], "modulo by zero")
    return float_math.floor_divmod(builder, *args)[1]


def lower_real_floordiv(context, builder, _sig, args):
    throw_if_zero(context, builder, args[1], "division by zero")
    return float_math.floor_divmod(builder, *args)[0]


def lower_real_divmod(context, builder, _sig, args):
    throw_if_zero(context, builder, args[1], "divmod by zero")
    return cgutils.pack_array(builder, float_math.floor_divmod(builder, *args))


def lower_complex_division(context, builder, sig, args):
    raises = context.error_model.raise_on_fp_zero_division
    function = complex_math.divide_or_raise if raises else complex_math.divide
    return context.compile_internal(builder, function, sig, args)


_IMPLEMENTATIONS = {
    operator.mod: lower_real_mod,
    operator.imod: lower_real_mod,
    operator.floordiv: lower_real_floordiv,
    operator.ifloordiv: lower_real_floordiv,
    divmod: lower_real_divmod,
}
for _operator, _implementation in _IMPLEMENTATIONS.items():
    for _type in (types.float32, types.float64):
        lower(_operator, _type, _type)(_implementation)
for _operator in (operator.truediv, operator.itruediv):
    for _type in (types.complex64, types.complex128):
        lower(_operator, _type, _type)(lower_complex_division)
