"""Lowering of `array[index]`, `array[index] = number` and of an array's fields, on values. Before: registry. After:
target context.

Numba copies the record of an array into memory for each access, to read fields of it there, and settles bounds of
slices in branches. What is here computes the same from a third of the instructions, all of which would have to be made,
printed, read and optimised away for each access of each kernel. Other indices go to Numba's own functions.
"""

from __future__ import annotations

import operator

from llvmlite import ir

from numba_gpucore.compile.lower.indexing import is_basic, place_index, unpack_index
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


def _fields(context, builder, type_: types.Array, array):
    if is_record_of_fields(type_):
        return ArrayFields(context, builder, type_, array)
    return context.make_array(type_)(context, builder, array)


def lower_getitem(context, builder, sig, args):
    type_, index_type = sig.args
    index_types, indices = unpack_index(context, builder, index_type, args[1])
    if not is_basic(index_types):
        is_tuple = isinstance(index_type, types.BaseTuple)
        original = arrayobj.getitem_array_tuple if is_tuple else arrayobj.getitem_arraynd_intp
        return original(context, builder, sig, args)
    fields = _fields(context, builder, type_, args[0])
    data, extents, strides = place_index(context, builder, type_, fields, index_types, indices)
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
    index_types, indices = unpack_index(context, builder, index_type, args[1])
    if not is_basic(index_types) or isinstance(value_type, types.Sequence):
        return arrayobj.setitem_array(context, builder, sig, args)
    fields = _fields(context, builder, type_, args[0])
    data, extents, strides = place_index(context, builder, type_, fields, index_types, indices)
    value = context.cast(builder, args[2], value_type, type_.dtype)
    with cgutils.loop_nest(builder, extents, I64) as positions:
        for position, stride in zip(positions, strides, strict=True):
            data = cgutils.pointer_add(builder, data, builder.mul(position, stride))
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
