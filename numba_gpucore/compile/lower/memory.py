"""Lowering of shared, local and constant arrays."""

from __future__ import annotations

import math

from llvmlite import ir

from numba_gpucore import language
from numba_gpucore.base.backend import whole_words
from numba_gpucore.compile.intrinsics import MAX_LOCAL_NBYTES, shared_symbol
from numba_gpucore.compile.llvm_calls import POINTER, call_intrinsic, call_placeholder, context_pointer
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import cgutils, errors, types
from numba_gpucore.compile.typing.memory import literal_alignment, literal_shape

I64 = ir.IntType(64)
MIN_SHARED_ALIGN_NBYTES = 16
#: Up to here LLVM's NVPTX code generator zeroes memory by single stores, beyond in a loop (NVPTXLowerAggrCopies).
_MAX_STORED_NBYTES = 128


def _item_nbytes(context, type_: types.Array) -> int:
    return context.get_abi_sizeof(context.get_data_type(type_.dtype))


def _align_nbytes(context, type_: types.Array) -> int:
    """The alignment of an item: of a number its size, of a record 8, the most that its fields can need."""
    if isinstance(type_.dtype, types.Record):
        return 8
    return context.get_abi_alignment(context.get_data_type(type_.dtype))


def make_c_array(context, builder, type_: types.Array, data, extents):
    """An array structure in C order over `data`; `extents` are i64 values."""
    strides = [I64(_item_nbytes(context, type_))]
    for extent in reversed(extents[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    array = context.make_array(type_)(context, builder)
    context.populate_array(
        array,
        data=builder.bitcast(data, array.data.type),
        shape=extents,
        strides=strides,
        itemsize=I64(_item_nbytes(context, type_)),
        meminfo=None,
    )
    return array._getvalue()


def _next_shared_name(builder) -> str:
    """Unique in the program: mangled names are, and all arrays of a function are declared in its module."""
    count = sum(name.startswith("gpu.shared.") for name in builder.module.globals)
    return f"{builder.function.name}.{count}"


def _lower_shared_array(context, builder, sig, _args):
    type_ = sig.return_type
    extents = literal_shape(sig.args[0])
    if extents == (0,):
        item_nbytes = I64(_item_nbytes(context, type_))
        count = builder.udiv(call_intrinsic(builder, "gpu.dynamic_shared_nbytes"), item_nbytes)
        return make_c_array(context, builder, type_, call_intrinsic(builder, "gpu.dynamic_shared"), [count])
    alignment = literal_alignment(sig.args[2]) if len(sig.args) == 3 else None
    nbytes = whole_words(math.prod(extents) * _item_nbytes(context, type_))
    align = alignment or max(MIN_SHARED_ALIGN_NBYTES, _align_nbytes(context, type_))
    symbol = shared_symbol(_next_shared_name(builder), nbytes, align)
    data = call_placeholder(builder, symbol, POINTER, context_pointer(builder))
    return make_c_array(context, builder, type_, data, [I64(extent) for extent in extents])


def _lower_local_array(context, builder, sig, _args):
    type_ = sig.return_type
    extents = literal_shape(sig.args[0])
    alignment = literal_alignment(sig.args[2]) if len(sig.args) == 3 else None
    nbytes = math.prod(extents) * _item_nbytes(context, type_)
    if nbytes > MAX_LOCAL_NBYTES:
        raise errors.UnsupportedError(
            f"local.array: {extents} needs {nbytes} bytes; the limit is {MAX_LOCAL_NBYTES} — use a smaller array, or "
            "pass one in which each thread has its part"
        )
    data = _zeroed_memory(builder, ir.ArrayType(context.get_data_type(type_.dtype), math.prod(extents)), nbytes)
    data.align = alignment or _align_nbytes(context, type_)
    return make_c_array(context, builder, type_, data, [I64(extent) for extent in extents])


def _zeroed_memory(builder, type_: ir.ArrayType, nbytes: int):
    """Memory of the running function. One store of a large array becomes one for each item, and takes LLVM the square
    of their number: 13 s for 4096."""
    if nbytes <= _MAX_STORED_NBYTES:
        return cgutils.alloca_once(builder, type_, name="local.array")
    with builder.goto_entry_block():
        data = builder.alloca(type_, name="local.array")
        cgutils.memset(builder, data, I64(nbytes), 0)
    return data


for _args in ((types.Any, types.Any), (types.Any, types.Any, types.Any)):
    lower(language.shared.array, *_args)(_lower_shared_array)
    lower(language.local.array, *_args)(_lower_local_array)


@lower(language.const.array_like, types.Array)
def lower_const_array_like(_context, _builder, _sig, args):
    # A global or closure array is constant memory already: Numba lowered it through make_constant_array.
    return args[0]
