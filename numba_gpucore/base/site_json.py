"""Exception sites and printed lines as JSON. Before: Artifact, compile.stored_overloads. After: files on disk."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import asdict
from typing import Any

from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.site import Argument, Frame, Hole, Items, Site, Text


def site_to_json(site: Site) -> dict[str, Any]:
    return {**asdict(site), "arguments": [_argument_to_json(part) for part in site.arguments]}


def site_from_json(data: dict[str, Any]) -> Site:
    """Raises KeyError, TypeError, ValueError for what `site_to_json` does not give."""
    arguments = tuple(map(_argument_from_json, data["arguments"]))
    traces = tuple(tuple(map(_frame_from_json, trace)) for trace in data["traces"])
    return Site(data["exception"], arguments, _frame_from_json(data["frame"]), data["is_bounds_check"], traces)


def _frame_from_json(data: dict[str, Any]) -> Frame:
    """Raises TypeError, ValueError for what is no place in a program, which would be an error far from here."""
    frame = Frame(**data)
    number = frame.function_number
    kinds = (frame.function, str), (frame.filename, str), (frame.first_line, int), (frame.line_offset, int)
    if not all(type(value) is kind for value, kind in kinds) or type(number) not in (int, type(None)):
        raise TypeError(f"{frame} is no place")
    if number is not None and number < 0:
        raise ValueError(f"{number} numbers no function")
    return frame


def _argument_to_json(argument: Argument) -> dict[str, Any]:
    if isinstance(argument, Text):
        return {"text": [_argument_to_json(part) for part in argument.parts]}
    if isinstance(argument, Items):
        return {"items": [_argument_to_json(item) for item in argument.items]}
    if isinstance(argument, Hole):
        return {"hole": argument.kind, "format": argument.format, "names": argument.names}
    # JSON has neither complex numbers, nor bytes, nor tuples.
    is_literal = isinstance(argument, (complex, bytes, tuple))
    return {"literal": repr(argument)} if is_literal else {"constant": argument}


def _argument_from_json(data: dict[str, Any]) -> Any:
    if "text" in data:
        return Text(tuple(map(_argument_from_json, data["text"])))
    if "items" in data:
        return Items(tuple(map(_argument_from_json, data["items"])))
    if "hole" in data:
        return Hole(data["hole"], data.get("format", ""), tuple(map(tuple, data.get("names", ()))))
    return literal_eval(data["literal"]) if "literal" in data else data["constant"]


def print_line_to_json(line: PrintLine) -> list[dict[str, Any]]:
    return [_argument_to_json(part) for part in line.parts]


def print_line_from_json(parts: list[dict[str, Any]]) -> PrintLine:
    return PrintLine(tuple(map(_argument_from_json, parts)))
