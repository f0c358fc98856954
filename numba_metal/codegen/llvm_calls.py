"""Calls of the LLVM intrinsics that lowering and optimisation make, as MSL. Before: `values`. After: `calls`.

Source: LLVM Language Reference, "Intrinsic Functions"; MSL specification 6.5 (integers), 6.6 (math), 6.7 (relational).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from numba_metal.codegen.conversions import saturate_float
from numba_metal.codegen.expressions import Expr, binary, call, convert, int_literal, int_type, logical_not
from numba_metal.codegen.ir_types import ConstInt, Instr
from numba_metal.codegen.values import CannotPrint, Values

Printer = Callable[[Values, Instr], Expr]


def print_llvm_call(values: Values, instr: Instr) -> Expr:
    match = re.match(r"llvm\.([a-z.]+?)(?:\.(?:[ifp]\d+|bf16|v\d+\w+).*)?$", instr.detail)
    printer = _LLVM.get(match[1]) if match else None
    if printer is None:
        raise CannotPrint(f"the LLVM intrinsic '{instr.detail}'")
    return printer(values, instr)


def _float_function(name: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        type_ = values.result_type(instr.type)
        arguments = [values.expr(operand) for operand in instr.operands]
        return call(values.float_function(name, type_), *arguments, type_=type_)

    return printer


def _int_function(name: str, signed: bool) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        bits = values.int_bits(instr.type)
        if bits not in (8, 16, 32, 64):
            raise CannotPrint(f"'{name}' of {bits}-bit integers")
        take = values.signed if signed else values.unsigned
        return call(name, *(take(operand) for operand in instr.operands), type_=int_type(bits, signed))

    return printer


def _bit_function(name: str) -> Printer:
    """A function of one integer. The flag of LLVM's ctlz and cttz is not needed: MSL's give the width for 0."""

    def printer(values: Values, instr: Instr) -> Expr:
        bits = values.int_bits(instr.type)
        if bits not in (8, 16, 32, 64):
            raise CannotPrint(f"'{name}' of {bits}-bit integers")
        operand = values.unsigned(instr.operands[0])
        return call(name, operand, type_=operand.type)

    return printer


def _absolute(values: Values, instr: Instr) -> Expr:
    operand = values.signed(instr.operands[0])
    wide = operand.type if operand.bits >= 32 else "int"
    helper = values.helper(f"absolute_{wide}")
    return convert(call(helper, convert(operand, wide), type_=wide), operand.type)


def _swap_bytes(values: Values, instr: Instr) -> Expr:
    operand = values.unsigned(instr.operands[0])
    return call(values.helper(f"swap_bytes_{operand.type}"), operand, type_=operand.type)


def _funnel_shift(direction: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        high, low, amount = (values.unsigned(operand) for operand in instr.operands)
        helper = values.helper(f"funnel_{direction}_{high.type}")
        return call(helper, high, low, amount, type_=high.type)

    return printer


def _three_way(signed: bool) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        take = values.signed if signed else values.unsigned
        a, b = (take(operand) for operand in instr.operands)
        target = int_type(values.int_bits(instr.type), signed=True)
        less, more = binary("<", a, b, "bool"), binary(">", a, b, "bool")
        difference = binary("-", convert(more, "int"), convert(less, "int"), "int")
        return convert(difference, target)

    return printer


def _multiply_add(values: Values, instr: Instr) -> Expr:
    a, b, c = (values.expr(operand) for operand in instr.operands)
    type_ = values.result_type(instr.type)
    if values.is_fast:
        return call("fma", a, b, c, type_=type_)
    return binary("+", binary("*", a, b, type_), c, type_)


def _ieee_minimum(name: str) -> Printer:
    """minimum and maximum give NaN if an operand is one, and -0 < +0; MSL's fmin and fmax do neither."""

    def printer(values: Values, instr: Instr) -> Expr:
        type_ = values.result_type(instr.type)
        arguments = (convert(values.expr(operand), "float") for operand in instr.operands)
        return convert(call(values.helper(f"ieee_{name}"), *arguments, type_="float"), type_)

    return printer


_NAN_CLASS, _INFINITE_CLASS = 0x003, 0x204


def _float_class(values: Values, instr: Instr) -> Expr:
    """`llvm.is.fpclass`: the tests that optimisation forms. Source: LLVM Language Reference, its bit mask."""
    operand, mask = instr.operands
    assert isinstance(mask, ConstInt)
    expr = values.expr(operand)
    tests = {_NAN_CLASS: "isnan", _INFINITE_CLASS: "isinf", 0x1F8: "isfinite"}
    wanted = mask.value & 0x3FF
    if wanted in tests:
        return call(tests[wanted], expr, type_="bool")
    if 0x3FF ^ wanted in tests:
        return logical_not(call(tests[0x3FF ^ wanted], expr, type_="bool"))
    classes = call(values.helper(f"class_of_{expr.type}"), expr, type_="uint")
    return binary("!=", binary("&", classes, int_literal(wanted, "uint"), "uint"), int_literal(0, "uint"), "bool")


def _scale_by_power(values: Values, instr: Instr) -> Expr:
    type_ = values.result_type(instr.type)
    value, exponent = instr.operands
    function = values.float_function("ldexp", type_)
    return call(function, values.expr(value), convert(values.signed(exponent), "int"), type_=type_)


def _first_operand(values: Values, instr: Instr) -> Expr:
    return values.expr(instr.operands[0])


def print_with_overflow(values: Values, instr: Instr, index: int) -> Expr:
    """`llvm.{s,u}{add,sub,mul}.with.overflow`: the wrapped result, or whether it wrapped."""
    kind = re.match(r"llvm\.([su])(add|sub|mul)\.with\.overflow", instr.detail)
    assert kind is not None
    bits = values.int_bits(instr.operands[0].type)
    if bits not in (32, 64):
        raise CannotPrint(f"overflow of {bits}-bit integers")
    operator = {"add": "+", "sub": "-", "mul": "*"}[kind[2]]
    a, b = (values.unsigned(operand) for operand in instr.operands)
    if index == 0:
        return binary(operator, a, b, a.type)
    type_ = int_type(bits, kind[1] == "s")
    helper = values.helper(f"wraps_{kind[2]}_{type_}")
    return call(helper, convert(a, type_), convert(b, type_), type_="bool")


_LLVM: dict[str, Printer] = {
    "abs": _absolute,
    "bitreverse": _bit_function("reverse_bits"),
    "bswap": _swap_bytes,
    "ceil": _float_function("ceil"),
    "copysign": _float_function("copysign"),
    "ctlz": _bit_function("clz"),
    "ctpop": _bit_function("popcount"),
    "cttz": _bit_function("ctz"),
    "expect": _first_operand,
    "fabs": _float_function("fabs"),
    "floor": _float_function("floor"),
    "fma": _float_function("fma"),
    "fmuladd": _multiply_add,
    "fptosi.sat": saturate_float,
    "fptoui.sat": saturate_float,
    "fshl": _funnel_shift("left"),
    "fshr": _funnel_shift("right"),
    "is.fpclass": _float_class,
    "ldexp": _scale_by_power,
    "maximum": _ieee_minimum("maximum"),
    "maximumnum": _float_function("fmax"),
    "maxnum": _float_function("fmax"),
    "minimum": _ieee_minimum("minimum"),
    "minimumnum": _float_function("fmin"),
    "minnum": _float_function("fmin"),
    "nearbyint": _float_function("rint"),
    "rint": _float_function("rint"),
    "round": _float_function("round"),
    "roundeven": _float_function("rint"),
    "sadd.sat": _int_function("addsat", signed=True),
    "scmp": _three_way(signed=True),
    "smax": _int_function("max", signed=True),
    "smin": _int_function("min", signed=True),
    "sqrt": _float_function("sqrt"),
    "ssub.sat": _int_function("subsat", signed=True),
    "trunc": _float_function("trunc"),
    "uadd.sat": _int_function("addsat", signed=False),
    "ucmp": _three_way(signed=False),
    "umax": _int_function("max", signed=False),
    "umin": _int_function("min", signed=False),
    "usub.sat": _int_function("subsat", signed=False),
}
