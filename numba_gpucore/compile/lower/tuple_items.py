"""Lowering of `tuple[i]` with an index that is known only when the kernel runs. Before: DeviceLower. After: bounds.

Numba's own lowering throws IndexError without index and size. Here they are told, and what is left for it cannot fail.
"""

from __future__ import annotations

from numba_gpucore.compile.bounds import check_bounds
from numba_gpucore.compile.numba_api import types


def check_tuple_index(lowerer, signature, index):
    """Throw unless `index` (of the type in the signature) lies in the tuple; negative ones count from its end.

    Returns the index from the start, of the same type.
    """
    tuple_type, index_type = signature.args
    context, builder = lowerer.context, lowerer.builder
    wide = context.cast(builder, index, index_type, types.intp)
    count = wide.type(len(tuple_type))
    if index_type.signed:
        wide = builder.select(builder.icmp_signed("<", wide, wide.type(0)), builder.add(wide, count), wide)
    check_bounds(context, builder, wide, count, 0)
    return context.cast(builder, wide, types.intp, index_type)


def is_tuple_index(signature) -> bool:
    """True for `tuple[i]` with an integer `i`."""
    tuple_type, index_type = signature.args
    return isinstance(tuple_type, types.BaseTuple) and isinstance(index_type, types.Integer)
