"""Which part of an array an index names. Before: lowering of items and assignments. After: bounds.

As NumPy's basic indexing (numpy.org, "Indexing on ndarrays"): integers, slices, `...` and `None`.
"""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore.compile.bounds import index_from_start
from numba_gpucore.compile.numba_api import arrayobj, cgutils, types

I64 = ir.IntType(64)
_NEW_AXIS = (types.NoneType, types.Omitted)
_BASIC = (types.Integer, types.SliceType, types.EllipsisType, *_NEW_AXIS)


def unpack_index(context, builder, index_type, index):
    """Types and values of the indices of all axes, without arrays of one integer."""
    is_tuple = isinstance(index_type, types.BaseTuple)
    index_types = index_type.types if is_tuple else (index_type,)
    indices = cgutils.unpack_tuple(builder, index, len(index_types)) if is_tuple else (index,)
    return arrayobj.normalize_indices(context, builder, index_types, indices)


def is_basic(index_types) -> bool:
    """False where an array picks the items."""
    return all(isinstance(index_type, _BASIC) for index_type in index_types)


def place_index(context, builder, type_: types.Array, fields, index_types, indices):
    """The address, extents and strides of the part of an array that basic indices name; `fields` has the array's data,
    shape and strides."""
    all_extents = cgutils.unpack_tuple(builder, fields.shape, type_.ndim)
    all_strides = cgutils.unpack_tuple(builder, fields.strides, type_.ndim)
    starts: list[ir.Value] = []
    extents, strides = [], []
    named = sum(isinstance(index_type, (types.Integer, types.SliceType)) for index_type in index_types)

    def skip_axes(count: int) -> None:
        axis = len(starts)
        extents.extend(all_extents[axis : axis + count])
        strides.extend(all_strides[axis : axis + count])
        starts.extend([I64(0)] * count)

    for index_type, index in zip(index_types, indices, strict=True):
        axis = len(starts)
        if isinstance(index_type, types.EllipsisType):
            skip_axes(type_.ndim - named)
        elif isinstance(index_type, _NEW_AXIS):
            extents.append(I64(1))
            strides.append(I64(0))
        elif isinstance(index_type, types.Integer):
            starts.append(index_from_start(context, builder, index_type, index, all_extents[axis], axis))
        else:
            start, length, stride = _take_slice(
                context, builder, index_type, index, all_extents[axis], all_strides[axis]
            )
            starts.append(start)
            extents.append(length)
            strides.append(stride)
    data = cgutils.get_item_pointer2(context, builder, fields.data, all_extents, all_strides, type_.layout, starts)
    rest = len(starts)
    return data, [*extents, *all_extents[rest:]], [*strides, *all_strides[rest:]]


def _take_slice(context, builder, slice_type: types.SliceType, value, extent, stride):
    """Where a slice of an axis starts, how long it is and its stride."""
    if slice_type.has_step:
        part = context.make_helper(builder, slice_type, value=value)
        arrayobj.slicing.guard_invalid_slice(context, builder, slice_type, part)
        arrayobj.slicing.fix_slice(builder, part, extent)
        length = arrayobj.slicing.get_slice_length(builder, part)
        return part.start, length, arrayobj.slicing.fix_stride(builder, part, stride)
    start, stop = (_clamp(builder, builder.extract_value(value, i), extent) for i in (0, 1))
    length = builder.sub(stop, start)
    is_empty = builder.icmp_signed("<=", length, I64(0))
    return start, builder.select(is_empty, I64(0), length), stride


def _clamp(builder, bound, extent):
    """A bound of a slice whose step is 1, as PySlice_AdjustIndices makes it: counted from the end, then inside."""
    bound = arrayobj.slicing.fix_index(builder, bound, extent)
    bound = builder.select(builder.icmp_signed("<", bound, I64(0)), I64(0), bound)
    return builder.select(builder.icmp_signed(">=", bound, extent), extent, bound)
