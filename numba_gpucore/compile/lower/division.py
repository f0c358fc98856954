"""Lowering of `%`, `//` and `divmod` of floats. Numba's own use LLVM's `frem`, which code generators for GPUs compute
as x - trunc(x / y) * y, wrong for large quotients; these use `gpu.math.fmod`.

Registered for each float type, which is more specific than Numba's own for all floats.
"""

from __future__ import annotations

import operator

from numba_gpucore.compile.lower import float_math
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import cgutils


def throw_if_zero(context, builder, divisor, message: str) -> None:
    """Under Python's error model, throw ZeroDivisionError where `divisor` is zero; under NumPy's do nothing."""
    if context.error_model.raise_on_fp_zero_division:
        is_zero = builder.fcmp_ordered("==", divisor, divisor.type(0.0))
        with cgutils.if_unlikely(builder, is_zero):
            context.error_model.fp_zero_division(builder, (message,))


def lower_real_mod(context, builder, _sig, args):
    throw_if_zero(context, builder, args[1], "modulo by zero")
    return float_math.floor_mod(builder, *args)


def lower_real_floordiv(context, builder, _sig, args):
    throw_if_zero(context, builder, args[1], "division by zero")
    return float_math.floor_divide(builder, *args)


def lower_real_divmod(context, builder, _sig, args):
    throw_if_zero(context, builder, args[1], "divmod by zero")
    quotient = float_math.floor_divide(builder, *args)
    return cgutils.pack_array(builder, [quotient, float_math.floor_mod(builder, *args)])


_IMPLEMENTATIONS = {
    operator.mod: lower_real_mod,
    operator.imod: lower_real_mod,
    operator.floordiv: lower_real_floordiv,
    operator.ifloordiv: lower_real_floordiv,
    divmod: lower_real_divmod,
}
for _operator, _implementation in _IMPLEMENTATIONS.items():
    for _type in float_math.FLOATS:
        lower(_operator, _type, _type)(_implementation)
