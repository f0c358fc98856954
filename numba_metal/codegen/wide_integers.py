"""Integers of 65 to 128 bits, which LLVM makes of sums over a range. Before: `values`. After: `instructions`.

MSL has none; they are pairs of ulong, with a helper for each operation that optimisation is seen to make. What it does
not make (division, shifts by a variable) is a fault.
"""

from __future__ import annotations

from numba_metal.codegen.expressions import WIDE, Expr, binary, call, convert, int_literal, int_type
from numba_metal.codegen.ir_types import ConstInt, Instr, IntType, Undefined, Value, Zero
from numba_metal.codegen.values import CannotPrint, Values


def is_wide(value: Value | Instr) -> bool:
    return isinstance(value.type, IntType) and value.type.bits > 64


def print_wide(values: Values, instr: Instr) -> Expr:
    """The result of an instruction that has a wide operand or result."""
    match instr.opcode:
        case "zext" | "sext":
            return _extend(values, instr)
        case "trunc":
            return _truncate(values, instr)
        case "add" | "sub" | "mul" | "and" | "or" | "xor":
            return _helper(values, f"wide_{instr.opcode}", *instr.operands)
        case "shl" | "lshr" if isinstance(instr.operands[1], ConstInt):
            return _shift(values, instr)
        case "freeze":
            return wide_expr(values, instr.operands[0])
    raise CannotPrint(
        f"'{instr.opcode}' of {instr.operands[0].type}, wider than Metal's 64 bits", "keep results within 64 bits"
    )


def wide_expr(values: Values, value: Value) -> Expr:
    if isinstance(value, ConstInt):
        return _pair(values, value.value & (2**64 - 1), value.value >> 64 & (2**64 - 1))
    if isinstance(value, (Zero, Undefined)):
        return _pair(values, 0, 0)
    return values.expr(value)


def _pair(values: Values, low: int, high: int) -> Expr:
    return _helper(values, "wide_of", int_literal(low, "ulong"), int_literal(high, "ulong"))


def _helper(values: Values, name: str, *operands: Value | Expr) -> Expr:
    arguments = [o if isinstance(o, Expr) else wide_expr(values, o) for o in operands]
    return call(values.helper(name), *arguments, type_=WIDE)


def _extend(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    if is_wide(operand):
        raise CannotPrint(f"'{instr.opcode}' of {operand.type}, wider than Metal's 64 bits")
    if instr.opcode == "zext":
        return _helper(values, "wide_of", convert(values.unsigned(operand), "ulong"), int_literal(0, "ulong"))
    signed = convert(values.signed(operand), "long")
    sign = convert(binary(">>", signed, int_literal(63, "int"), "long"), "ulong")
    return _helper(values, "wide_of", convert(signed, "ulong"), sign)


def _truncate(values: Values, instr: Instr) -> Expr:
    if is_wide(instr):
        return wide_expr(values, instr.operands[0])
    bits = values.int_bits(instr.type)
    low = Expr(f"{wide_expr(values, instr.operands[0]).within(16)}.low", "ulong")
    if bits == 1:
        return binary("!=", binary("&", low, int_literal(1, "ulong"), "ulong"), int_literal(0, "ulong"), "bool")
    if bits not in (8, 16, 32, 64):
        return binary("&", low, int_literal((1 << bits) - 1, "ulong"), "ulong")
    return convert(low, int_type(bits, signed=False))


def _shift(values: Values, instr: Instr) -> Expr:
    """Bits above the width of an odd type are junk after arithmetic; a shift to the right must not bring them in."""
    operand, amount = instr.operands
    assert isinstance(amount, ConstInt) and isinstance(instr.type, IntType)
    value = wide_expr(values, operand)
    if instr.opcode == "lshr" and instr.type.bits < 128:
        value = _helper(values, "wide_and", value, _pair(values, 2**64 - 1, (1 << (instr.type.bits - 64)) - 1))
    count = int_literal(amount.value, "uint")
    return call(values.helper(f"wide_{instr.opcode}"), value, count, type_=WIDE)
