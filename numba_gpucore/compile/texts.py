"""Texts of prints and exceptions, cut into constants and what stands between. Before: none. After: passes, lower.

Markers stand among the arguments of `print_line` and of exceptions, before what they are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from numba_gpucore.base.records import dataclass


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
