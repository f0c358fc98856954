"""Reading tokens one after another. Before: lexer.py. After: declarations.py, parser.py, body.py."""

from __future__ import annotations

import struct

from .errors import PtxSyntaxError
from .lexer import Token, split_tokens
from .syntax import Literal

_END = "end of text"


class TokenStream:
    """The tokens of one module and a position among them."""

    def __init__(self, text: str):
        self.lines = text.split("\n")
        self.tokens = split_tokens(text)
        self.tokens.append(Token(_END, _END, len(self.lines)))
        self.position = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.position]

    @property
    def at_end(self) -> bool:
        return self.next.kind == _END

    def take(self) -> Token:
        token = self.next
        if token.kind == _END:
            raise PtxSyntaxError(token.line, "the text ends too early")
        self.position += 1
        return token

    def try_take(self, *texts: str) -> Token | None:
        """The next token if its text is one of these."""
        return self.take() if self.next.text in texts else None

    def expect(self, text: str) -> Token:
        token = self.take()
        if token.text != text:
            raise PtxSyntaxError(token.line, f"expected {text!r}, got {token.text!r}")
        return token

    def take_word(self) -> str:
        token = self.take()
        if token.kind != "word":
            raise PtxSyntaxError(token.line, f"expected a name, got {token.text!r}")
        return token.text

    def take_literal(self) -> Literal:
        """A constant with its signs. PTX ISA, "Constants"."""
        is_negative = False
        while sign := self.try_take("-", "+"):
            is_negative ^= sign.text == "-"
        token = self.take()
        value = _literal(token)
        if is_negative:
            return Literal(value.kind, -value.value) if value.kind in ("int", "real") else _negated_bits(value)
        return value

    def take_int(self) -> int:
        literal = self.take_literal()
        if literal.kind != "int":
            raise PtxSyntaxError(self.next.line, "expected an integer")
        return int(literal.value)

    def skip_line(self, line: int) -> None:
        while not self.at_end and self.next.line == line:
            self.position += 1

    def skip_braces(self) -> None:
        """Skip `{ ... }` with everything inside."""
        self.expect("{")
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.take().text, 0)


def _literal(token: Token) -> Literal:
    text = token.text
    if token.kind == "float_bits":
        return Literal("f32" if text[1] in "fF" else "f64", int(text[2:], 16))
    if token.kind != "number":
        raise PtxSyntaxError(token.line, f"expected a number, got {text!r}")
    if "." in text:
        return Literal("real", float(text))
    digits = text.rstrip("U")
    if digits[:2].lower() in ("0x", "0b") or not digits.startswith("0"):
        return Literal("int", int(digits, 0))
    return Literal("int", int(digits, 8))


def _negated_bits(literal: Literal) -> Literal:
    code = "<f" if literal.kind == "f32" else "<d"
    nbytes = struct.calcsize(code)
    (value,) = struct.unpack(code, int(literal.value).to_bytes(nbytes, "little"))
    return Literal(literal.kind, int.from_bytes(struct.pack(code, -value), "little"))
