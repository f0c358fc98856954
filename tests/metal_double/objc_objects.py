"""Objective-C objects as PyObjC shows them: selectors, their arity and argument types. Before: facts.json. After: all
classes of the double.

A method is there only if its selector is in PyObjC's metadata, or is one whose Apple documentation the method names.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FACTS_PATH = Path(__file__).parent / "facts.json"


class RuleError(Exception):
    """A call that Metal's validation layer would stop the process for, or that PyObjC would not take."""


@functools.cache
def load_facts() -> dict[str, Any]:
    """What generate_facts.py read from PyObjC's metadata."""
    return json.loads(FACTS_PATH.read_text())


def method_name(selector_name: str) -> str:
    """PyObjC's rule: colons become underscores."""
    return selector_name.replace(":", "_")


def selector(name: str, *, documented: str = "", since: tuple[int, int] = (13, 0)) -> Callable[[Any], Any]:
    """Marks a method as the selector `name`; the method has PyObjC's name.

    documented: "Class, selector" of Apple's documentation where PyObjC's metadata has nothing to say about it, since a
    plain signature needs no metadata. since: the macOS version that has it.
    """

    def mark(function: Any) -> Any:
        assert function.__name__ == method_name(name), f"{function.__name__} is not how PyObjC names {name}"
        arity = name.count(":")

        @functools.wraps(function)
        def call(self: ObjCObject, *args: Any) -> Any:
            if len(args) != arity:
                raise TypeError(f"{name} takes {arity} arguments, got {len(args)}")
            facts = load_facts()["selectors"].get(name)
            if facts is not None:
                for position, (type_, arg) in enumerate(zip(facts["arguments"], args, strict=True)):
                    _check_argument(name, position, type_, arg)
            return function(self, *args)

        call.selector = name
        call.documented = documented
        call.since = since
        return call

    return mark


def _check_argument(name: str, position: int, type_: str, arg: Any) -> None:
    where = f"{name}, argument {position}"
    if type_ in ("Q", "q"):
        low, high = (0, 2**64) if type_ == "Q" else (-(2**63), 2**63)
        if isinstance(arg, bool) or not isinstance(arg, int) or not low <= arg < high:
            raise RuleError(f"{where}: an integer of type {type_} is expected, not {arg!r}")
    elif type_ == "@":
        if not (arg is None or isinstance(arg, (ObjCObject, str))):
            raise RuleError(f"{where}: an Objective-C object is expected, not {arg!r}")
    elif type_.startswith("{"):
        struct = type_[1:].split("=")[0]
        if type(arg).__name__ != struct:
            raise RuleError(f"{where}: a {struct} is expected, not {arg!r}")
    elif type_ == "^v":
        memoryview(arg)  # PyObjC takes anything with the buffer protocol
    elif type_ == "^@" and arg is not None:
        raise RuleError(f"{where}: pass None for an output argument")


class ObjCObject:
    """Base of the double's classes. Names that are no selectors are not there, as in PyObjC."""

    _macos: tuple[int, int] = (99, 0)

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        since = getattr(found, "since", None)
        if since is not None and since > object.__getattribute__(self, "_macos"):
            raise AttributeError(f"{type(self).__name__} has no selector {found.selector} before macOS {since}")
        return found

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the Metal double has no {type(self).__name__}.{name}; see tests/metal_double")


def selectors_of(cls: type) -> dict[str, Any]:
    """selector -> method, of a class and its bases."""
    methods = (getattr(cls, name) for name in dir(cls) if not name.startswith("__"))
    return {method.selector: method for method in methods if hasattr(method, "selector")}


class NSError(ObjCObject):
    """Foundation's NSError."""

    def __init__(self, domain: str, code: int, text: str):
        self._domain, self._code, self._text = domain, code, text

    @selector("domain", documented="NSError, domain")
    def domain(self) -> str:
        return self._domain

    @selector("code", documented="NSError, code")
    def code(self) -> int:
        return self._code

    @selector("localizedDescription", documented="NSError, localizedDescription")
    def localizedDescription(self) -> str:
        return self._text


class AutoreleasePool:
    """objc.autorelease_pool: a context manager. Counts how deep each thread is in pools."""

    def __init__(self, depth: Any):
        self._depth = depth

    def __enter__(self) -> None:
        self._depth.value = getattr(self._depth, "value", 0) + 1

    def __exit__(self, *_exception: object) -> None:
        self._depth.value -= 1


class VarList:
    """objc.varlist: a C array of unknown length."""

    def __init__(self, data: memoryview):
        self._data = data

    def as_buffer(self, count: int) -> memoryview:
        """A writable view of `count` bytes, of no format in particular."""
        if count > self._data.nbytes:
            raise RuleError(f"as_buffer({count}) reaches beyond the {self._data.nbytes} bytes that are there")
        return self._data[:count].cast("c")
