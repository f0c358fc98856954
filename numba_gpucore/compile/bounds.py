"""The gate through which every checked array index goes. Before: Numba's array lowering. After: gpu.throw.

Numba calls `cgutils.do_boundscheck` for each index. Its own version throws without index, axis and size; Numba has no
hook there, so it is wrapped once, and the wrapper hands contexts that are not ours to the original.
"""

from __future__ import annotations

from functools import cache

from numba_gpucore.compile.numba_api import cgutils


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


def check_bounds(context, builder, index, size, axis) -> None:
    """Throw IndexError unless 0 <= index < size. `index` has gone through wraparound already."""
    # One unsigned comparison sees both ends.
    is_outside = builder.icmp_unsigned(">=", index, size)
    with cgutils.if_unlikely(builder, is_outside):
        # A negative index had the size added; what the user wrote is shown.
        was_negative = builder.icmp_signed("<", index, index.type(0))
        written = builder.select(was_negative, builder.sub(index, size), index)
        context.call_conv.return_bounds_error(builder, written, 0 if axis is None else axis, size)
