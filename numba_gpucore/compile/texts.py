"""Texts of prints and exceptions, cut into constants and what stands between. Before: none. After: passes, lower."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


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
