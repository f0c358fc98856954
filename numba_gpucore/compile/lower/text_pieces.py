"""Values as pieces of texts, for prints and exceptions. Before: lower.printing, call_conv. After: the host's texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llvmlite import ir

from numba_gpucore.base.site import Hole
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.number_bits import narrow_bits
from numba_gpucore.compile.numba_api import errors, types
from numba_gpucore.compile.texts import apply_format, check_number_format
from numba_gpucore.compile.typing.coordinates import VectorType
from numba_gpucore.compile.typing.printing import NUMBERS, is_named_integer

I64 = ir.IntType(64)
#: A text or a hole; with a hole the 64-bit patterns that fill it.
Piece = tuple["str | Hole", "Sequence[ir.Value]"]


def value_pieces(context, builder, type_: types.Type, value: Any, conversion: str) -> Iterator[Piece]:
    """A value as texts and holes. conversion: "!s" as `print` writes it, "!r" as inside of a tuple, "" as an f-string
    does, which asks `__format__`."""
    if isinstance(type_, (types.StringLiteral, types.NoneType)):
        text = None if isinstance(type_, types.NoneType) else type_.literal_value
        yield (repr(text) if conversion == "!r" or text is None else text), ()
    elif isinstance(type_, VectorType):
        yield "(", ()
        for axis, number in zip("xyz", vector_numbers(builder, type_), strict=True):
            yield Hole("int"), [number]
            yield ")" if axis == "z" else ", ", ()
    elif isinstance(type_, types.BaseTuple):
        yield from _tuple_pieces(context, builder, type_, value)
    elif isinstance(type_, types.EnumMember):
        yield formatted_piece(context, builder, conversion, type_, value)
    else:
        kind, bits = narrow_bits(context, builder, value, type_)
        yield Hole(kind), bits


def formatted_piece(context, builder, format_: str, type_: types.Type, value: Any) -> Piece:
    """What an f-string with a format gives for a value."""
    if isinstance(type_, types.StringLiteral):
        return apply_format(format_, type_.literal_value), ()
    if is_named_integer(type_):
        kind, bits = narrow_bits(context, builder, value, type_.dtype)
        texts = {member.value: apply_format(format_, member) for member in type_.instance_class}
        is_number = all(text == apply_format(format_, number) for number, text in texts.items())
        return (Hole(kind, format_) if is_number else Hole(kind, format_, tuple(texts.items()))), bits
    if not isinstance(type_, NUMBERS):
        raise errors.UnsupportedError(
            f"an f-string in a kernel can format numbers, not a value of type {type_}: {{…{format_}}}"
        )
    kind, bits = narrow_bits(context, builder, value, type_)
    check_number_format(format_, kind)
    return Hole(kind, format_), bits


def vector_numbers(builder, type_: VectorType) -> list[ir.Value]:
    """x, y and z as 64-bit integers."""
    return [builder.zext(call_intrinsic(builder, f"{type_.vector.intrinsic}.{axis}"), I64) for axis in "xyz"]


def _tuple_pieces(context, builder, type_: types.BaseTuple, value: Any) -> Iterator[Piece]:
    is_named = isinstance(type_, types.BaseNamedTuple)
    names = [f"{name}=" for name in type_.fields] if is_named else [""] * len(type_)
    yield (type_.instance_class.__name__ if is_named else "") + "(", ()
    for position, (name, item_type) in enumerate(zip(names, type_, strict=True)):
        yield (", " if position else "") + name, ()
        yield from value_pieces(context, builder, item_type, builder.extract_value(value, position), "!r")
    yield ",)" if len(type_) == 1 and not is_named else ")", ()
