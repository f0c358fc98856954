"""Lowering of `array[index] = other`. Numba's own copies a source that may overlap to the heap; a device has none.

A source that overlaps its destination is copied in the safe direction where there is one (views of one dimension with
equal strides, or the same view); else the thread throws ValueError.
"""

from __future__ import annotations

import operator

from llvmlite import ir

from numba_gpucore.compile.lower.indexing import is_basic, place_index, unpack_index
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import arrayobj, cgutils, errors, types

I1, I64 = ir.IntType(1), ir.IntType(64)


class View:
    """Part of an array as LLVM values: address of its first item, extents, strides in bytes; `type` tells the items."""

    def __init__(self, type_: types.Array, data, extents, strides):
        self.type, self.data, self.extents, self.strides = type_, data, list(extents), list(strides)

    @property
    def ndim(self) -> int:
        return len(self.extents)

    def item_pointer(self, builder, indices):
        offset = I64(0)
        for index, stride in zip(indices, self.strides, strict=True):
            offset = builder.add(offset, builder.mul(index, stride))
        return cgutils.pointer_add(builder, self.data, offset)


def view_of_array(context, builder, type_: types.Array, array) -> View:
    structure = context.make_array(type_)(context, builder, array)
    extents = cgutils.unpack_tuple(builder, structure.shape, type_.ndim)
    strides = cgutils.unpack_tuple(builder, structure.strides, type_.ndim)
    return View(type_, structure.data, extents, strides)


def view_of_index(context, builder, type_: types.Array, array, index_type, index) -> View:
    """The part of an array that integers, slices and `...` name. Raises TypingError for arrays as indices."""
    index_types, indices = unpack_index(context, builder, index_type, index)
    if not is_basic(index_types):
        raise errors.TypingError(f"a kernel cannot assign an array to items picked by {index_type}; use a loop")
    structure = context.make_array(type_)(context, builder, array)
    data, extents, strides = place_index(context, builder, type_, structure, index_types, indices)
    return View(type_, data, extents, strides)


def broadcast_onto(context, builder, source: View, extents) -> View:
    """`source` with as many axes as `extents`: missing and single ones repeat. Throws ValueError where that fails."""
    added = len(extents) - source.ndim
    kept_extents, kept_strides = source.extents[max(-added, 0) :], source.strides[max(-added, 0) :]
    fits = I1(1)
    for extent in source.extents[: max(-added, 0)]:
        fits = builder.and_(fits, builder.icmp_signed("==", extent, I64(1)))
    strides = [I64(0)] * max(added, 0)
    for wanted, extent, stride in zip(extents[max(added, 0) :], kept_extents, kept_strides, strict=True):
        is_single = builder.icmp_signed("==", extent, I64(1))
        fits = builder.and_(fits, builder.or_(is_single, builder.icmp_signed("==", extent, wanted)))
        strides.append(builder.select(is_single, I64(0), stride))
    with cgutils.if_unlikely(builder, builder.not_(fits)):
        message = "could not broadcast the assigned array onto the shape of its destination"
        context.call_conv.return_user_exc(builder, ValueError, (message,))
    return View(source.type, source.data, extents, strides)


def memory_overlaps(builder, context, a: View, b: View):
    """An i1 that is true where the bytes between the first and last item of two views of one shape meet."""
    a_start, a_end = _memory_extent(builder, context, a)
    b_start, b_end = _memory_extent(builder, context, b)
    return builder.and_(builder.icmp_unsigned("<", a_start, b_end), builder.icmp_unsigned("<", b_start, a_end))


def _memory_extent(builder, context, view: View):
    low = high = builder.ptrtoint(view.data, I64)
    is_empty = I1(0)
    for extent, stride in zip(view.extents, view.strides, strict=True):
        span = builder.mul(builder.sub(extent, I64(1)), stride)
        goes_down = builder.icmp_signed("<", span, I64(0))
        low = builder.add(low, builder.select(goes_down, span, I64(0)))
        high = builder.add(high, builder.select(goes_down, I64(0), span))
        is_empty = builder.or_(is_empty, builder.icmp_signed("==", extent, I64(0)))
    item_nbytes = I64(context.get_abi_sizeof(context.get_data_type(view.type.dtype)))
    return low, builder.select(is_empty, low, builder.add(high, item_nbytes))


def has_same_places(builder, a: View, b: View):
    """An i1 that is true where two views of one shape have their items at the same addresses."""
    same = builder.icmp_unsigned("==", builder.ptrtoint(a.data, I64), builder.ptrtoint(b.data, I64))
    return builder.and_(same, _strides_equal(builder, a, b))


def _strides_equal(builder, a: View, b: View):
    """True also where only strides differ along which there is one item: broadcasting makes those 0."""
    same = I1(1)
    for extent, a_stride, b_stride in zip(a.extents, a.strides, b.strides, strict=True):
        is_equal = builder.icmp_signed("==", a_stride, b_stride)
        same = builder.and_(same, builder.or_(is_equal, builder.icmp_signed("<=", extent, I64(1))))
    return same


def throw_overlap(context, builder) -> None:
    message = "the source of an array assignment overlaps its destination: assign item by item, or to another array"
    context.call_conv.return_user_exc(builder, ValueError, (message,))


def _reverse_last_index(builder, context, destination: View, source: View):
    """An i1: copy from the last item to the first. Throws where neither direction is safe."""
    overlaps = memory_overlaps(builder, context, destination, source)
    is_safe = has_same_places(builder, destination, source)
    reverse = I1(0)
    if destination.ndim == 1:
        is_safe = builder.or_(is_safe, _strides_equal(builder, destination, source))
        ahead = builder.icmp_unsigned(">", builder.ptrtoint(destination.data, I64), builder.ptrtoint(source.data, I64))
        goes_up = builder.icmp_signed(">=", destination.strides[0], I64(0))
        reverse = builder.and_(overlaps, builder.icmp_unsigned("==", ahead, goes_up))
    with cgutils.if_unlikely(builder, builder.and_(overlaps, builder.not_(is_safe))):
        throw_overlap(context, builder)
    return reverse


@lower(operator.setitem, types.Array, types.Any, types.Array)
def lower_assign_array(context, builder, sig, args):
    array_type, index_type, source_type = sig.args
    array, index, source = args
    destination = view_of_index(context, builder, array_type, array, index_type, index)
    whole_source = view_of_array(context, builder, source_type, source)
    source_view = broadcast_onto(context, builder, whole_source, destination.extents)
    reverse = _reverse_last_index(builder, context, destination, source_view)
    with cgutils.loop_nest(builder, destination.extents, I64) as indices:
        indices = list(indices)
        if destination.ndim == 1:
            from_end = builder.sub(builder.sub(destination.extents[0], I64(1)), indices[0])
            indices[0] = builder.select(reverse, from_end, indices[0])
        value = arrayobj.load_item(context, builder, source_type, source_view.item_pointer(builder, indices))
        value = context.cast(builder, value, source_type.dtype, array_type.dtype)
        arrayobj.store_item(context, builder, array_type, value, destination.item_pointer(builder, indices))
    return context.get_dummy_value()
