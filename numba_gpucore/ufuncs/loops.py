"""How a ufunc's loop runs over its operands: broadcast shape, order of axes, fewest axes. Before: operands' shapes and
strides. After: views of that shape, and a kernel with that many loop axes.

What NumPy's iterator does too ("Iterating over arrays", coalescing): operands that are dense in one order, whatever
their dimensions, become one axis, which a kernel walks without divisions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numba_gpucore.array_interface import contiguous_strides
from numba_gpucore.base.records import dataclass

Shape = tuple[int, ...]
Strides = tuple[int, ...]


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """The common shape by NumPy's rules. Raises ValueError."""
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0] if shapes else ()
    return np.broadcast_shapes(*shapes)


def broadcast_strides(shape: Shape, strides: Strides, loop: Shape) -> Strides:
    """Strides in bytes with which an operand is walked along the axes of `loop`: 0 where it is repeated.

    Axes of one element in front may be more than `loop` has.
    """
    surplus = max(0, len(shape) - len(loop))
    missing = len(loop) - len(shape) + surplus
    walked = zip(shape[surplus:], strides[surplus:], strict=True)
    return (0,) * missing + tuple(0 if extent == 1 else stride for extent, stride in walked)


def memory_order(loop: Shape, strides: Sequence[Strides]) -> tuple[int, ...]:
    """The loop's axes from the longest steps in memory to the shortest; in their own order where operands disagree.

    NumPy's rule, which decides the memory order of new results (nditer_constr.c, npyiter_find_best_axis_ordering).
    """
    order: list[int] = []
    for axis in range(len(loop)):
        place = len(order)
        for earlier in reversed(range(len(order))):
            steps = [(abs(one[axis]), abs(one[order[earlier]])) for one in strides]
            told = [mine > other for mine, other in steps if mine and other]
            if not told:
                continue
            if not all(told):
                break
            place = earlier
        order.insert(place, axis)
    return tuple(order)


def dense_strides(loop: Shape, core: Shape, itemsize: int, order: Sequence[int]) -> Strides:
    """Strides of a new array of shape loop + core whose loop axes lie in memory in the given order (NumPy's "K")."""
    dense = contiguous_strides((*(loop[axis] for axis in order), *core), itemsize)
    by_axis = dict(zip(order, dense, strict=False))
    return (*(by_axis[axis] for axis in range(len(loop))), *dense[len(loop) :])


@dataclass(frozen=True)
class Loop:
    """Extents of the merged axes, and for each operand its strides in bytes along them."""

    extents: Shape
    strides: tuple[Strides, ...]


def merge_axes(loop: Shape, strides: Sequence[Strides], order: Sequence[int]) -> Loop:
    """Merge neighbours, in the given order of axes, that all operands walk as one; at least one axis is left."""
    axes = [axis for axis in order if loop[axis] != 1]
    extents: list[int] = []
    steps: list[list[int]] = []
    for axis in axes:
        mine = [one[axis] for one in strides]
        outer = steps[-1] if steps else None
        if outer is not None and all(o == m * loop[axis] for o, m in zip(outer, mine, strict=True)):
            extents[-1] *= loop[axis]
            steps[-1] = mine
        else:
            extents.append(loop[axis])
            steps.append(mine)
    if not extents:
        extents, steps = [1], [[0] * len(strides)]
    return Loop(tuple(extents), tuple(tuple(step[number] for step in steps) for number in range(len(strides))))
