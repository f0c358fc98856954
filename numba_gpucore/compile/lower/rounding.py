"""Lowering of `round`: half to even, as Python. Numba's own calls `llvm.rint`, which not every code generator takes.

Registered for each float type, which is more specific than Numba's own for all floats.
"""

from __future__ import annotations

from numba_gpucore.compile.lower import float_math
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import templates, types
from numba_gpucore.runtime import rounding


def lower_round(context, builder, sig, args):
    whole = float_math.call_real(builder, "rint", *args)
    return context.cast(builder, whole, sig.args[0], sig.return_type)


def lower_round_to_digits(context, builder, sig, args):
    type_ = sig.args[0]
    layout = float_math.layout_of(args[0].type)
    inner = templates.signature(sig.return_type, *sig.args, type_)
    whole_from = args[0].type(2.0 ** (layout.mantissa_bits + 1))
    return context.compile_internal(builder, rounding.round_to_digits, inner, (*args, whole_from))


for _type in float_math.FLOATS:
    lower(round, _type)(lower_round)
    lower(round, _type, types.Integer)(lower_round_to_digits)
