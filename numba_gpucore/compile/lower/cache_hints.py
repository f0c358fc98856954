"""Lowering of loads and stores with cache operators, as ordinary ones: the operators change no result."""

from __future__ import annotations

from numba_gpucore import cache_hints
from numba_gpucore.compile.lower.atomics import item_pointer
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types


def _place(context, builder, sig, args):
    """The address of the element, and whether it is as aligned as its type."""
    memory, index = sig.args[:2]
    if isinstance(memory, types.CPointer):
        return builder.gep(args[0], [context.cast(builder, args[1], index, types.intp)]), True
    return item_pointer(context, builder, memory, args[0], index, args[1]), memory.aligned


def _load(context, builder, sig, args):
    pointer, is_aligned = _place(context, builder, sig, args)
    return context.unpack_value(builder, sig.return_type, pointer, align=None if is_aligned else 1)


def _store(context, builder, sig, args):
    pointer, is_aligned = _place(context, builder, sig, args)
    context.pack_value(builder, sig.args[2], args[2], pointer, align=None if is_aligned else 1)
    return context.get_dummy_value()


for _function in cache_hints.LOADS:
    for _memory in (types.Array, types.CPointer):
        lower(_function, _memory, types.Any)(_load)
for _store_function in cache_hints.STORES:
    for _memory in (types.Array, types.CPointer):
        lower(_store_function, _memory, types.Any, types.Any)(_store)
