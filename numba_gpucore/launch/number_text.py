"""Numbers that a device left as 64-bit patterns. Before: the mailbox, the print ring. After: raising, printing."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from numba_gpucore.base.site import Hole, NumberKind

_FORMATS: dict[NumberKind, str] = {
    "int": "<q", "uint": "<Q", "bool": "<?", "float": "<d", "float32": "<f", "float16": "<e", "complex64": "<2f",
    "complex": "<2d",
}  # fmt: skip
_NARROW_FLOATS: dict[NumberKind, type[np.inexact]] = {
    "float32": np.float32, "float16": np.float16, "complex64": np.complex64,
}  # fmt: skip


def decode_number(patterns: Iterator[int], kind: NumberKind) -> int | float | bool | complex:
    """The next number as Python has it."""
    format_ = _FORMATS[kind]
    data = b"".join(next(patterns).to_bytes(8, "little") for _ in range(-(-struct.calcsize(format_) // 8)))
    parts = struct.unpack_from(format_, data)
    return complex(*parts) if len(parts) == 2 else parts[0]


def number_text(patterns: Iterator[int], hole: Hole) -> str:
    """As an f-string writes the next number; without a format narrow floats have as few digits as tell them from the
    others of their width."""
    number = decode_number(patterns, hole.kind)
    if hole.names:
        return dict[Any, str](hole.names).get(number, str(number))
    if hole.format.startswith(":"):
        return f"{{{hole.format}}}".format(number)
    narrow = _NARROW_FLOATS.get(hole.kind)
    text = str(number if narrow is None else np.array(number, narrow)[()])
    # "!s", "!r" and "!a" are all the same for numbers; what follows is about their text.
    return f"{{{hole.format[2:]}}}".format(text)
