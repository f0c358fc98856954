"""Lowering of `array[index]`, `array[index] = number` and of an array's fields, on values. Before: registry. After:
target context.

Numba copies the record of an array into memory for each access, to read fields of it there, and settles bounds of
slices in branches. What is here computes the same from a third of the instructions, all of which would have to be made,
printed, read and optimised away for each access of each kernel. Other indices go to Numba's own functions.
"""

from __future__ import annotations

import operator

from llvmlite import ir

from numba_gpucore.compile.lower.registry import lower, replace, replace_attribute
from numba_gpucore.compile.numba_api import arrayobj, cgutils, types

I64 = ir.IntType(64)


class ArrayFields:
    """The fields of an array to be read, under the names of Numba's own proxy for an array in memory."""

    def __init__(self, context, builder, type_: types.Array, array):
        self._builder, self._array = builder, array
        self._model = context.data_model_manager[type_]

    def __getattr__(self, name: str):
        position = self._model.get_field_position(name)
        return self._builder.extract_value(self._array, position, name=f"extracted.{name}")


def is_record_of_fields(type_: types.Type) -> bool:
    """False for arrays that are something else in registers: fields of records."""
    return isinstance(type_, types.Array) and type_.as_array == type_


def make_array_value(context, builder, type_: types.Array, data, extents, strides, itemsize, meminfo, parent):
    """An array of these fields."""
    model = context.data_model_manager[type_]
    nitems = I64(1)
    for extent in extents:
        nitems = builder.mul(nitems, extent, flags=["nsw"])
    fields = {
        "meminfo": meminfo,
        "parent": parent,
        "nitems": nitems,
        "itemsize": itemsize,
        "data": data,
        "shape": cgutils.pack_array(builder, extents, I64),
        "strides": cgutils.pack_array(builder, strides, I64),
    }
    array = ir.Constant(model.get_value_type(), ir.Undefined)
    for name, value in fields.items():
        array = builder.insert_value(array, value, model.get_field_position(name))
    return array


def _is_plain(index_type: types.Type) -> bool:
    is_slice = isinstance(index_type, types.SliceType) and not index_type.has_step
    return is_slice or isinstance(index_type, types.Integer)


def _place(context, builder, type_: types.Array, fields: ArrayFields, index_types, indices):
    """The address, extents and strides of the part that indices name."""
    if not all(map(_is_plain, index_types)):
        return arrayobj.basic_indexing(
            context, builder, type_, fields, index_types, indices, boundscheck=context.enable_boundscheck
        )
    all_extents = cgutils.unpack_tuple(builder, fields.shape, type_.ndim)
    all_strides = cgutils.unpack_tuple(builder, fields.strides, type_.ndim)
    starts, extents, strides = [], [], []
    for axis, (index_type, index) in enumerate(zip(index_types, indices, strict=True)):
        if isinstance(index_type, types.Integer):
            start = arrayobj.fix_integer_index(context, builder, index_type, index, all_extents[axis])
            if context.enable_boundscheck:
                cgutils.do_boundscheck(context, builder, start, all_extents[axis], axis)
        else:
            start, stop = (_clamp(builder, builder.extract_value(index, i), all_extents[axis]) for i in (0, 1))
            length = builder.sub(stop, start)
            is_empty = builder.icmp_signed("<=", length, I64(0))
            extents.append(builder.select(is_empty, I64(0), length))
            strides.append(all_strides[axis])
        starts.append(start)
    data = cgutils.get_item_pointer2(context, builder, fields.data, all_extents, all_strides, type_.layout, starts)
    rest = len(starts)
    return data, [*extents, *all_extents[rest:]], [*strides, *all_strides[rest:]]


def _clamp(builder, bound, extent):
    """A bound of a slice whose step is 1, as PySlice_AdjustIndices makes it: counted from the end, then inside."""
    bound = arrayobj.slicing.fix_index(builder, bound, extent)
    bound = builder.select(builder.icmp_signed("<", bound, I64(0)), I64(0), bound)
    return builder.select(builder.icmp_signed(">=", bound, extent), extent, bound)


def _unpack_index(context, builder, index_type, index):
    """Types and values of the indices of all axes, without arrays of one integer."""
    is_tuple = isinstance(index_type, types.BaseTuple)
    index_types = index_type.types if is_tuple else (index_type,)
    indices = cgutils.unpack_tuple(builder, index, len(index_types)) if is_tuple else (index,)
    return arrayobj.normalize_indices(context, builder, index_types, indices)


def lower_getitem(context, builder, sig, args):
    type_, index_type = sig.args
    index_types, indices = _unpack_index(context, builder, index_type, args[1])
    if not is_record_of_fields(type_) or any(isinstance(t, types.Array) for t in index_types):
        is_tuple = isinstance(index_type, types.BaseTuple)
        original = arrayobj.getitem_array_tuple if is_tuple else arrayobj.getitem_arraynd_intp
        return original(context, builder, sig, args)
    fields = ArrayFields(context, builder, type_, args[0])
    data, extents, strides = _place(context, builder, type_, fields, index_types, indices)
    if not isinstance(sig.return_type, types.Buffer):
        return arrayobj.load_item(context, builder, type_, data)
    return make_array_value(
        context, builder, sig.return_type, data, extents, strides, fields.itemsize, fields.meminfo, fields.parent
    )


for _index in (types.Integer, types.SliceType, types.EllipsisType, types.BaseTuple):
    lower(operator.getitem, types.Array, _index)(lower_getitem)


@lower(operator.setitem, types.Array, types.Any, types.Any)
def lower_setitem(context, builder, sig, args):
    type_, index_type, value_type = sig.args
    index_types, indices = _unpack_index(context, builder, index_type, args[1])
    names_item = len(index_types) == type_.ndim and all(isinstance(t, types.Integer) for t in index_types)
    if not names_item or not is_record_of_fields(type_):
        return arrayobj.setitem_array(context, builder, sig, args)
    fields = ArrayFields(context, builder, type_, args[0])
    data, _extents, _strides = _place(context, builder, type_, fields, index_types, indices)
    value = context.cast(builder, args[2], value_type, type_.dtype)
    arrayobj.store_item(context, builder, type_, value, data)
    return context.get_dummy_value()


@replace(len, types.Array)
def lower_len(context, builder, sig, args):
    if not is_record_of_fields(sig.args[0]):
        return arrayobj.array_len(context, builder, sig, args)
    return builder.extract_value(ArrayFields(context, builder, sig.args[0], args[0]).shape, 0)


def _replace_attribute(attribute: str, field: str, original) -> None:
    @replace_attribute(types.Array, attribute)
    def lower_attribute(context, builder, type_, array):
        if not is_record_of_fields(type_):
            return original(context, builder, type_, array)
        return getattr(ArrayFields(context, builder, type_, array), field)


_replace_attribute("shape", "shape", arrayobj.array_shape)
_replace_attribute("strides", "strides", arrayobj.array_strides)
_replace_attribute("size", "nitems", arrayobj.array_size)
_replace_attribute("itemsize", "itemsize", arrayobj.array_itemsize)
