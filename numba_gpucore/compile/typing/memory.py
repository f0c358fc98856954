"""Typing of shared, local and constant arrays. Their shapes are types: lowering reads the numbers from them."""

from __future__ import annotations

import numpy as np

from numba_gpucore import language
from numba_gpucore.compile.numba_api import errors, templates, types
from numba_gpucore.compile.typing.registry import declare_typer, registry
from numba_gpucore.compile.typing.vectors import parse_item_type
from numba_gpucore.compile.weak_literals import narrow_if_asked

for _namespace in (language.shared, language.local, language.const, language.atomic):
    registry.register_global(_namespace, types.Module(_namespace))


def literal_shape(shape: types.Type) -> tuple[int, ...] | None:
    """The extents that a type of literals names, else None."""
    extents = (shape,) if isinstance(shape, types.Integer) else shape if isinstance(shape, types.BaseTuple) else None
    if extents is None or not all(isinstance(extent, types.IntegerLiteral) for extent in extents):
        return None
    return tuple(extent.literal_value for extent in extents)


def _array_type(where: str, shape: types.Type, dtype: types.Type, alignment: types.Type | None, may_be_dynamic: bool):
    try:
        item_type = narrow_if_asked(parse_item_type(dtype))
    except errors.TypingError as error:
        raise errors.TypingError(f"{where}: {error.msg} — use numpy.float32 or another NumPy dtype") from error
    if item_type is None:
        raise errors.TypingError(f"{where}: {dtype} is no dtype — use numpy.float32 or another NumPy dtype")
    extents = literal_shape(shape)
    if extents is None:
        raise errors.TypingError(
            f"{where}: the shape must be a compile-time constant — use literals, or globals and closure variables that "
            "hold integers"
        )
    _check_extents(where, extents, may_be_dynamic)
    _check_alignment(where, alignment)
    return types.Array(item_type, len(extents), "C")


def _check_extents(where: str, extents: tuple[int, ...], may_be_dynamic: bool) -> None:
    if may_be_dynamic and extents == (0,):
        return
    if not extents or min(extents) < 1:
        dynamic = "; 0 alone stands for the launch's dynamic shared memory" if may_be_dynamic else ""
        raise errors.NumbaValueError(f"{where}: every extent must be 1 or more, got {extents}{dynamic}")
    if np.prod(extents, dtype=object) > 2**31 - 1:
        raise errors.NumbaValueError(f"{where}: {extents} has more than 2**31 - 1 items")


def _check_alignment(where: str, alignment: types.Type | None) -> None:
    if alignment is None or isinstance(alignment, types.NoneType):
        return
    if not isinstance(alignment, types.IntegerLiteral):
        raise errors.RequireLiteralValue(f"{where}: alignment must be a constant integer, not {alignment}")


def literal_alignment(alignment: types.Type | None) -> int | None:
    """The number of bytes that a literal type names; None where the item's own alignment does.

    Raises ValueError if it is no power of two, or smaller than a pointer.
    """
    if alignment is None or isinstance(alignment, types.NoneType):
        return None
    nbytes = alignment.literal_value
    if nbytes <= 0 or nbytes & (nbytes - 1) or nbytes % 8:
        raise ValueError(f"Alignment must be a power of two and a multiple of 8 bytes, not {nbytes}")
    return nbytes


@declare_typer(language.shared.array)
def type_shared_array(shape, dtype, alignment=None):
    return _array_type("shared.array", shape, dtype, alignment, may_be_dynamic=True)


@declare_typer(language.local.array)
def type_local_array(shape, dtype, alignment=None):
    return _array_type("local.array", shape, dtype, alignment, may_be_dynamic=False)


@declare_typer(language.const.array_like)
def type_const_array_like(array):
    if not isinstance(array, types.Array):
        raise errors.TypingError(
            f"const.array_like takes a NumPy array that is a global or closure variable, not {array}"
        )
    return templates.signature(array, array)
