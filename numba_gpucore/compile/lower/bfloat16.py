"""Lowering of bfloat16: 16 bits, computed as float32 and rounded once. Before: typing.bfloat16. After: target context.

Devices convert by `gpu.bfloat.*`.
"""

from __future__ import annotations

import struct

from llvmlite import ir

from numba_gpucore.compile.intrinsics import NARROW_BFLOAT, WIDEN_BFLOAT
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.as_float import lower_as_float
from numba_gpucore.compile.lower.registry import lower, lower_cast, lower_constant
from numba_gpucore.compile.numba_api import datamodel, types
from numba_gpucore.compile.typing.bfloat16 import ARITHMETIC, COMPARISONS, SIGNS, BFloat16

I16 = ir.IntType(16)


@datamodel.register_default(BFloat16)
class BFloat16Model(datamodel.models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, I16)


@lower_cast(BFloat16, types.Number)
@lower_cast(BFloat16, types.Boolean)
def cast_from_bfloat16(context, builder, fromty, toty, value):
    return context.cast(builder, call_intrinsic(builder, WIDEN_BFLOAT, value), types.float32, toty)


@lower_cast(types.Number, BFloat16)
@lower_cast(types.Boolean, BFloat16)
def cast_to_bfloat16(context, builder, fromty, toty, value):
    if isinstance(fromty, BFloat16):
        return value
    # Through float32 whatever it was, as ml_dtypes.
    return call_intrinsic(builder, NARROW_BFLOAT, context.cast(builder, value, fromty, types.float32))


@lower(bool, BFloat16)
@lower(int, BFloat16)
def lower_conversion(context, builder, sig, args):
    return context.cast(builder, args[0], sig.args[0], sig.return_type)


@lower_constant(BFloat16)
def lower_bfloat16_constant(context, builder, type_, value):
    return I16(bfloat16_bits(float(value)))


def bfloat16_bits(value: float) -> int:
    """The pattern of the nearest bfloat16, ties to even, of a number that float32 holds."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return (bits >> 16) | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


# Typing widens before comparing; `max` and `min` do not.
for _function in (*ARITHMETIC, *COMPARISONS, *SIGNS):
    lower_as_float(_function, *[BFloat16] * (1 if _function in SIGNS else 2))
