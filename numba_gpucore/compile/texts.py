"""Texts of prints and exceptions, cut into constants and what stands between. Before: none. After: passes, lower.

Markers stand among the arguments of `print_line` and of exceptions, before what they are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from numba_gpucore.base.records import dataclass
from numba_gpucore.base.site import NumberKind
from numba_gpucore.compile.numba_api import errors

#: What is wrong with a text as a value, and what to do.
NO_STRINGS = "a kernel cannot make strings — put the value into print(…) or into an exception's arguments"


@dataclass(frozen=True)
class TextStart:
    """The next `count` arguments are the parts of one text."""

    count: int


@dataclass(frozen=True)
class Format:
    """The next argument is written as `{argument<text>}`, for instance with ":.3f" or "!r:>10"."""

    text: str


@dataclass(frozen=True)
class Spread:
    """The next argument is a tuple, whose items are arguments of `print`."""


def join_texts(parts: Iterable[Any]) -> Iterator[Any]:
    """The parts in order, neighbouring strings as one and empty strings left out; others as they are."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text:
            yield text
        text = ""
        yield part
    if text:
        yield text


def apply_format(format_text: str, value: Any, loc: Any = None) -> str:
    """`value` as an f-string writes it (see base.site.Hole). Raises UnsupportedError where it has no such format."""
    try:
        return f"{{{format_text}}}".format(value)
    except (ValueError, IndexError, KeyError) as error:
        raise errors.UnsupportedError(f"f-string: {error}", loc) from error


_EXAMPLES: dict[NumberKind, Any] = {"bool": True, "int": 0, "uint": 0, "complex64": 0j, "complex": 0j}


def check_number_format(format_text: str, kind: NumberKind) -> None:
    """Raise UnsupportedError where numbers of a kind have no such format."""
    apply_format(format_text, _EXAMPLES.get(kind, 0.0))
