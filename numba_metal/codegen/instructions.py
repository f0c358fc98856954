"""LLVM instructions as C++ expressions, without undefined behaviour. Before: `values`. After: `print_kernel`.

Wrapping arithmetic is done in unsigned types; signed arithmetic is printed only where LLVM has proved that it cannot
wrap (nuw and nsw; Numba marks every signed operation nsw, proved or not). Shifts by a variable are masked, division by
zero and MIN / -1 are guarded, float to integer saturates.
Source: LLVM Language Reference; C++14 [expr]; MSL specification 2.1, 3.
"""

from __future__ import annotations

from collections.abc import Callable

from numba_metal.codegen.addresses import load, pointer
from numba_metal.codegen.calls import print_call
from numba_metal.codegen.expressions import (
    Expr,
    binary,
    call,
    conditional,
    container_bits,
    convert,
    int_literal,
    int_type,
    logical_not,
    reinterpret,
    unary,
)
from numba_metal.codegen.infer_types import PROVED
from numba_metal.codegen.ir_types import (
    ConstFloat,
    ConstInt,
    FloatType,
    Instr,
    IntType,
    Local,
    PointerType,
    Value,
    VectorType,
    Zero,
)
from numba_metal.codegen.values import CannotPrint, Values
from numba_metal.codegen.wide_integers import is_wide, print_wide

_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*"}
_BITWISE = {"and": "&", "or": "|", "xor": "^"}
_FLOAT = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/"}
_RELATIONS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_OPPOSITE = {"gt": "<=", "ge": "<", "lt": ">=", "le": ">"}


def print_instr(values: Values, instr: Instr) -> Expr:
    """The result of an instruction as an expression. Raises CannotPrint."""
    if is_wide(instr) or (instr.opcode == "trunc" and is_wide(instr.operands[0])):
        return print_wide(values, instr)
    printer = _PRINTERS.get(instr.opcode)
    if printer is None or any(isinstance(v.type, VectorType) for v in instr.operands):
        raise CannotPrint(f"the LLVM instruction '{instr.opcode}'")
    return printer(values, instr)


# -- integers


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


def _arithmetic(values: Values, instr: Instr) -> Expr:
    left, right = instr.operands
    bits = values.int_bits(instr.type)
    operator = _ARITHMETIC[instr.opcode]
    if bits == 1:
        if operator == "*":
            return binary("&&", values.expr(left), values.expr(right), "bool")
        return binary("!=", values.expr(left), values.expr(right), "bool")
    if isinstance(right, ConstInt) and right.value < 0 and operator == "+" and right.value != -(1 << (bits - 1)):
        operator, right = "-", ConstInt(-right.value, right.type)
    if PROVED <= instr.flags and bits in (32, 64) and _has_signed_operand(values, left, right):
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


def _bitwise(values: Values, instr: Instr) -> Expr:
    left, right = instr.operands
    operator = _BITWISE[instr.opcode]
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


def _shift(values: Values, instr: Instr) -> Expr:
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


def _divide(values: Values, instr: Instr) -> Expr:
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


def _compare_ints(values: Values, instr: Instr) -> Expr:
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
        return binary(_RELATIONS[predicate], a, b, "bool")
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
    expr = binary(_RELATIONS[predicate], left, right, "bool")
    return Expr(expr.text, "bool", expr.precedence, expr.operator, can_turn=True)


def _compare_pointers(values: Values, predicate: str, left: Value, right: Value) -> Expr:
    if isinstance(right, Zero) and predicate in ("eq", "ne"):
        return binary(_RELATIONS[predicate], pointer(values, left), Expr("nullptr", "nullptr_t"), "bool")
    a, b = (Expr(f"(ulong){pointer(values, v).within(15)}", "ulong", 15) for v in (left, right))
    return binary(_RELATIONS[predicate[-2:]], a, b, "bool")


# -- floats


def _float_arithmetic(values: Values, instr: Instr) -> Expr:
    type_ = values.result_type(instr.type)
    left, right = instr.operands
    return binary(_FLOAT[instr.opcode], values.expr(left), values.expr(right), type_)


def _float_remainder(values: Values, instr: Instr) -> Expr:
    type_ = values.result_type(instr.type)
    a, b = (convert(values.expr(operand), "float") for operand in instr.operands)
    return convert(call("fmod", a, b, type_="float"), type_)


def _negate(values: Values, instr: Instr) -> Expr:
    return unary("-", values.expr(instr.operands[0]), values.result_type(instr.type))


def _compare_floats(values: Values, instr: Instr) -> Expr:
    left, right = instr.operands
    predicate = instr.detail
    a, b = values.expr(left), values.expr(right)
    if predicate in ("true", "false"):
        return Expr(predicate, "bool")
    if predicate in ("ord", "uno"):
        tests = [call("isnan", e, type_="bool") for e, v in ((a, left), (b, right)) if not isinstance(v, ConstFloat)]
        tests = list(dict.fromkeys(tests)) or [Expr("false", "bool")]
        unordered = tests[0] if len(tests) == 1 else binary("||", tests[0], tests[1], "bool")
        return unordered if predicate == "uno" else logical_not(unordered)
    kind, relation = predicate[0], predicate[1:]
    if predicate in ("oeq", "une"):
        return binary(_RELATIONS[relation], a, b, "bool")
    if predicate in ("one", "ueq"):
        ordered_unequal = binary("||", binary("<", a, b, "bool"), binary(">", a, b, "bool"), "bool")
        return ordered_unequal if kind == "o" else logical_not(ordered_unequal)
    if kind == "o" or "nnan" in instr.flags or "fast" in instr.flags:
        return binary(_RELATIONS[relation], a, b, "bool")
    return logical_not(binary(_OPPOSITE[relation], a, b, "bool"))


# -- conversions


def _extend_sign(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    bits = values.int_bits(instr.type)
    target = int_type(bits, signed=True)
    if operand.type == IntType(1):
        return conditional(values.expr(operand), int_literal(-1, target), int_literal(0, target), target)
    result = convert(values.signed(operand), target)
    return result if bits in (8, 16, 32, 64) else wrap(convert(result, int_type(bits, False)), bits)


def _extend_zero(values: Values, instr: Instr) -> Expr:
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


def _truncate(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    bits = values.int_bits(instr.type)
    expr = values.expr(operand)
    if bits == 1:
        low = binary("&", expr, int_literal(1, expr.type), expr.type)
        return binary("!=", low, int_literal(0, expr.type), "bool")
    result = convert(expr, int_type(bits, expr.is_signed))
    return result if bits in (8, 16, 32, 64) else wrap(convert(expr, int_type(bits, False)), bits)


def _int_to_float(values: Values, instr: Instr) -> Expr:
    operand = instr.operands[0]
    type_ = values.result_type(instr.type)
    if operand.type == IntType(1):
        one = Expr(f"{'-' if instr.opcode[0] == 's' else ''}1.0{'h' if type_ == 'half' else 'f'}", type_, 15)
        zero = Expr("0.0h" if type_ == "half" else "0.0f", type_)
        return conditional(values.expr(operand), one, zero, type_)
    if "nneg" in instr.flags:
        return convert(values.expr(operand), type_)
    return convert(values.signed(operand) if instr.opcode[0] == "s" else values.unsigned(operand), type_)


def _float_to_int(values: Values, instr: Instr) -> Expr:
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


def _convert_float(values: Values, instr: Instr) -> Expr:
    if isinstance(instr.operands[0], Local) and instr.type == FloatType("double"):
        values.check_type(instr.type)
    return convert(values.expr(instr.operands[0]), values.result_type(instr.type))


def _bitcast(values: Values, instr: Instr) -> Expr:
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


def _pointer_to_int(values: Values, instr: Instr) -> Expr:
    target = pointer(values, instr.operands[0])
    return convert(Expr(f"(ulong){target.within(15)}", "ulong", 15), int_type(values.int_bits(instr.type), False))


def _int_to_pointer(values: Values, instr: Instr) -> Expr:
    type_ = values.types.of_pointer(instr.result)
    return Expr(f"({type_}){values.unsigned(instr.operands[0]).within(15)}", type_, 15)


# -- the rest


def _select(values: Values, instr: Instr) -> Expr:
    test, then, orelse = instr.operands
    condition = values.expr(test)
    if instr.type == IntType(1):
        if isinstance(then, ConstInt):
            other = values.expr(orelse)
            if then.value:
                return binary("||", condition, other, "bool")
            return binary("&&", logical_not(condition), other, "bool")
        if isinstance(orelse, ConstInt):
            other = values.expr(then)
            if orelse.value:
                return binary("||", logical_not(condition), other, "bool")
            return binary("&&", condition, other, "bool")
        return conditional(condition, values.expr(then), values.expr(orelse), "bool")
    if isinstance(instr.type, PointerType):
        type_ = values.types.of_pointer(instr.result)
        return conditional(condition, pointer(values, then), pointer(values, orelse), type_)
    if isinstance(instr.type, IntType):
        a, b = values.natural(then, orelse)
        return conditional(condition, a, b, a.type)
    return conditional(condition, values.expr(then), values.expr(orelse), values.result_type(instr.type))


def _freeze(values: Values, instr: Instr) -> Expr:
    return values.expr(instr.operands[0])


def _extract(values: Values, instr: Instr) -> Expr:
    """Of a compare-and-swap: the old value, or whether it was the expected one."""
    source = instr.operands[0]
    if not isinstance(source, Local) or source.name not in values.selection.definitions:
        raise CannotPrint("a struct as a value")
    definition = values.selection.definitions[source.name]
    if definition.opcode == "cmpxchg":
        old = Expr(values.variables.name(source.name), values.types.of_variable(source.name))
        if instr.indices == (0,):
            return old
        return binary("==", old, values.as_type(definition.operands[1], old.type), "bool")
    if definition.opcode == "call" and ".with.overflow." in definition.detail:
        return print_call(values, definition, instr.indices[0])
    raise CannotPrint("a struct as a value")


def _print_load(values: Values, instr: Instr) -> Expr:
    return load(values, instr)


def _print_pointer(values: Values, instr: Instr) -> Expr:
    return pointer(values, instr.result)


def _print_plain_call(values: Values, instr: Instr) -> Expr:
    return print_call(values, instr)


_PRINTERS: dict[str, Callable[[Values, Instr], Expr]] = {
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    **dict.fromkeys(_BITWISE, _bitwise),
    **dict.fromkeys(_FLOAT, _float_arithmetic),
    **dict.fromkeys(("shl", "lshr", "ashr"), _shift),
    **dict.fromkeys(("sdiv", "udiv", "srem", "urem"), _divide),
    "frem": _float_remainder,
    "fneg": _negate,
    "icmp": _compare_ints,
    "fcmp": _compare_floats,
    "sext": _extend_sign,
    "zext": _extend_zero,
    "trunc": _truncate,
    **dict.fromkeys(("sitofp", "uitofp"), _int_to_float),
    **dict.fromkeys(("fptosi", "fptoui"), _float_to_int),
    **dict.fromkeys(("fpext", "fptrunc"), _convert_float),
    "bitcast": _bitcast,
    **dict.fromkeys(("ptrtoint", "ptrtoaddr"), _pointer_to_int),
    "inttoptr": _int_to_pointer,
    "select": _select,
    "freeze": _freeze,
    "extractvalue": _extract,
    "load": _print_load,
    "getelementptr": _print_pointer,
    "addrspacecast": _print_pointer,
    "alloca": _print_pointer,
    "call": _print_plain_call,
}
