"""Signature strings without Numba: "void(float32[::1], int64, UniTuple(int32, 2))". Before: jit. After: Kernel.

The common part of the grammar that Numba evaluates in its own namespace; for the rest the answer is None, and
`miss.parse_signature` asks Numba.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numba_gpucore.base.argtypes import (
    ArgType,
    ArrayType,
    Layout,
    NoneArgType,
    OptionalType,
    ScalarType,
    TupleType,
)
from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.dtypes import BFLOAT16_NAME, Signature

_NUMPY_NAMES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
#: Numba's aliases with a size that is the same on every system (numba.core.types).
_ALIASES = {
    "boolean": "bool", "bool_": "bool", "b1": "bool", "byte": "uint8", "char": "int8", "uchar": "uint8",
    "short": "int16", "ushort": "uint16", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
    "u2": "uint16", "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64",
    "c8": "complex64", "c16": "complex128", "intc": "int32", "uintc": "uint32", "intp": "int64", "uintp": "uint64",
    "int_": "int64", "uint": "uint64", "longlong": "int64", "ulonglong": "uint64", "double": "float64",
}  # fmt: skip
_TOKEN = late_pattern(r"\s*(?:([A-Za-z_][A-Za-z0-9_.]*)|(\d+)|(::1|[:(),\[\]=]|\"[^\"]*\"|'[^']*'))")


class _NotUnderstood(Exception):
    pass


def parse_signature_text(text: str) -> Signature | None:
    """Parse a signature, or a parenthesised list of types. None: not in the grammar that is understood here."""
    try:
        return _Parser(_tokenise(text)).signature()
    except _NotUnderstood:
        return None


def _tokenise(text: str) -> list[str]:
    tokens, end = [], 0
    while text[end:].strip():
        match = _TOKEN.match(text, end)
        if match is None:
            raise _NotUnderstood
        tokens.append(match.group().strip())
        end = match.end()
    return tokens


def _scalar(name: str) -> ScalarType:
    name = name.removeprefix("numba.").removeprefix("types.").removeprefix("np.")
    name = _ALIASES.get(name, name)
    if name == BFLOAT16_NAME:
        return ScalarType(BFLOAT16_NAME, 2)
    if name != "bool" and name not in _NUMPY_NAMES:
        raise _NotUnderstood
    return ScalarType(name, np.dtype(name).itemsize)


class _Parser:
    """Recursive descent over the tokens of one signature."""

    def __init__(self, tokens: list[str]):
        self._tokens = tokens
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, expected: str | None = None) -> str:
        token = self._peek()
        if not token or (expected is not None and token != expected):
            raise _NotUnderstood
        self._at += 1
        return token

    def signature(self) -> Signature:
        result = None if self._peek() == "(" else self._type()
        args = self._type_list()
        if self._peek():
            raise _NotUnderstood
        return Signature(args, None if isinstance(result, NoneArgType) else result)

    def _type_list(self) -> tuple[ArgType, ...]:
        self._take("(")
        types = []
        while self._peek() != ")":
            types.append(self._type())
            if self._peek() != ")":
                self._take(",")
        self._take(")")
        return tuple(types)

    def _type(self) -> ArgType:
        name = self._take()
        short = name.rpartition(".")[2]
        if short in ("void", "none"):
            return NoneArgType()
        constructors: dict[str, Callable[[], ArgType]] = {
            "UniTuple": self._unituple,
            "Tuple": self._tuple,
            "Array": self._array,
            "optional": self._optional,
            "Optional": self._optional,
        }
        type_: ArgType
        if short in constructors:
            self._take("(")
            type_ = constructors[short]()
            self._take(")")
        else:
            type_ = _scalar(name)
        if self._peek() == "[":
            return self._indexed(type_)
        return type_

    def _indexed(self, dtype: ArgType) -> ArrayType:
        if not isinstance(dtype, ScalarType):
            raise _NotUnderstood
        axes = []
        self._take("[")
        while self._peek() != "]":
            axes.append(self._take())
            if self._peek() != "]":
                self._take(",")
        self._take("]")
        return ArrayType(dtype, len(axes), _layout_of_axes(axes))

    # What stands between the parentheses of each constructor.

    def _unituple(self) -> TupleType:
        item = self._type()
        self._take(",")
        count = self._take()
        if not count.isdecimal():
            raise _NotUnderstood
        return TupleType((item,) * int(count))

    def _tuple(self) -> TupleType:
        if self._peek() != "(":
            raise _NotUnderstood
        return TupleType(self._type_list())

    def _optional(self) -> OptionalType:
        return OptionalType(self._type())

    def _array(self) -> ArrayType:
        dtype = self._type()
        self._take(",")
        ndim = self._take()
        self._take(",")
        layout = self._take().strip("'\"")
        if not isinstance(dtype, ScalarType) or not ndim.isdecimal() or layout not in ("C", "F", "A"):
            raise _NotUnderstood
        return ArrayType(dtype, int(ndim), layout)  # type: ignore[arg-type]


def _layout_of_axes(axes: list[str]) -> Layout:
    """Numba's rule: `::1` on the last axis means C order, on the first of several F order, on none any order."""
    if not axes or any(axis not in (":", "::1") for axis in axes) or axes.count("::1") > 1:
        raise _NotUnderstood
    if axes[-1] == "::1":
        return "C"
    if axes[0] == "::1":
        return "F"
    if "::1" in axes:
        raise _NotUnderstood
    return "A"
