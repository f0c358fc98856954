"""Lowering of `np.complex64(re, im)`. Calls of number classes with one argument are Numba's own."""

from __future__ import annotations

from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types


@lower(types.NumberClass, types.Float, types.Float)
def lower_complex_of_parts(context, builder, sig, args):
    number = context.make_complex(builder, sig.return_type)
    number.real, number.imag = args
    return number._getvalue()
