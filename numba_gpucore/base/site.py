"""Places in a kernel where an exception can start. Before: lowering notes them. After: the host raises from them.

Texts and lines stay on the host: device code only carries a site's index. A site's `content_id` depends on nothing
but its content, so equal sites get equal ids in every function, module and process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from numba_gpucore.base.digest import id_of_text
from numba_gpucore.base.records import dataclass

#: A constant of the message: what Python can write as a literal without names.
MessagePart = str | int | float | complex | bool | bytes | tuple[Any, ...] | None
#: "float" is float64, "complex" is complex128, which takes two 64-bit patterns.
NumberKind = Literal["int", "uint", "float", "bool", "float16", "float32", "complex64", "complex"]
MAX_SITE_NUMBERS = 4
#: Ways to one site that are told apart; a message that names more helps nobody.
MAX_TRACES = 4


@dataclass(frozen=True)
class Frame:
    """A line of the user's source, relative to its function's first line.

    function_number: of the function among those that the kernel's fingerprint reaches, by which another process finds
    it, wherever it is by then; None for functions that bytecode does not lead to, such as overloads.
    """

    function: str
    filename: str
    first_line: int
    line_offset: int
    function_number: int | None = None

    @property
    def line(self) -> int:
        return self.first_line + self.line_offset

    @property
    def place(self) -> str:
        """What tells the line from all others of a program, of which some may be in functions of the same name.

        The same wherever packages are installed: of the path only the last folder counts.
        """
        folder, name = os.path.split(self.filename)
        return f"{os.path.basename(folder)}/{name}:{self.first_line}+{self.line_offset} {self.function}"

    def at_line(self, line: int) -> Frame:
        """The same function at an absolute line."""
        return replace(self, line_offset=line - self.first_line)


@dataclass(frozen=True)
class Hole:
    """Stands for a number that is known only when the kernel runs; numbers travel as 64-bit patterns, one or two each.

    format: how texts write it, as in f-strings: what stands behind the value, such as ":.3f" or "!r:>10". names: what
    is written instead of a number that is an enum member's value.
    """

    kind: NumberKind
    format: str = ""
    names: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Text:
    """An f-string: one argument whose text is put together on the host."""

    parts: tuple[MessagePart | Hole, ...]

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(part for part in self.parts if isinstance(part, Hole))


@dataclass(frozen=True)
class Items:
    """A tuple of which some items are known only when the kernel runs: one argument."""

    items: tuple[Argument, ...]

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(hole for item in self.items for hole in holes_of(item))


Argument = MessagePart | Hole | Text | Items


def holes_of(argument: Argument) -> tuple[Hole, ...]:
    """The holes of an exception's argument, in order."""
    if isinstance(argument, Hole):
        return (argument,)
    return argument.holes if isinstance(argument, (Text, Items)) else ()


@dataclass(frozen=True)
class Site:
    """`exception` is "module:qualname". IndexError sites of bounds checks have the holes (index, axis, size).

    frame: the line that throws, which may lie in a library. traces: the user's lines that lead there, innermost first,
    the kernel's own line last; one trace for each way, at most MAX_TRACES.
    """

    exception: str
    arguments: tuple[Argument, ...]
    frame: Frame
    is_bounds_check: bool = False
    traces: tuple[tuple[Frame, ...], ...] = ()

    @property
    def ways(self) -> tuple[tuple[Frame, ...], ...]:
        """`traces`; where none was found, the throwing line alone."""
        return self.traces or ((self.frame,),)

    @property
    def content_id(self) -> int:
        """63-bit id: exception, arguments and place."""
        return id_of_text(repr((self.exception, self.arguments, self.frame.place, self.is_bounds_check)))

    def with_frames(self, change: Callable[[Frame], Frame]) -> Site:
        """The same site with other frames in the places of its own."""
        traces = tuple(tuple(map(change, trace)) for trace in self.traces)
        return replace(self, frame=change(self.frame), traces=traces)

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(hole for argument in self.arguments for hole in holes_of(argument))
