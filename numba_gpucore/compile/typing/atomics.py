"""Typing of atomic updates: which arrays they take, and one index for each axis."""

from __future__ import annotations

from numba_gpucore import language
from numba_gpucore.compile.flags import active_flag
from numba_gpucore.compile.numba_api import errors, templates, types
from numba_gpucore.compile.typing.bfloat16 import bfloat16
from numba_gpucore.compile.typing.registry import declare_typer

UNSIGNED = (types.uint32, types.uint64)
INTEGERS = (types.int32, types.int64, *UNSIGNED)
NUMBERS = (*INTEGERS, types.float16, types.float32, types.float64)
WITH_BFLOAT16 = (*NUMBERS, bfloat16)

#: Updates with one operand, and the item types that they take. CUDA C++ Programming Guide, "Atomic Functions".
ITEM_TYPES = {
    language.atomic.add: WITH_BFLOAT16,
    language.atomic.sub: WITH_BFLOAT16,
    language.atomic.max: WITH_BFLOAT16,
    language.atomic.min: WITH_BFLOAT16,
    language.atomic.nanmax: NUMBERS,
    language.atomic.nanmin: NUMBERS,
    language.atomic.exch: WITH_BFLOAT16,
    language.atomic.and_: INTEGERS,
    language.atomic.or_: INTEGERS,
    language.atomic.xor: INTEGERS,
    language.atomic.inc: UNSIGNED,
    language.atomic.dec: UNSIGNED,
}


def _require_array(where: str, array: types.Type, item_types: tuple[types.Type, ...]) -> None:
    if not isinstance(array, types.Array):
        raise errors.TypingError(f"{where} needs an array, not {array}")
    if array.dtype not in item_types:
        names = ", ".join(str(type_) for type_ in item_types if not (type_.bitwidth == 64 and _lacks(type_)))
        raise errors.TypingError(f"{where} works on arrays of {names}, not of {array.dtype} — use one of these")
    if not array.mutable:
        raise errors.TypingError(f"{where}: the array is read-only ({array})")


def _lacks(type_: types.Type) -> bool:
    """Whether the target has no atomics on this type of 64 bits."""
    return active_flag("lacks_atomic64") if isinstance(type_, types.Integer) else not active_flag("has_float64")


def index_type(where: str, array: types.Array, index: types.Type) -> types.Type:
    """The type of an index, without literals. Raises TypingError unless it has one number for each axis."""
    parts = tuple(index) if isinstance(index, types.BaseTuple) else (index,)
    # Floats as in numba.cuda: Numba types `uint64 % int64` as float64, and indices are often made so.
    if not all(isinstance(part, (types.Integer, types.Float)) for part in parts):
        raise errors.TypingError(f"{where}: an index is an integer or a tuple of integers, not {index}")
    if len(parts) != array.ndim:
        raise errors.TypingError(f"{where}: the array has {array.ndim} axes, the index {len(parts)}")
    return types.unliteral(index)


def _declare_update(function, item_types) -> None:
    where = function.__qualname__

    def typer(array, index, value):
        _require_array(where, array, item_types)
        return templates.signature(array.dtype, array, index_type(where, array, index), array.dtype)

    declare_typer(function)(typer)


for _function, _item_types in ITEM_TYPES.items():
    _declare_update(_function, _item_types)


@declare_typer(language.atomic.cas)
def type_cas(array, index, old, value):
    _require_array("atomic.cas", array, WITH_BFLOAT16)
    place = index_type("atomic.cas", array, index)
    return templates.signature(array.dtype, array, place, array.dtype, array.dtype)


@declare_typer(language.atomic.compare_and_swap)
def type_compare_and_swap(array, old, value):
    _require_array("atomic.compare_and_swap", array, WITH_BFLOAT16)
    if array.ndim != 1:
        raise errors.TypingError(f"atomic.compare_and_swap works on element 0 of a 1-D array, not of {array}")
    return templates.signature(array.dtype, array, array.dtype, array.dtype)
