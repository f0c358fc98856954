"""Lowering of `reshape` of contiguous arrays, which typing asks for. Numba's own calls a C function.

Registered for tuples of equal and of mixed integer types, and for integers as arguments: more specific than Numba's.
"""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore.compile.lower.memory import make_c_array
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import cgutils, types

I1, I64 = ir.IntType(1), ir.IntType(64)


def _reshape(context, builder, array_type, result_type, array, extents):
    """A view in C order. Throws ValueError unless the sizes agree, with at most one extent of -1 to be found."""
    structure = context.make_array(array_type)(context, builder, array)
    unknown_count, known_size = I64(0), I64(1)
    for extent in extents:
        is_unknown = builder.icmp_signed("<", extent, I64(0))
        unknown_count = builder.add(unknown_count, builder.zext(is_unknown, I64))
        known_size = builder.mul(known_size, builder.select(is_unknown, I64(1), extent))
    has_unknown = builder.icmp_signed("==", unknown_count, I64(1))
    divisor = builder.select(builder.icmp_signed("==", known_size, I64(0)), I64(1), known_size)
    found = builder.select(has_unknown, builder.sdiv(structure.nitems, divisor), I64(1))
    size_fits = builder.icmp_signed("==", builder.mul(known_size, found), structure.nitems)
    fits = builder.and_(size_fits, builder.icmp_signed("<=", unknown_count, I64(1)))
    with cgutils.if_unlikely(builder, builder.not_(fits)):
        context.call_conv.return_user_exc(builder, ValueError, ("total size of new array must be unchanged",))
    if array_type.layout == "F" and array_type.ndim > 1:
        _require_one_long_axis(context, builder, array_type, structure)
    final = [builder.select(builder.icmp_signed("<", extent, I64(0)), found, extent) for extent in extents]
    return make_c_array(context, builder, result_type, structure.data, final)


def _require_one_long_axis(context, builder, array_type, structure) -> None:
    """Throw NotImplementedError for an array in F order that is not also in C order: its items would have to move."""
    long_axes = I64(0)
    for extent in cgutils.unpack_tuple(builder, structure.shape, array_type.ndim):
        is_long = builder.icmp_signed(">", extent, I64(1))
        long_axes = builder.add(long_axes, builder.zext(is_long, I64))
    with cgutils.if_unlikely(builder, builder.icmp_signed(">", long_axes, I64(1))):
        context.call_conv.return_user_exc(builder, NotImplementedError, ("incompatible shape for array",))


def _to_i64(context, builder, types_, values):
    return [context.cast(builder, value, type_, types.int64) for value, type_ in zip(values, types_, strict=True)]


def lower_reshape_to_tuple(context, builder, sig, args):
    array_type, shape_type = sig.args
    values = cgutils.unpack_tuple(builder, args[1], len(shape_type))
    extents = _to_i64(context, builder, shape_type.types, values)
    return _reshape(context, builder, array_type, sig.return_type, args[0], extents)


for _tuple_type in (types.UniTuple, types.Tuple):
    lower("array.reshape", types.Array, _tuple_type)(lower_reshape_to_tuple)


@lower("array.reshape", types.Array, types.VarArg(types.Integer))
def lower_reshape_to_extents(context, builder, sig, args):
    extents = _to_i64(context, builder, sig.args[1:], args[1:])
    return _reshape(context, builder, sig.args[0], sig.return_type, args[0], extents)
