"""The gate through which every checked array index goes. Before: lowering of indices. After: gpu.throw.

Where Numba itself lowers an index it calls `cgutils.do_boundscheck`. Its own version throws without index, axis and
size; Numba has no hook there, so it is wrapped once, and the wrapper hands contexts that are not ours to the original.
"""

from __future__ import annotations

from functools import cache

from numba_gpucore.compile.numba_api import arrayobj, cgutils


@cache
def install_boundscheck_hook(context_class: type) -> None:
    """Make contexts of `context_class` throw with index, axis and size. Once a process."""
    original = cgutils.do_boundscheck

    def do_boundscheck(context, builder, ind, dimlen, axis=None):
        if isinstance(context, context_class):
            check_bounds(context, builder, ind, dimlen, axis)
        else:
            original(context, builder, ind, dimlen, axis)

    cgutils.do_boundscheck = do_boundscheck


def index_from_start(context, builder, index_type, index, size, axis: int):
    """An integer index as intp, negative ones counted from the end; where bounds are checked, inside or thrown."""
    index = arrayobj.fix_integer_index(context, builder, index_type, index, size)
    if context.enable_boundscheck:
        check_bounds(context, builder, index, size, axis, index_type.signed)
    return index


def check_bounds(context, builder, index, size, axis, is_signed: bool = True) -> None:
    """Throw IndexError unless 0 <= index < size. A signed `index` has gone through wraparound already."""
    # One unsigned comparison sees both ends.
    is_outside = builder.icmp_unsigned(">=", index, size)
    with cgutils.if_unlikely(builder, is_outside):
        if is_signed:
            # A negative index had the size added; what the user wrote is shown.
            was_negative = builder.icmp_signed("<", index, index.type(0))
            index = builder.select(was_negative, builder.sub(index, size), index)
        context.call_conv.return_bounds_error(builder, index, 0 if axis is None else axis, size, is_signed)
