"""Lowering of loads and stores with cache operators: words of memory through `gpu.cached_load` and `gpu.cached_store`.

Elements that may lie anywhere are read and written as ever: instructions with operators want aligned ones.
"""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore import cache_hints
from numba_gpucore.compile.intrinsics import cached_load, cached_store
from numba_gpucore.compile.llvm_calls import POINTER, call_intrinsic
from numba_gpucore.compile.lower.atomics import item_pointer
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types


def _place(context, builder, sig, args):
    """The address of the element, and whether it is as aligned as its type."""
    memory, index = sig.args[:2]
    if isinstance(memory, types.CPointer):
        return builder.gep(args[0], [context.cast(builder, args[1], index, types.intp)]), True
    return item_pointer(context, builder, memory, args[0], index, args[1]), memory.aligned


def _word_type(context, type_: types.Type) -> ir.IntType:
    return ir.IntType(8 * context.get_abi_sizeof(context.get_data_type(type_)))


def _lower_load(function, operator: str) -> None:
    def load(context, builder, sig, args):
        item = sig.return_type
        pointer, is_aligned = _place(context, builder, sig, args)
        if not is_aligned:
            return context.unpack_value(builder, item, pointer, align=1)
        name = cached_load(operator, _word_type(context, item).width)
        word = call_intrinsic(builder, name, builder.bitcast(pointer, POINTER))
        data = builder.bitcast(word, context.get_data_type(item))
        return context.data_model_manager[item].from_data(builder, data)

    for memory in (types.Array, types.CPointer):
        lower(function, memory, types.Any)(load)


def _lower_store(function, operator: str) -> None:
    def store(context, builder, sig, args):
        item = sig.args[2]
        pointer, is_aligned = _place(context, builder, sig, args)
        if not is_aligned:
            context.pack_value(builder, item, args[2], pointer, align=1)
            return context.get_dummy_value()
        word_type = _word_type(context, item)
        word = builder.bitcast(context.data_model_manager[item].as_data(builder, args[2]), word_type)
        call_intrinsic(builder, cached_store(operator, word_type.width), builder.bitcast(pointer, POINTER), word)
        return context.get_dummy_value()

    for memory in (types.Array, types.CPointer):
        lower(function, memory, types.Any, types.Any)(store)


# Functions are named after their operators: ldca, stwt.
for _function in cache_hints.LOADS:
    _lower_load(_function, _function.__name__.removeprefix("ld"))
for _store_function in cache_hints.STORES:
    _lower_store(_store_function, _store_function.__name__.removeprefix("st"))
