"""Narrow floats computed as float32 and rounded once. Before: half_typing, typing.bfloat16. After: halves, bfloat16.

float32's 24 bits are enough for + - * / of halves and bfloat16 to be rounded twice as once. Source: Figueroa, "When is
double rounding innocuous?", 1995: 2 p + 2 bits.
"""

from __future__ import annotations

from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types
from numba_gpucore.compile.typing.bfloat16 import widen


def lower_as_float(function, *arg_types) -> None:
    """Lower `function` for arguments of these types by calling it with float32 in place of narrow floats."""

    @lower(function, *arg_types)
    def implement(context, builder, sig, args):
        resolved = context.typing_context.resolve_value_type(function)
        wide_sig = resolved.get_call_type(context.typing_context, tuple(map(_widen, sig.args)), {})
        values = [context.cast(builder, *cast) for cast in zip(args, sig.args, wide_sig.args, strict=True)]
        result = context.get_function(resolved, wide_sig)(builder, values)
        return context.cast(builder, result, wide_sig.return_type, sig.return_type)


def _widen(type_: types.Type) -> types.Type:
    return types.float32 if type_ == types.float16 else widen(type_)
