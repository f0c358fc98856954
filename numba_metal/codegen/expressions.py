"""C++ expressions as text with type and precedence. Before: `instructions` builds them. After: `print_body`.

Integers carry their signedness in the expression's type; LLVM's operations have it, so a cast is printed only where the
two differ. Source: MSL specification 2.1 (scalar types), C++14 [expr].
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from numba_metal.codegen.ir_types import ConstFloat, FloatType, IntType, Type, VectorType

# Precedence, highest binds tightest. Source: C++14 [expr], in the order of its grammar.
PRIMARY, UNARY, MULTIPLY, ADD, SHIFT, RELATION, EQUALITY = 16, 15, 13, 12, 11, 9, 8
BIT_AND, BIT_XOR, BIT_OR, LOGICAL_AND, LOGICAL_OR, CONDITIONAL = 7, 6, 5, 4, 3, 2
_BINARY = {
    "*": MULTIPLY, "/": MULTIPLY, "%": MULTIPLY, "+": ADD, "-": ADD, "<<": SHIFT, ">>": SHIFT,
    "<": RELATION, ">": RELATION, "<=": RELATION, ">=": RELATION, "==": EQUALITY, "!=": EQUALITY,
    "&": BIT_AND, "^": BIT_XOR, "|": BIT_OR, "&&": LOGICAL_AND, "||": LOGICAL_OR,
}  # fmt: skip
#: The operators of the relations that LLVM names.
RELATIONS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ASSOCIATIVE = frozenset(("&&", "||", "&", "|", "^"))

_SIGNED = {8: "char", 16: "short", 32: "int", 64: "long"}
_UNSIGNED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}
_BITS = {name: bits for table in (_SIGNED, _UNSIGNED) for bits, name in table.items()}
_FLOAT_NBYTES = {"half": 2, "bfloat": 2, "float": 4}
#: The struct that stands for integers of 65 to 128 bits; see `wide_integers`.
WIDE = "wide"
_SUFFIX = {"uint": "u", "long": "L", "ulong": "UL"}


@dataclass(frozen=True)
class Expr:
    """`type`: the MSL type as text, "device float*" for pointers. operator: that of the outermost binary operation.
    can_turn: a comparison of integers, whose negation is the opposite comparison. converted: what a cast to `type` was
    made of."""

    text: str
    type: str
    precedence: int = PRIMARY
    operator: str = ""
    can_turn: bool = False
    converted: Expr | None = None

    def within(self, precedence: int) -> str:
        """The text as an operand where `precedence` is the least that needs no parentheses."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    @property
    def bits(self) -> int:
        """Width of an integer type; 1 for bool, 0 for anything else."""
        return 1 if self.type == "bool" else _BITS.get(self.type, 0)

    @property
    def is_signed(self) -> bool:
        return self.type in _SIGNED.values()


def element_nbytes(element: str) -> int:
    """The size of a number's MSL type."""
    return _BITS[element] // 8 if element in _BITS else _FLOAT_NBYTES[element]


def container_bits(bits: int) -> int:
    """The width of the MSL integer that holds an LLVM integer of up to 64 bits."""
    return next(width for width in (8, 16, 32, 64) if width >= bits)


def int_type(bits: int, signed: bool) -> str:
    if bits == 1:
        return "bool"
    if bits > 64:
        return WIDE
    return (_SIGNED if signed else _UNSIGNED)[container_bits(bits)]


def scalar_type(type_: Type, signed: bool = True) -> str:
    """The MSL type of an LLVM scalar or short vector. Raises KeyError for what MSL lacks."""
    if isinstance(type_, VectorType):
        return f"{scalar_type(type_.item, signed=False)}{type_.count}"
    if isinstance(type_, IntType):
        return int_type(type_.bits, signed)
    assert isinstance(type_, FloatType)
    return {"half": "half", "bfloat": "bfloat", "float": "float"}[type_.name]


def int_literal(value: int, type_: str) -> Expr:
    """`value` modulo the width of `type_`, as a literal of that type."""
    if type_ == "bool":
        return Expr("true" if value & 1 else "false", "bool")
    bits = _BITS[type_]
    value &= (1 << bits) - 1
    if type_ in _SIGNED.values() and value >> (bits - 1):
        value -= 1 << bits
    if type_ in ("char", "uchar", "short", "ushort"):
        return Expr(f"{type_}({value})", type_)
    suffix = _SUFFIX.get(type_, "")
    if value == -(1 << (bits - 1)) and value < 0:
        # C++ has no negative literals: -2147483648 is minus a value that is no int. Source: [lex.icon].
        return Expr(f"(-{-value - 1}{suffix} - 1)", type_)
    return Expr(f"{value}{suffix}", type_, UNARY if value < 0 else PRIMARY)


def float_literal(constant: ConstFloat) -> Expr:
    """The shortest decimal that reads back exactly; NaN and infinity by their bits."""
    assert isinstance(constant.type, FloatType)
    name = constant.type.name
    value = constant.value
    if name == "bfloat":
        pattern = struct.unpack("<I", struct.pack("<f", value))[0] >> 16
        return Expr(f"as_type<bfloat>(ushort(0x{pattern:04x}))", "bfloat")
    code, suffix = {"float": ("f", "f"), "half": ("e", "h")}[name]
    if not math.isfinite(value):
        pattern = int.from_bytes(_pack_nonfinite(code, value, constant.bits), "little")
        bits = f"0x{pattern:08x}u" if name == "float" else f"ushort(0x{pattern:04x})"
        return Expr(f"as_type<{name}>({bits})", name)
    text = _shortest(value, code)
    return Expr(f"{text}{suffix}", name, UNARY if text.startswith("-") else PRIMARY)


def _pack_nonfinite(code: str, value: float, bits: int) -> bytes:
    """The bytes of a NaN or infinity in a narrower format; a NaN keeps its sign and the top of its payload."""
    if math.isinf(value):
        return struct.pack(f"<{code}", value)
    sign, payload = bits >> 63, bits & ((1 << 52) - 1)
    if code == "f":
        return struct.pack("<I", (sign << 31) | (0xFF << 23) | ((payload >> 29) or 1 << 22))
    return struct.pack("<H", (sign << 15) | (0x1F << 10) | ((payload >> 42) or 1 << 9))


def _shortest(value: float, code: str) -> str:
    """The shortest decimal that the format reads back, in the spelling that Python would choose."""
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        if struct.unpack(f"<{code}", struct.pack(f"<{code}", float(text)))[0] == value:
            break
    return repr(float(text))


def binary(operator: str, left: Expr, right: Expr, type_: str) -> Expr:
    """`left operator right`; parentheses go around any operand whose own operator a reader would have to look up."""
    precedence = _BINARY[operator]
    return Expr(
        f"{_operand(left, operator, is_right=False)} {operator} {_operand(right, operator, is_right=True)}",
        type_,
        precedence,
        operator,
    )


def _operand(expr: Expr, operator: str, is_right: bool) -> str:
    precedence = _BINARY[operator]
    if expr.precedence >= UNARY:
        return expr.text
    if expr.operator == operator and (operator in _ASSOCIATIVE or not is_right):
        return expr.text
    arithmetic = expr.precedence in (MULTIPLY, ADD)
    plain_arithmetic = arithmetic and expr.operator != "%"
    if precedence in (RELATION, EQUALITY) and arithmetic:
        return expr.text
    if operator in ("&&", "||") and expr.precedence in (RELATION, EQUALITY):
        return expr.text
    if operator in ("+", "-") and plain_arithmetic and (expr.precedence > precedence or not is_right):
        return expr.text
    return f"({expr.text})"


def unary(operator: str, operand: Expr, type_: str) -> Expr:
    # "- -x" must not become "--x"
    text = operand.within(UNARY)
    return Expr(f"{operator}({text})" if text.startswith(operator) else operator + text, type_, UNARY)


def call(function: str, *arguments: Expr, type_: str) -> Expr:
    return Expr(f"{function}({', '.join(argument.text for argument in arguments)})", type_)


def convert(expr: Expr, type_: str) -> Expr:
    """`type(expr)`, or `expr` itself if it has that type. A cast of a cast that only changed the sign is one cast."""
    if expr.type == type_:
        return expr
    inner = expr.converted
    if inner is not None and inner.bits and expr.bits > 1 and expr.bits == _BITS.get(type_):
        return convert(inner, type_)
    return Expr(f"{type_}({expr.text})", type_, converted=expr)


def reinterpret(expr: Expr, type_: str) -> Expr:
    """The same bits as another type of the same size."""
    if expr.type == type_:
        return expr
    if expr.type in _BITS and type_ in _BITS:
        return convert(expr, type_)
    return Expr(f"as_type<{type_}>({expr.text})", type_)


def logical_not(expr: Expr) -> Expr:
    """The negation of a bool. Comparisons of floats other than == and != do not turn: both can be false (NaN)."""
    if expr.operator in ("==", "!=") or expr.can_turn:
        return _with_operator(expr, _NEGATED[expr.operator])
    if expr.type == "bool" and expr.text in ("true", "false"):
        return Expr("false" if expr.text == "true" else "true", "bool")
    if expr.text.startswith("!") and expr.precedence == UNARY:
        inner = expr.text[1:]
        return Expr(inner, "bool", PRIMARY)
    return Expr(f"!{expr.within(UNARY)}", "bool", UNARY)


def _with_operator(expr: Expr, operator: str) -> Expr:
    depth = 0
    for index in range(len(expr.text)):
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(expr.text[index], 0)
        if depth == 0 and expr.text.startswith(f" {expr.operator} ", index):
            text = f"{expr.text[:index]} {operator} {expr.text[index + len(expr.operator) + 2 :]}"
            return Expr(text, "bool", _BINARY[operator], operator, expr.can_turn)
    raise AssertionError(f"no operator {expr.operator} in {expr.text}")


def conditional(condition: Expr, then: Expr, orelse: Expr, type_: str) -> Expr:
    test = condition.within(LOGICAL_OR)
    return Expr(f"{test} ? {then.within(LOGICAL_OR)} : {orelse.within(LOGICAL_OR)}", type_, CONDITIONAL)


def dereference(pointer: Expr, item_type: str) -> Expr:
    return Expr(f"*{pointer.within(UNARY)}", item_type, UNARY)
