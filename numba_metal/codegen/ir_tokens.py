"""LLVM assembly as tokens, types and values. Before: text of one line. After: `ir_instrs`, `ir_reader`.

Source: LLVM Language Reference, "Type System", "Constants", "Constant Expressions".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from numba_gpucore.base.late_pattern import late_pattern
from numba_metal.codegen.ir_types import (
    Aggregate,
    ArrayType,
    ConstBytes,
    ConstExpr,
    ConstFloat,
    ConstInt,
    FloatType,
    GlobalRef,
    IntType,
    Local,
    OtherType,
    PointerType,
    SourceLine,
    StructType,
    Type,
    Undefined,
    Value,
    VectorType,
    Zero,
)

_TOKEN = late_pattern(
    r"""\s*(?:;.*)?(
      [%@](?:"[^"]*"|[-\w.$]+)          # local or global name
    | ![\w.]*                           # metadata
    | c?"[^"]*"                         # string
    | \#\d+                             # attribute group
    | -?\d+\.\d+(?:e[+-]?\d+)?          # decimal float
    | f?0x[HKLMR]?[0-9A-Fa-f]+          # hexadecimal float
    | -?\d+
    | [A-Za-z_][\w.]*
    | \.\.\.
    | [()\[\]{}<>=,*|:]
    )""",
    re.VERBOSE,
)
_FLAGS = frozenset(
    """nuw nsw exact disjoint nneg samesign inbounds nusw fast nnan ninf nsz arcp contract afn reassoc
    volatile""".split()
)
CASTS = frozenset(
    """trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint ptrtoaddr inttoptr bitcast
    addrspacecast""".split()
)
BINARY = frozenset("add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem".split())
FLOAT_NAMES = frozenset(("half", "bfloat", "float", "double"))
OTHER_TYPES = frozenset("void label metadata token x86_fp80 fp128 ppc_fp128 opaque".split())


class IRSyntaxError(Exception):
    """A construct that the reader does not know; `line` is the text that holds it."""

    def __init__(self, line: str, what: str):
        self.line = line
        super().__init__(f"{what} in LLVM assembly: {line.strip()}")


def unquote(name: str) -> str:
    """`%"a b"` → `a b`."""
    body = name[1:] if name[0] in "%@" else name
    return body[1:-1] if body.startswith('"') else body


class LineReader:
    """One logical line as tokens."""

    def __init__(self, line: str, places: dict[int, SourceLine]):
        self.line = line
        self.tokens = _TOKEN.findall(line)
        self.at = 0
        self.places = places

    # -- tokens

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        if not token:
            raise self.error("unexpected end")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise self.error(f"expected '{token}', got '{self.peek()}'")

    def error(self, what: str) -> IRSyntaxError:
        return IRSyntaxError(self.line, what)

    def skip_group(self) -> None:
        """Skip a parenthesised group, if one starts here."""
        if not self.accept("("):
            return
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self.next(), 0)

    def skip_attributes(self) -> None:
        """Skip parameter attributes up to the value, comma or closing parenthesis that follows them."""
        while re.match(r"[a-z]", self.peek()) and not self._starts_value():
            word = self.next()
            if word == "align" and self.peek() != "(":
                self.next()
            self.skip_group()

    def _starts_value(self) -> bool:
        token = self.peek()
        if token in ("true", "false", "null", "undef", "poison", "zeroinitializer", "none", "blockaddress"):
            return True
        return token in CASTS or token in ("getelementptr", "splat") or token.startswith(('c"', "f0x"))

    def read_flags(self) -> frozenset[str]:
        flags = set()
        while self.peek() in _FLAGS or self.peek() == "inrange":
            flags.add(self.next())
            if self.peek(-1) == "inrange":
                self.skip_group()
        return frozenset(flags)

    # -- types and values

    def read_type(self) -> Type:
        token = self.next()
        if re.fullmatch(r"i\d+", token):
            return IntType(int(token[1:]))
        if token in FLOAT_NAMES:
            return FloatType(token)
        if token == "ptr":
            return PointerType(self._read_space())
        if token in OTHER_TYPES:
            return OtherType(token)
        if token == "[":
            return self._read_sequence_type("]", ArrayType)
        if token == "{":
            return StructType(self._read_field_types("}"))
        if token == "<":
            if self.accept("{"):
                items = self._read_field_types("}")
                self.expect(">")
                return StructType(items, packed=True)
            return self._read_sequence_type(">", VectorType)
        raise self.error(f"unknown type '{token}'")

    def _read_space(self) -> int:
        if not self.accept("addrspace"):
            return 0
        self.expect("(")
        space = int(self.next())
        self.expect(")")
        return space

    def _read_sequence_type(self, end: str, kind: Callable[[int, Type], Type]) -> Type:
        count = int(self.next())
        self.expect("x")
        item = self.read_type()
        self.expect(end)
        return kind(count, item)

    def _read_field_types(self, end: str) -> tuple[Type, ...]:
        items: list[Type] = []
        while not self.accept(end):
            items.append(self.read_type())
            self.accept(",")
        return tuple(items)

    def read_typed_value(self) -> Value:
        type_ = self.read_type()
        self.skip_attributes()
        return self.read_value(type_)

    def read_value(self, type_: Type) -> Value:
        token = self.next()
        if token[0] == "%":
            return Local(unquote(token), type_)
        if token[0] == "@":
            return GlobalRef(unquote(token), type_)
        if token in ("undef", "poison"):
            return Undefined(type_)
        if token in ("zeroinitializer", "null", "none"):
            return Zero(type_)
        if token in ("true", "false"):
            return ConstInt(int(token == "true"), type_)
        if token == "splat" and isinstance(type_, VectorType):
            self.expect("(")
            item = self.read_typed_value()
            self.expect(")")
            return Aggregate((item,) * type_.count, type_)
        if isinstance(type_, FloatType):
            return _read_float(token, type_)
        if isinstance(type_, IntType) and re.fullmatch(r"-?\d+", token):
            return ConstInt(int(token), type_)
        if token in "[{<":
            return self._read_aggregate(type_, token)
        if token.startswith('c"'):
            return ConstBytes(_string_bytes(token[2:-1]), type_)
        if token in CASTS or token in BINARY or token == "getelementptr":
            return self._read_const_expr(token, type_)
        raise self.error(f"unknown constant '{token}'")

    def _read_aggregate(self, type_: Type, opening: str) -> Value:
        if opening == "<":
            self.accept("{")
        items: list[Value] = []
        while self.peek() not in ("]", "}", ">"):
            items.append(self.read_typed_value())
            self.accept(",")
        self.next()
        if opening == "<":
            self.accept(">")
        return Aggregate(tuple(items), type_)

    def _read_const_expr(self, opcode: str, type_: Type) -> Value:
        self.read_flags()
        self.expect("(")
        source_type = None
        if opcode == "getelementptr":
            source_type = self.read_type()
            self.expect(",")
        operands = [self.read_typed_value()]
        while self.accept(","):
            operands.append(self.read_typed_value())
        if self.accept("to"):
            self.read_type()
        self.expect(")")
        return ConstExpr(opcode, tuple(operands), type_, source_type)


_ESCAPE = late_pattern(rb"\\(\\|[0-9A-Fa-f]{2})")


def _string_bytes(text: str) -> bytes:
    """The bytes of a string constant, as LLVM's printEscapedString writes them: a backslash twice, others as hex."""
    return _ESCAPE.sub(lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1], 16)]), text.encode("latin-1"))


def _read_float(token: str, type_: FloatType) -> ConstFloat:
    """LLVM writes float and double constants as doubles, half as 0xH and bfloat as 0xR with their own bits."""
    if token.startswith("0xH"):
        value = struct.unpack("<e", int(token[3:], 16).to_bytes(2, "little"))[0]
    elif token.startswith("0xR"):
        value = struct.unpack("<f", (int(token[3:], 16) << 16).to_bytes(4, "little"))[0]
    elif token.startswith("0x"):
        value = struct.unpack("<d", int(token[2:], 16).to_bytes(8, "little"))[0]
    else:
        value = float(token)
    return ConstFloat(value, struct.unpack("<Q", struct.pack("<d", value))[0], type_)
