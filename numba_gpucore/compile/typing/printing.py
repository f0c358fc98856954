"""Typing of `print`, which `passes.rewrite_texts` made a call of `print_line`."""

from __future__ import annotations

import enum

from numba.extending import typeof_impl

from numba_gpucore.compile.numba_api import AbstractTemplate, datamodel, errors, types
from numba_gpucore.compile.numba_api import typing as numba_typing
from numba_gpucore.compile.passes.rewrite_texts import print_line
from numba_gpucore.compile.texts import Format, Spread, TextStart
from numba_gpucore.compile.typing.bfloat16 import BFloat16
from numba_gpucore.compile.typing.coordinates import VectorType
from numba_gpucore.compile.typing.registry import registry
from numba_gpucore.compile.weak_numbers import WeakNumber

NUMBERS = (types.Integer, types.Boolean, types.Float, types.Complex, BFloat16, WeakNumber)
_CONSTANTS = (types.StringLiteral, types.NoneType, VectorType)


class MarkerType(types.Dummy):
    """The type of what stands before an argument of `print_line`; holds no data."""

    def __init__(self, marker: Format | Spread | TextStart):
        self.marker = marker
        super().__init__(name=repr(marker))


datamodel.register_default(MarkerType)(datamodel.models.OpaqueModel)


@typeof_impl.register(Format)
@typeof_impl.register(Spread)
@typeof_impl.register(TextStart)
def typeof_marker(marker, _context):
    return MarkerType(marker)


@registry.register_global(print_line)
class PrintLineTemplate(AbstractTemplate):
    """Numbers, constant texts, None, members of enums, threadIdx and its kin, and tuples of these."""

    prefer_literal = True

    def generic(self, args, kws):
        for position, type_ in enumerate(args):
            if isinstance(type_, MarkerType):
                continue
            before = args[position - 1] if position else None
            is_spread = isinstance(before, MarkerType) and isinstance(before.marker, Spread)
            if is_spread and not isinstance(type_, types.BaseTuple):
                raise errors.TypingError(f"print(*values) in a kernel takes tuples apart, not {type_}")
            _require_printable(type_)
        return numba_typing.signature(types.none, *args)


def is_named_integer(type_: types.Type) -> bool:
    """True for members of enums whose values are integers. Flags have values that no member has."""
    if not isinstance(type_, types.EnumMember) or issubclass(type_.instance_class, enum.Flag):
        return False
    return isinstance(type_.dtype, types.Integer)


def _require_printable(type_: types.Type) -> None:
    if isinstance(type_, types.BaseTuple):
        for item in type_:
            _require_printable(item)
    elif not isinstance(type_, (*NUMBERS, *_CONSTANTS)) and not is_named_integer(type_):
        what = "a string that is not constant" if isinstance(type_, types.UnicodeType) else f"a value of type {type_}"
        raise errors.TypingError(
            f"print in a kernel cannot write {what} — it writes numbers, constant strings, None, members of enums of "
            "integers and tuples of these"
        )
