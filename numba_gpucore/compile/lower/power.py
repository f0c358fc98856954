"""Lowering of complex powers. Numba's own call a C function; registered for each complex type, which wins over it.

Powers of integers and floats need nothing: Numba multiplies, or calls `math.pow`, which lower.math has.
"""

from __future__ import annotations

import math
import operator

from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import templates, types
from numba_gpucore.runtime import complex_math


def lower_complex_power(context, builder, sig, args):
    type_ = sig.return_type
    one = context.get_constant_generic(builder, type_, 1.0 + 0.0j)
    nan = context.get_constant(type_.underlying_float, math.nan)
    inner = templates.signature(type_, *sig.args, type_, type_.underlying_float)
    return context.compile_internal(builder, complex_math.power, inner, (*args, one, nan))


for _function in (operator.pow, operator.ipow, pow):
    for _type in (types.complex64, types.complex128):
        lower(_function, _type, _type)(lower_complex_power)
