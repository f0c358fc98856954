"""Typing of `static_assert`."""

from __future__ import annotations

from numba_gpucore import language
from numba_gpucore.compile.numba_api import errors, templates, types
from numba_gpucore.compile.typing.registry import declare_typer


@declare_typer(language.static_assert)
def type_static_assert(condition, text=None):
    if not isinstance(condition, (types.Boolean, types.Integer)):
        raise errors.TypingError(f"static_assert: the condition is a bool or an integer, not {condition}")
    if text is not None and not isinstance(text, types.StringLiteral):
        raise errors.TypingError("static_assert: the text must be a literal string")
    return templates.signature(types.none, condition, *(() if text is None else (text,)))
