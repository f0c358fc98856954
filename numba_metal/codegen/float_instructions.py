"""Float arithmetic and comparisons as C++. Before: `values`. After: `instructions`.

Source: LLVM Language Reference, fcmp; C++14 [expr.rel]: every relation with a NaN but `!=` is false.
"""

from __future__ import annotations

from numba_metal.codegen.expressions import RELATIONS, Expr, binary, call, convert, logical_not, unary
from numba_metal.codegen.ir_types import ConstFloat, Instr
from numba_metal.codegen.values import Values

FLOAT_ARITHMETIC = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/"}
_OPPOSITE = {"gt": "<=", "ge": "<", "lt": ">=", "le": ">"}


def print_float_arithmetic(values: Values, instr: Instr) -> Expr:
    type_ = values.result_type(instr.type)
    left, right = instr.operands
    return binary(FLOAT_ARITHMETIC[instr.opcode], values.expr(left), values.expr(right), type_)


def print_float_remainder(values: Values, instr: Instr) -> Expr:
    type_ = values.result_type(instr.type)
    a, b = (convert(values.expr(operand), "float") for operand in instr.operands)
    return convert(call(values.float_function("fmod", "float"), a, b, type_="float"), type_)


def print_negation(values: Values, instr: Instr) -> Expr:
    return unary("-", values.expr(instr.operands[0]), values.result_type(instr.type))


def compare_floats(values: Values, instr: Instr) -> Expr:
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
        return binary(RELATIONS[relation], a, b, "bool")
    if predicate in ("one", "ueq"):
        ordered_unequal = binary("||", binary("<", a, b, "bool"), binary(">", a, b, "bool"), "bool")
        return ordered_unequal if kind == "o" else logical_not(ordered_unequal)
    if kind == "o" or "nnan" in instr.flags or "fast" in instr.flags:
        return binary(RELATIONS[relation], a, b, "bool")
    return logical_not(binary(_OPPOSITE[relation], a, b, "bool"))
