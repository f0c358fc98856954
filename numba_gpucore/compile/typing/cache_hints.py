"""Typing of loads and stores with cache operators: on arrays as indexing is, on pointers with one integer."""

from __future__ import annotations

from numba_gpucore import cache_hints
from numba_gpucore.compile.numba_api import errors, templates, types
from numba_gpucore.compile.typing.atomics import index_type
from numba_gpucore.compile.typing.registry import declare_typer, require_integer


def _require_place(where: str, memory: types.Type, index: types.Type) -> types.Type:
    """The type of the index. Raises TypingError."""
    if not isinstance(memory, (types.Array, types.CPointer)):
        raise errors.TypingError(f"{where} needs an array or a pointer, not {memory}")
    if not isinstance(memory.dtype, (types.Integer, types.Float, types.Boolean)):
        raise errors.TypingError(f"{where} works on integers, floats and bools, not on {memory.dtype}")
    if isinstance(memory, types.Array):
        return index_type(where, memory, index)
    require_integer(index, f"{where}: the index of a pointer")
    return types.unliteral(index)


def _declare_load(function) -> None:
    def typer(array, i):
        return templates.signature(array.dtype, array, _require_place(function.__name__, array, i))

    declare_typer(function)(typer)


def _declare_store(function) -> None:
    def typer(array, i, value):
        place = _require_place(function.__name__, array, i)
        if isinstance(array, types.Array) and not array.mutable:
            raise errors.TypingError(f"{function.__name__}: the array is read-only ({array})")
        return templates.signature(types.none, array, place, array.dtype)

    declare_typer(function)(typer)


for _function in cache_hints.LOADS:
    _declare_load(_function)
for _store_function in cache_hints.STORES:
    _declare_store(_store_function)
