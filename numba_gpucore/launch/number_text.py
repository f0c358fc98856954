"""Numbers that a device left as 64-bit patterns. Before: the mailbox, the print ring. After: raising, printing."""

from __future__ import annotations

import struct

import numpy as np

from numba_gpucore.base.site import Hole, NumberKind

_FORMATS: dict[NumberKind, str] = {
    "int": "<q", "uint": "<Q", "bool": "<?", "float": "<d", "float32": "<f", "float16": "<e",
}  # fmt: skip
_NARROW_FLOATS: dict[NumberKind, type[np.floating]] = {"float32": np.float32, "float16": np.float16}


def decode_number(pattern: int, kind: NumberKind) -> int | float | bool:
    """The number as Python has it."""
    return struct.unpack_from(_FORMATS[kind], pattern.to_bytes(8, "little"))[0]  # type: ignore[no-any-return]


def number_text(pattern: int, hole: Hole) -> str:
    """As an f-string writes it; without a format narrow floats have as few digits as tell them from the others of
    their width."""
    number = decode_number(pattern, hole.kind)
    if hole.format.startswith(":"):
        return f"{{{hole.format}}}".format(number)
    narrow = _NARROW_FLOATS.get(hole.kind)
    text = str(number) if narrow is None else str(narrow(number))
    # "!s", "!r" and "!a" are all the same for numbers; what follows is about their text.
    return f"{{{hole.format[2:]}}}".format(text)
