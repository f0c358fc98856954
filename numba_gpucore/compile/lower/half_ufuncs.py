"""Lowering of ufuncs for halves. Before: half_ufuncs. After: late_features loads it.

Each computes as float and rounds once, as NumPy does, but for those below.
"""

from __future__ import annotations

import numpy as np

from numba_gpucore.compile.lower import float_math
from numba_gpucore.compile.lower.as_float import lower_as_float
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types, ufunc_db


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
