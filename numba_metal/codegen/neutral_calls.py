"""Calls of neutral intrinsics as MSL: barriers, SIMD groups, exceptions, math. Before: `values`. After: `calls`.

Each is one line of a table, so that `tests/unit/test_msl_instructions.py` can hold it against `compile.intrinsics`.
Source: MSL specification 5.2.3 (kernel inputs), 6.6 (math), 6.9 (synchronisation, SIMD-group functions).
"""

from __future__ import annotations

from collections.abc import Callable

from numba_gpucore.compile.intrinsics import HALF2_FMA, HALF_FMA, MATH_BINARY, MATH_UNARY, NARROW_BFLOAT, WIDEN_BFLOAT
from numba_metal.codegen.addresses import pointer
from numba_metal.codegen.expressions import Expr, binary, call, convert, int_literal, logical_not
from numba_metal.codegen.ir_types import ConstInt, FloatType, Instr, IntType, Local, Value
from numba_metal.codegen.values import CannotPrint, Values

Printer = Callable[[Values, Instr], Expr]


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
        if values.version < (3, 2):
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


#: Functions that MSL has; the rest are ours, in `helpers`. Source: MSL specification 6.6, table of math functions.
_MSL_MATH = frozenset(
    "acos acosh asin asinh atan atan2 atanh cos cosh exp exp2 fmod log log10 log2 pow sin sinh sqrt tan tanh".split()
)


def _math(name: str) -> Printer:
    def printer(values: Values, instr: Instr) -> Expr:
        type_ = values.result_type(instr.type)
        arguments = [convert(values.expr(operand), "float") for operand in instr.operands]
        if name in _MSL_MATH:
            function = values.float_function(name, "float")
        elif name == "nextafter" and type_ == "half":
            function = values.helper("nextafter_half")
            arguments = [values.expr(operand) for operand in instr.operands]
            return call(function, *arguments, type_="half")
        else:
            function = values.helper(f"math_{name}")
        return convert(call(function, *arguments, type_="float"), type_)

    return printer


def _narrow_bfloat(values: Values, instr: Instr) -> Expr:
    values.check_type(FloatType("bfloat"))
    return Expr(f"as_type<ushort>(bfloat({values.expr(instr.operands[0]).text}))", "ushort")


def _widen_bfloat(values: Values, instr: Instr) -> Expr:
    values.check_type(FloatType("bfloat"))
    return Expr(f"float(as_type<bfloat>({values.unsigned(instr.operands[0]).text}))", "float")


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
    "gpu.stack_is_spent": lambda values, instr: Expr("false", "bool"),  # Metal has no recursion
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
    NARROW_BFLOAT: _narrow_bfloat,
    WIDEN_BFLOAT: _widen_bfloat,
    HALF2_FMA: lambda values, instr: call("fma", *map(values.expr, instr.operands), type_="half2"),
}
