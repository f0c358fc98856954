"""Calls: neutral intrinsics and the LLVM intrinsics that optimisation makes. Before: `values`. After: `instructions`.

Each is one line of a table, so that `tests/unit/test_msl_calls.py` can hold it against `compile.intrinsics`.
Source: MSL specification 5.2.3 (kernel inputs), 6.5 to 6.9 (integer, relational, math, synchronisation, SIMD-group
functions).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from numba_gpucore.compile.intrinsics import HALF_FMA, MATH_BINARY, MATH_UNARY, parse_shared_symbol
from numba_metal.codegen.addresses import pointer
from numba_metal.codegen.definitions import neutral_name
from numba_metal.codegen.expressions import (
    Expr,
    binary,
    call,
    convert,
    int_literal,
    int_type,
    logical_not,
)
from numba_metal.codegen.ir_types import ConstInt, Instr, IntType, Local, Value
from numba_metal.codegen.values import CannotPrint, Values

Printer = Callable[[Values, Instr], Expr]


def print_call(values: Values, instr: Instr, result_index: int | None = None) -> Expr:
    """The call's result. result_index: which one, of an LLVM intrinsic that returns a value and whether it wrapped."""
    name = instr.detail
    if result_index is not None:
        return _with_overflow(values, instr, result_index)
    if name.startswith("llvm."):
        return _llvm_call(values, instr)
    if parse_shared_symbol(neutral_name(name)):
        return pointer(values, instr.result)
    printer = NEUTRAL.get(neutral_name(name))
    if printer is None:
        raise CannotPrint(f"the function '{name}', which Metal does not have")
    return printer(values, instr)


# -- coordinates


def _coordinate(parameter: str, axis: str = "") -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        return Expr(f"{values.builtin(parameter)}{axis and '.' + axis}", "uint")

    return printer


def _dynamic_shared_nbytes(values: Values, instr: Instr) -> Expr:
    return convert(Expr(f"{values.builtin('launch')}.dynamic_shared_nbytes", "ulong"), "long")


#: The kernel parameter that each coordinate is read from.
_COORDINATES = {
    "thread_id": "tid",
    "block_id": "group",
    "block_dim": "group_size",
    "grid_dim": "grid_size",
    "global_id": "gid",
    "global_size": "grid_threads",
}


# -- synchronisation


def _statement(text: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        return Expr(text, "void")

    return printer


def _voting_barrier(name: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        helper = values.helper(name)
        index = values.builtin("thread_index")
        words = values.builtin("barrier_word")
        test = _predicate(values, instr.operands[0])
        return convert(Expr(f"{helper}({words}, {index}, {test.text})", "uint"), "int")

    return printer


def _fence(flags: str, scope: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        if not values.version.at_least(3, 2):
            raise CannotPrint(
                f"a memory fence, which Metal has from MSL 3.2 (this is {values.version})",
                "use syncthreads(), or macOS 15 or newer",
            )
        return Expr(f"atomic_thread_fence({flags}, memory_order_seq_cst, {scope})", "void")

    return printer


def _refuse(what: str, advice: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        raise CannotPrint(what, advice)

    return printer


def _throw(values: Values, instr: Instr) -> Expr:
    helper = values.helper("throw_site")
    parameters = [values.builtin(name) for name in ("mailbox", "launch", "group", "tid")]
    site, *numbers = instr.operands
    texts = [values.unsigned(site).text, *(values.unsigned(number).text for number in numbers)]
    mailbox, launch, group, tid = parameters
    return Expr(f"{helper}({mailbox}, {launch}.program, {group}, {tid}, {', '.join(texts)})", "void")


def _begin_print(values: Values, instr: Instr) -> Expr:
    helper = values.helper("begin_print")
    mailbox, launch = values.builtin("mailbox"), values.builtin("launch")
    line, words = (values.unsigned(operand).text for operand in instr.operands)
    return convert(Expr(f"{helper}({mailbox}, {launch}.program, {line}, {words})", "uint"), "int")


def _print(name: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        helper = values.helper(name)
        operands = ", ".join(values.unsigned(operand).text for operand in instr.operands)
        return Expr(f"{helper}({values.builtin('mailbox')}, {operands})", "void")

    return printer


# -- SIMD groups


def _shuffle(mode: str, bits: str) -> Printer:
    """MSL gives an undefined value when the source lane is outside the group; CUDA gives the own value."""

    def printer(values: Values, instr: Instr) -> Expr:
        _mask, value, lane = instr.operands
        type_ = "uint" if bits == "i32" else "ulong"
        helper = values.helper(f"shuffle_{mode}_{type_}")
        lane_parameter = values.builtin("lane")
        arguments = [values.as_type(value, type_), convert(values.signed(lane), "int"), Expr(lane_parameter, "uint")]
        return call(helper, *arguments, type_=type_)

    return printer


def _predicate(values: Values, value: Value) -> Expr:
    """Whether an integer is not 0; a comparison that was widened to one is printed as it was."""
    if isinstance(value, Local) and value.name in values.selection.inline:
        widened = values.selection.definitions[value.name]
        if widened.opcode == "zext" and widened.operands[0].type == IntType(1):
            return values.expr(widened.operands[0])
    number, zero = values.natural(value, ConstInt(0, IntType(32)))
    return binary("!=", number, zero, "bool")


def _vote(kind: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        mask, value = instr.operands
        test = _predicate(values, value)
        helper = values.helper("active_ballot")
        ballot = call(helper, test, type_="uint")
        lanes = values.unsigned(mask)
        if kind == "ballot":
            return convert(binary("&", ballot, lanes, "uint"), "int")
        if kind == "any":
            voted = binary("!=", binary("&", ballot, lanes, "uint"), int_literal(0, "uint"), "bool")
        else:
            denied = binary("&", call(helper, logical_not(test), type_="uint"), lanes, "uint")
            voted = binary("==", denied, int_literal(0, "uint"), "bool")
            if kind == "eq":
                eq_helper = values.helper("vote_equal")
                voted = call(eq_helper, test, lanes, type_="bool")
        return convert(voted, "int")

    return printer


def _match(kind: str, bits: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        mask, value = instr.operands
        type_ = "uint" if bits == "i32" else "ulong"
        helper = values.helper(f"match_{kind}_{type_}")
        return convert(call(helper, values.as_type(value, type_), values.unsigned(mask), type_="uint"), "int")

    return printer


def _active_mask(values: Values, instr: Instr) -> Expr:
    return convert(call(values.helper("active_ballot"), Expr("true", "bool"), type_="uint"), "int")


# -- math


#: Functions that MSL has in a precise and a fast form. Source: MSL specification 6.6, table of math functions.
_MSL_MATH = frozenset(
    "acos acosh asin asinh atan atan2 atanh cos cosh exp exp2 log log10 log2 pow sin sinh sqrt tan tanh".split()
)
#: Functions of MSL without such forms; the rest are ours, in `helpers`.
_MSL_PLAIN_MATH = frozenset(("fmod",))


def _math(name: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        type_ = values.result_type(instr.type)
        arguments = [convert(values.expr(operand), "float") for operand in instr.operands]
        if name in _MSL_MATH:
            function = f"{'fast' if values.is_fast else 'precise'}::{name}"
        elif name in _MSL_PLAIN_MATH:
            function = name
        elif name == "nextafter" and type_ == "half":
            function = values.helper("nextafter_half")
            arguments = [values.expr(operand) for operand in instr.operands]
            return call(function, *arguments, type_="half")
        else:
            function = values.helper(f"math_{name}")
        return convert(call(function, *arguments, type_="float"), type_)

    return printer


_SIZES = {"i32": "uint", "i64": "ulong"}

NEUTRAL: dict[str, Printer] = {
    **{
        f"gpu.{name}.{axis}": _coordinate(parameter, axis) for name, parameter in _COORDINATES.items() for axis in "xyz"
    },
    "gpu.lane_id": _coordinate("lane"),
    "gpu.warp_size": lambda values, instr: int_literal(32, "int"),
    # mem_device too: CUDA's barrier orders global memory among the block's threads, and programs rely on it.
    "gpu.barrier": _statement("threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)"),
    "gpu.barrier.count": _voting_barrier("barrier_count"),
    "gpu.barrier.and": _voting_barrier("barrier_and"),
    "gpu.barrier.or": _voting_barrier("barrier_or"),
    "gpu.barrier.grid": _refuse(
        "a barrier across the whole grid, which Metal does not have", "split the kernel in two at that place"
    ),
    "gpu.warp_barrier": _statement("simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)"),
    "gpu.fence.block": _fence("mem_flags::mem_device | mem_flags::mem_threadgroup", "thread_scope_threadgroup"),
    "gpu.fence.device": _fence("mem_flags::mem_device | mem_flags::mem_threadgroup", "thread_scope_device"),
    # The host reads only after a command buffer has completed, so nothing outside the device can watch.
    "gpu.fence.system": _fence("mem_flags::mem_device | mem_flags::mem_threadgroup", "thread_scope_device"),
    "gpu.nanosleep": _statement(""),
    **{f"gpu.shuffle.{mode}.{bits}": _shuffle(mode, bits) for mode in ("idx", "up", "down", "xor") for bits in _SIZES},
    **{f"gpu.vote.{kind}": _vote(kind) for kind in ("all", "any", "eq", "ballot")},
    **{f"gpu.match.{kind}.{bits}": _match(kind, bits) for kind in ("any", "all") for bits in _SIZES},
    "gpu.active_mask": _active_mask,
    "gpu.dynamic_shared": lambda values, instr: pointer(values, instr.result),
    "gpu.dynamic_shared_nbytes": _dynamic_shared_nbytes,
    "gpu.throw": _throw,
    "gpu.print.begin": _begin_print,
    "gpu.print.number": _print("print_number"),
    "gpu.print.end": _print("end_print"),
    **{
        f"gpu.math.{name}.{suffix}": _math(name)
        for name in (*MATH_UNARY, *MATH_BINARY)
        for suffix in ("f16", "f32", "f64")
    },
    HALF_FMA: lambda values, instr: call("fma", *map(values.expr, instr.operands), type_="half"),
}


# -- LLVM intrinsics


def _llvm_call(values: Values, instr: Instr) -> Expr:
    match = re.match(r"llvm\.([a-z.]+?)(?:\.(?:[ifp]\d+|bf16|v\d+\w+).*)?$", instr.detail)
    printer = _LLVM.get(match[1]) if match else None
    if printer is None:
        raise CannotPrint(f"the LLVM intrinsic '{instr.detail}'")
    return printer(values, instr)


def _float_function(name: str, *, precise: bool = False) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        type_ = values.result_type(instr.type)
        arguments = [values.expr(operand) for operand in instr.operands]
        if not precise or type_ != "float":
            return call(name, *arguments, type_=type_)
        return call(f"{'fast' if values.is_fast else 'precise'}::{name}", *arguments, type_=type_)

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
    return call("ldexp", values.expr(value), convert(values.signed(exponent), "int"), type_=type_)


def _first_operand(values: Values, instr: Instr) -> Expr:
    return values.expr(instr.operands[0])


def _with_overflow(values: Values, instr: Instr, index: int) -> Expr:
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
    "sqrt": _float_function("sqrt", precise=True),
    "ssub.sat": _int_function("subsat", signed=True),
    "trunc": _float_function("trunc"),
    "uadd.sat": _int_function("addsat", signed=False),
    "ucmp": _three_way(signed=False),
    "umax": _int_function("max", signed=False),
    "umin": _int_function("min", signed=False),
    "usub.sat": _int_function("subsat", signed=False),
}
