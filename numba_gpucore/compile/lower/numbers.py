"""Lowering of `np.complex64(re, im)`, and of members of an IntEnum among floats, which Numba types but cannot convert.

Calls of number classes with one argument are Numba's own.
"""

from __future__ import annotations

from numba_gpucore.compile.lower.registry import lower, lower_cast
from numba_gpucore.compile.numba_api import types


@lower(types.NumberClass, types.Float, types.Float)
def lower_complex_of_parts(context, builder, sig, args):
    number = context.make_complex(builder, sig.return_type)
    number.real, number.imag = args
    return number._getvalue()


@lower_cast(types.IntEnumMember, types.Float)
def cast_member_to_float(context, builder, fromty, toty, value):
    return context.cast(builder, value, fromty.dtype, toty)
