"""Integer arithmetic and comparisons as C++, without undefined behaviour. Before: `values`. After: `instructions`.

Wrapping arithmetic is done in unsigned types; signed arithmetic is printed only where LLVM has proved that it cannot
wrap (nuw and nsw; Numba marks its index arithmetic nsw, proved or not). Shifts by a variable are masked, division by
zero and MIN / -1 are guarded. Source: LLVM Language Reference; C++14 [expr]; MSL specification 2.1, 3.
"""

from __future__ import annotations

from numba_metal.codegen.addresses import pointer
from numba_metal.codegen.expressions import (
    RELATIONS,
    Expr,
    binary,
    call,
    container_bits,
    convert,
    int_literal,
    int_type,
    logical_not,
    unary,
)
from numba_metal.codegen.infer_types import cannot_wrap
from numba_metal.codegen.ir_types import ConstInt, Instr, IntType, Local, PointerType, Value, Zero
from numba_metal.codegen.values import Values

ARITHMETIC = {"add": "+", "sub": "-", "mul": "*"}
BITWISE = {"and": "&", "or": "|", "xor": "^"}


def wrap(expr: Expr, bits: int) -> Expr:
    """Cut an unsigned result to the width of its LLVM type: C++ computes narrow integers as int, and odd widths live
    in a wider type, kept zero-extended."""
    if bits in (32, 64):
        return expr
    container = int_type(bits, signed=False)
    if bits in (8, 16):
        return convert(Expr(expr.text, "int", expr.precedence, expr.operator), container)
    masked = binary("&", expr, int_literal((1 << bits) - 1, expr.type), expr.type)
    return convert(masked, container)


def print_arithmetic(values: Values, instr: Instr) -> Expr:
    left, right = instr.operands
    bits = values.int_bits(instr.type)
    operator = ARITHMETIC[instr.opcode]
    if bits == 1:
        if operator == "*":
            return binary("&&", values.expr(left), values.expr(right), "bool")
        return binary("!=", values.expr(left), values.expr(right), "bool")
    if isinstance(right, ConstInt) and right.value < 0 and operator == "+" and right.value != -(1 << (bits - 1)):
        operator, right = "-", ConstInt(-right.value, right.type)
    if cannot_wrap(instr) and bits in (32, 64) and _has_signed_operand(values, left, right):
        a, b = values.signed(left), values.signed(right)
        return binary(operator, a, b, a.type)
    if isinstance(left, ConstInt) and left.value == 0 and operator == "-" and bits in (32, 64):
        b = values.unsigned(right)
        return binary("-", int_literal(0, b.type), b, b.type)
    a, b = values.unsigned(left), values.unsigned(right)
    if bits < 32 and operator == "*":
        # ushort * ushort would be computed as int, and can overflow it.
        a, b = convert(a, "uint"), convert(b, "uint")
    return wrap(binary(operator, a, b, a.type), bits)


def _has_signed_operand(values: Values, left: Value, right: Value) -> bool:
    return any(values.expr(v).is_signed for v in (left, right) if not isinstance(v, ConstInt))


def print_bitwise(values: Values, instr: Instr) -> Expr:
    left, right = instr.operands
    operator = BITWISE[instr.opcode]
    bits = values.int_bits(instr.type)
    if bits == 1:
        return _logical(values, instr.opcode, left, right)
    if operator == "^" and isinstance(right, ConstInt) and right.value == -1:
        expr = values.expr(left)
        inverted = unary("~", expr, expr.type)
        return inverted if bits in (32, 64) else wrap(convert(inverted, int_type(bits, False)), bits)
    a, b = values.natural(left, right)
    result = binary(operator, a, b, a.type)
    # C++ computes narrow integers as int ([conv.prom]).
    return result if bits >= 32 else convert(Expr(result.text, "int"), a.type)


def _logical(values: Values, opcode: str, left: Value, right: Value) -> Expr:
    a = values.expr(left)
    if opcode == "xor" and isinstance(right, ConstInt):
        return logical_not(a) if right.value else a
    b = values.expr(right)
    return binary({"and": "&&", "or": "||", "xor": "!="}[opcode], a, b, "bool")


def print_shift(values: Values, instr: Instr) -> Expr:
    left, right = instr.operands
    bits = values.int_bits(instr.type)
    value = values.signed(left) if instr.opcode == "ashr" else values.unsigned(left)
    if isinstance(right, ConstInt):
        amount = int_literal(right.value & (bits - 1) if bits & (bits - 1) == 0 else right.value, "int")
    else:
        # LLVM leaves a shift by the width or more undefined, and so does C++ ([expr.shift]).
        count = values.unsigned(right)
        amount = binary("&", count, int_literal(container_bits(bits) - 1, count.type), count.type)
    operator = "<<" if instr.opcode == "shl" else ">>"
    result = binary(operator, value, amount, value.type)
    if instr.opcode == "shl":
        return wrap(result, bits)
    if instr.opcode == "ashr" and bits not in (8, 16, 32, 64):
        return wrap(convert(result, int_type(bits, False)), bits)
    return result if bits >= 32 else convert(Expr(result.text, "int", result.precedence, operator), value.type)


def print_division(values: Values, instr: Instr) -> Expr:
    left, right = instr.operands
    bits = values.int_bits(instr.type)
    signed = instr.opcode[0] == "s"
    a = values.signed(left) if signed else values.unsigned(left)
    b = values.signed(right) if signed else values.unsigned(right)
    operator = "/" if instr.opcode.endswith("div") else "%"
    if isinstance(right, ConstInt) and right.value not in (0, -1):
        result = binary(operator, a, b, a.type)
    else:
        name = {"/": "divide", "%": "remainder"}[operator]
        wide = a.type if bits >= 32 else ("int" if signed else "uint")
        helper = values.helper(f"{name}_{wide}")
        result = call(helper, convert(a, wide), convert(b, wide), type_=wide)
    if bits < 32:
        return convert(Expr(result.text, "int", result.precedence, result.operator), a.type)
    return result


def compare_ints(values: Values, instr: Instr) -> Expr:
    left, right = instr.operands
    predicate = instr.detail
    if _is_param(values, left) and isinstance(right, Local) and not _is_param(values, right):
        # LLVM puts arguments first; people put what varies first.
        left, right, predicate = right, left, _swapped(predicate)
    if isinstance(left.type, PointerType):
        return _compare_pointers(values, predicate, left, right)
    if predicate in ("eq", "ne"):
        if left.type == IntType(1) and isinstance(right, ConstInt):
            expr = values.expr(left)
            return expr if (predicate == "ne") == (right.value == 0) else logical_not(expr)
        a, b = values.natural(left, right)
        return binary(RELATIONS[predicate], a, b, "bool")
    take = values.signed if predicate[0] == "s" else values.unsigned
    if "samesign" in instr.flags:
        naturals = values.natural(left, right)
        if naturals[0].bits >= 32:
            return _relation(predicate[1:], *naturals)
    return _relation(predicate[1:], take(left), take(right))


def _is_param(values: Values, value: Value) -> bool:
    return isinstance(value, Local) and value.name in values.params


def _swapped(predicate: str) -> str:
    """The predicate for exchanged operands: sgt → slt."""
    return predicate.translate(str.maketrans("gl", "lg")) if predicate not in ("eq", "ne") else predicate


def _relation(predicate: str, left: Expr, right: Expr) -> Expr:
    expr = binary(RELATIONS[predicate], left, right, "bool")
    return Expr(expr.text, "bool", expr.precedence, expr.operator, can_turn=True)


def _compare_pointers(values: Values, predicate: str, left: Value, right: Value) -> Expr:
    if isinstance(right, Zero) and predicate in ("eq", "ne"):
        return binary(RELATIONS[predicate], pointer(values, left), Expr("nullptr", "nullptr_t"), "bool")
    a, b = (Expr(f"(ulong){pointer(values, v).within(15)}", "ulong", 15) for v in (left, right))
    return binary(RELATIONS[predicate[-2:]], a, b, "bool")
