"""Lowering of complex and integer powers; registered for single types, which win over Numba's own.

Numba's complex powers call a C function. Its integer powers take `math.pow` for exponents beyond 2**16, whose floats
saturate and, without float64, do not know odd exponents from even ones. Powers of floats need nothing: Numba
multiplies, or calls `math.pow`, which lower.math has.
"""

from __future__ import annotations

import itertools
import math
import operator

from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import templates, types
from numba_gpucore.runtime import complex_math, integer_math


def lower_complex_power(context, builder, sig, args):
    type_ = sig.return_type
    one = context.get_constant_generic(builder, type_, 1.0 + 0.0j)
    nan = context.get_constant(type_.underlying_float, math.nan)
    inner = templates.signature(type_, *sig.args, type_, type_.underlying_float)
    return context.compile_internal(builder, complex_math.power, inner, (*args, one, nan))


def lower_integer_power(context, builder, sig, args):
    type_ = sig.return_type
    raises = context.error_model.raise_on_fp_zero_division
    function = integer_math.power_or_raise if raises else integer_math.power
    inner = templates.signature(type_, *sig.args, type_, type_)
    least = -1 << (type_.bitwidth - 1)
    constants = context.get_constant(type_, 1), context.get_constant(type_, least)
    return context.compile_internal(builder, function, inner, (*args, *constants))


for _function in (operator.pow, operator.ipow, pow):
    for _type in (types.complex64, types.complex128):
        lower(_function, _type, _type)(lower_complex_power)
    for _base, _exponent in itertools.product((types.int64, types.uint64), repeat=2):
        lower(_function, _base, _exponent)(lower_integer_power)
