"""Typing of bit counting and of a few number functions."""

from __future__ import annotations

from numba_gpucore import language
from numba_gpucore.compile.numba_api import errors, templates, types
from numba_gpucore.compile.typing.registry import declare_cases, declare_typer, require_integer

INTEGERS = (
    types.int8, types.int16, types.int32, types.int64, types.uint8, types.uint16, types.uint32, types.uint64,
)  # fmt: skip
FLOATS = (types.float16, types.float32, types.float64)
SELECTABLE = (*(t for t in INTEGERS if t.bitwidth >= 16), *FLOATS)


def _declare_integer_unary(function, result_type=None) -> None:
    def typer(value):
        require_integer(value, f"{function.__name__}(value): value")
        value = types.unliteral(value)
        return templates.signature(result_type or value, value)

    declare_typer(function)(typer)


_declare_integer_unary(language.popc)
_declare_integer_unary(language.clz)
_declare_integer_unary(language.ffs, types.uint32)
declare_cases(language.brev, *(templates.signature(t, t) for t in (types.uint32, types.uint64)))
declare_cases(language.fma, *(templates.signature(t, t, t, t) for t in FLOATS))
declare_cases(language.cbrt, *(templates.signature(t, t) for t in FLOATS))
declare_cases(language.rsqrt, *(templates.signature(t, t) for t in FLOATS))


@declare_typer(language.selp)
def type_selp(condition, a, b):
    a, b = types.unliteral(a), types.unliteral(b)
    if a != b or a not in SELECTABLE:
        raise errors.TypingError(f"selp(condition, a, b): a and b must be numbers of one type, not {a} and {b}")
    return templates.signature(a, types.unliteral(condition), a, a)
