"""Conversions between types as C++, without undefined behaviour. Before: `values`. After: `instructions`.

Float to integer saturates. Source: LLVM Language Reference, "Conversion Operations"; C++14 [conv].
"""

from __future__ import annotations

from numba_metal.codegen.addresses import pointer
from numba_metal.codegen.expressions import Expr, binary, call, conditional, convert, int_literal, int_type, reinterpret
from numba_metal.codegen.int_instructions import wrap
from numba_metal.codegen.ir_types import FloatType, Instr, IntType, Local, PointerType
from numba_metal.codegen.values import CannotPrint, Values


def extend_sign(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    bits = values.int_bits(instr.type)
    target = int_type(bits, signed=True)
    if operand.type == IntType(1):
        return conditional(values.expr(operand), int_literal(-1, target), int_literal(0, target), target)
    result = convert(values.signed(operand), target)
    return result if bits in (8, 16, 32, 64) else wrap(convert(result, int_type(bits, False)), bits)


def extend_zero(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    bits = values.int_bits(instr.type)
    target = int_type(bits, signed=True)
    if operand.type == IntType(1):
        return convert(values.expr(operand), target)
    expr = values.expr(operand)
    if "nneg" in instr.flags and values.int_bits(operand.type) in (8, 16, 32):
        return convert(expr, target)
    # Fits: the value has fewer bits than the signed target.
    return convert(values.unsigned(operand), target)


def truncate(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    bits = values.int_bits(instr.type)
    expr = values.expr(operand)
    if bits == 1:
        low = binary("&", expr, int_literal(1, expr.type), expr.type)
        return binary("!=", low, int_literal(0, expr.type), "bool")
    result = convert(expr, int_type(bits, expr.is_signed))
    return result if bits in (8, 16, 32, 64) else wrap(convert(expr, int_type(bits, False)), bits)


def int_to_float(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    type_ = values.result_type(instr.type)
    if operand.type == IntType(1):
        one = Expr(f"{'-' if instr.opcode[0] == 's' else ''}1.0{'h' if type_ == 'half' else 'f'}", type_, 15)
        zero = Expr("0.0h" if type_ == "half" else "0.0f", type_)
        return conditional(values.expr(operand), one, zero, type_)
    if "nneg" in instr.flags:
        return convert(values.expr(operand), type_)
    return convert(values.signed(operand) if instr.opcode[0] == "s" else values.unsigned(operand), type_)


def saturate_float(values: Values, instr: Instr) -> Expr:
    """`llvm.fpto{s,u}i.sat`: the nearest integer, 0 for NaN."""
    bits = values.int_bits(instr.type)
    if bits not in (8, 16, 32, 64):
        raise CannotPrint(f"the saturating conversion to {bits}-bit integers")
    type_ = int_type(bits, signed="fptosi" in instr.detail)
    values.check_type(instr.operands[0].type)
    helper = values.helper(f"float_to_{type_}")
    return call(helper, convert(values.expr(instr.operands[0]), "float"), type_=type_)


def float_to_int(values: Values, instr: Instr) -> Expr:
    bits = values.int_bits(instr.type)
    signed = instr.opcode == "fptosi"
    wide = int_type(max(bits, 32), signed)
    values.check_type(instr.operands[0].type)
    helper = values.helper(f"float_to_{wide}")
    result = call(helper, convert(values.expr(instr.operands[0]), "float"), type_=wide)
    if bits >= 32:
        return result
    if bits == 1:
        return binary("!=", result, int_literal(0, wide), "bool")
    return (
        wrap(convert(result, int_type(bits, signed)), bits)
        if bits not in (8, 16)
        else convert(result, int_type(bits, signed))
    )


def convert_float(values: Values, instr: Instr) -> Expr:
    if isinstance(instr.operands[0], Local) and instr.type == FloatType("double"):
        values.check_type(instr.type)
    return convert(values.expr(instr.operands[0]), values.result_type(instr.type))


def print_bitcast(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    widened = values.selection.definitions.get(operand.name) if isinstance(operand, Local) else None
    if widened is not None and widened.opcode == "fpext" and widened.type == FloatType("double"):
        # The number that an exception carries travels as the pattern of a double.
        narrow = convert(values.expr(widened.operands[0]), "float")
        return call(values.helper("double_bits"), narrow, type_="ulong")
    if isinstance(instr.type, PointerType):
        return values.expr(operand)
    expr = values.expr(operand)
    type_ = values.result_type(instr.type, signed=expr.is_signed)
    if expr.bits and not isinstance(instr.type, IntType):
        expr = values.unsigned(operand)
    return reinterpret(expr, type_)


def pointer_to_int(values: Values, instr: Instr) -> Expr:
    target = pointer(values, instr.operands[0])
    return convert(Expr(f"(ulong){target.within(15)}", "ulong", 15), int_type(values.int_bits(instr.type), False))


def int_to_pointer(values: Values, instr: Instr) -> Expr:
    type_ = values.types.of_pointer(instr.result)
    return Expr(f"({type_}){values.unsigned(instr.operands[0]).within(15)}", type_, 15)
