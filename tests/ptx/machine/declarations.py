"""Parsing of variables and parameters with their initialisers. Before: stream.py. After: parser.py, body.py.

PTX ISA, "State Spaces, Types, and Variables".
"""

from __future__ import annotations

from collections.abc import Iterator

from .errors import PtxSyntaxError
from .stream import TokenStream
from .syntax import AddressOf, Literal, Variable
from .types import TYPES, PtxType

SPACES = ("global", "const", "shared", "local", "param")
#: Attributes of a pointer parameter: hints that change nothing here (PTX ISA, "Kernel Parameter Attributes").
_POINTER_SPACES = (".global", ".const", ".shared", ".local", ".generic")


def take_type(stream: TokenStream) -> PtxType:
    token = stream.take()
    type_ = TYPES.get(token.text.removeprefix("."))
    if type_ is None or not token.text.startswith("."):
        raise PtxSyntaxError(token.line, f"{token.text!r} is no type that the machine knows")
    return type_


def take_variables(stream: TokenStream, space: str, is_extern: bool = False) -> Iterator[Variable]:
    """The variables of one declaration, after the word of its state space, up to and with its semicolon."""
    align, nparts, type_ = _take_qualifiers(stream)
    while True:
        yield _take_variable(stream, space, align, nparts, type_, is_extern)
        if stream.try_take(";"):
            return
        stream.expect(",")


def take_params(stream: TokenStream) -> tuple[Variable, ...]:
    """A parameter list in parentheses."""
    params: list[Variable] = []
    stream.expect("(")
    while not stream.try_take(")"):
        if params:
            stream.expect(",")
        token = stream.take()
        if token.text != ".param":
            raise PtxSyntaxError(token.line, f"parameters in {token.text!r} are not known, only .param")
        params.append(_take_variable(stream, "param", *_take_qualifiers(stream), False))
    return tuple(params)


def _take_qualifiers(stream: TokenStream) -> tuple[int | None, int, PtxType]:
    align: int | None = None
    nparts = 1
    type_: PtxType | None = None
    while stream.next.text.startswith("."):
        word = stream.next.text
        if word == ".align":
            stream.take()
            align = stream.take_int()
        elif word in (".v2", ".v4"):
            stream.take()
            nparts = int(word[2:])
        elif word == ".ptr":
            stream.take()
            _skip_pointer_attributes(stream)
        elif word == ".attribute":
            stream.take()
            while stream.take().text != ")":
                pass
        else:
            type_ = take_type(stream)
    if type_ is None:
        raise PtxSyntaxError(stream.next.line, "a declaration without a type")
    return align, nparts, type_


def _skip_pointer_attributes(stream: TokenStream) -> None:
    """`.ptr .global .align 16`: what the pointer points to, no property of the parameter itself."""
    stream.try_take(*_POINTER_SPACES)
    if stream.try_take(".align"):
        stream.take_int()


def _take_variable(
    stream: TokenStream, space: str, align: int | None, nparts: int, type_: PtxType, is_extern: bool
) -> Variable:
    name = stream.take_word()
    count: int | None = nparts
    while stream.try_take("["):
        if stream.try_take("]"):
            count = None
            continue
        count = (count or 0) * stream.take_int()
        stream.expect("]")
    initial = tuple(_take_initial(stream)) if stream.try_take("=") else ()
    if count is None and initial:
        count = len(initial)
    return Variable(name, space, type_, align or type_.nbytes * nparts, count, initial, is_extern)


def _take_initial(stream: TokenStream) -> Iterator[Literal | AddressOf]:
    if stream.try_take("{"):
        while not stream.try_take("}"):
            yield from _take_initial(stream)
            stream.try_take(",")
        return
    if stream.next.kind == "word":
        yield _take_address(stream, None)
        return
    literal = stream.take_literal()
    if literal.kind == "int" and stream.try_take("("):
        yield _take_address(stream, int(literal.value))
        stream.expect(")")
    else:
        yield literal


def _take_address(stream: TokenStream, mask: int | None) -> AddressOf:
    name = stream.take_word()
    is_generic = name == "generic"
    if is_generic:
        stream.expect("(")
        name = stream.take_word()
        stream.expect(")")
    offset = stream.take_int() if stream.next.text in ("+", "-") else 0
    return AddressOf(name, offset, is_generic, mask)
