"""Typing of `print`, which `passes.rewrite_texts` made a call of `print_line`."""

from __future__ import annotations

from numba_gpucore.compile.numba_api import AbstractTemplate, errors, types
from numba_gpucore.compile.numba_api import typing as numba_typing
from numba_gpucore.compile.passes.rewrite_texts import print_line
from numba_gpucore.compile.typing.coordinates import VectorType
from numba_gpucore.compile.typing.registry import registry

_NUMBERS = (types.Integer, types.Boolean, types.Float)
_CONSTANTS = (types.StringLiteral, types.NoneType, VectorType)


@registry.register_global(print_line)
class PrintLineTemplate(AbstractTemplate):
    """Numbers, constant texts, None, threadIdx and its kin, and tuples of these."""

    prefer_literal = True

    def generic(self, args, kws):
        for type_ in args:
            _require_printable(type_)
        return numba_typing.signature(types.none, *args)


def _require_printable(type_: types.Type) -> None:
    if isinstance(type_, types.BaseTuple):
        for item in type_:
            _require_printable(item)
    elif not isinstance(type_, (*_NUMBERS, *_CONSTANTS)):
        what = "a string that is not constant" if isinstance(type_, types.UnicodeType) else f"a value of type {type_}"
        raise errors.TypingError(
            f"print in a kernel cannot write {what}; it writes numbers, constant strings, None and tuples of these"
        )
