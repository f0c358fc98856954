"""Lowering of `item in tuple` for tuples of several types: what cannot be compared is not equal, as in Python."""

from __future__ import annotations

import operator

from llvmlite import ir

from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import errors, types


@lower(operator.contains, types.Tuple, types.Any)
@lower(operator.contains, types.NamedTuple, types.Any)
def lower_tuple_contains(context, builder, sig, args):
    container_type, item_type = sig.args
    container, item = args
    found = ir.IntType(1)(0)
    for position, type_ in enumerate(container_type):
        equal = _equality(context, type_, item_type)
        if equal is not None:
            function, signature = equal
            pair = (builder.extract_value(container, position), item)
            operands = [
                context.cast(builder, *parts) for parts in zip(pair, (type_, item_type), signature.args, strict=True)
            ]
            found = builder.or_(found, context.get_function(function, signature)(builder, operands))
    return found


def _equality(context, first: types.Type, second: types.Type):
    """What `==` is of values of two types, and its signature; None where they cannot be compared."""
    function = context.typing_context.resolve_value_type(operator.eq)
    try:
        signature = function.get_call_type(context.typing_context, (first, second), {})
    except errors.TypingError:
        return None
    return None if signature is None else (function, signature)
