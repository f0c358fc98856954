"""Step 1: PTX text into tokens. Before: the text. After: parser.py. PTX ISA, "Syntax"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import PtxSyntaxError

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<float_bits>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})
  | (?P<number>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+\.\d*(?:[eE][+-]?\d+)?|\d+U?)
  | (?P<word>[.%$_A-Za-z][\w$]*(?:(?:\.|::)[\w$]+)*)
  | (?P<mark>[{}()\[\],;:<>=|!+\-@*~?&])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    line: int


def split_tokens(text: str) -> list[Token]:
    """All tokens with their line numbers, from 1. Raises PtxSyntaxError at a character that starts none."""
    tokens: list[Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise PtxSyntaxError(line, f"no token starts with {text[position : position + 12]!r}")
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(Token(kind, match.group(), line))
        line += match.group().count("\n")
        position = match.end()
    return tokens
