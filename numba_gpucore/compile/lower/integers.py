"""Integer operations of which C leaves some results open: overflow, division, shifts, and conversion from floats.

Before: Numba's typing. After: device IR that means the same on every device. Numba's own lowering gives LLVM's poison,
or a trap, for sums and products of signed numbers that overflow, MIN // -1, counts that are not below the width, and
floats out of range. Here sums, products and MIN // -1 wrap and counts shift everything out, as in NumPy; floats out of
range give the nearest integer and NaN gives 0, as on GPUs and, for 64 bits, in NumPy on arm64 (NumPy on x86-64 gives
MIN). What is divided by 0 gives 0 under NumPy's error model.

Registered for int64 and uint64, the operand types of Numba's typing, which are more specific than Numba's own.
"""

from __future__ import annotations

import itertools
import operator

from llvmlite import ir

from numba_gpucore.compile.lower.float_math import FLOATS, call_llvm
from numba_gpucore.compile.lower.registry import lower, lower_cast
from numba_gpucore.compile.numba_api import cgutils, types

WORDS = (types.int64, types.uint64)
ARITHMETIC = {
    operator.add: "add",
    operator.iadd: "add",
    operator.sub: "sub",
    operator.isub: "sub",
    operator.mul: "mul",
    operator.imul: "mul",
}


def wrapping(instruction: str):
    """Lowering by LLVM's instruction without "nsw", with which Numba tells LLVM that signed numbers never overflow."""

    def lower_wrapping(context, builder, sig, args):
        x, y = (context.cast(builder, *cast, sig.return_type) for cast in zip(args, sig.args, strict=True))
        return getattr(builder, instruction)(x, y)

    return lower_wrapping


def floor_divmod(builder, signed: bool, x, y):
    """(x // y, x % y) with Python's signs; (0, 0) for y == 0."""
    type_ = x.type
    zero, one = type_(0), type_(1)
    is_zero = builder.icmp_unsigned("==", y, zero)
    if not signed:
        divisor = builder.select(is_zero, one, y)
        return builder.select(is_zero, zero, builder.udiv(x, divisor)), builder.urem(x, divisor)
    # Division by 1 instead, whose remainder is that of -1 and what is to be given for 0.
    is_minus_one = builder.icmp_signed("==", y, type_(-1))
    divisor = builder.select(builder.or_(is_zero, is_minus_one), one, y)
    quotient, remainder = builder.sdiv(x, divisor), builder.srem(x, divisor)
    is_inexact = builder.icmp_signed("!=", remainder, zero)
    signs_differ = builder.icmp_signed("<", builder.xor(remainder, divisor), zero)
    is_above = builder.and_(is_inexact, signs_differ)
    quotient = builder.select(is_above, builder.sub(quotient, one), quotient)
    remainder = builder.select(is_above, builder.add(remainder, divisor), remainder)
    quotient = builder.select(is_minus_one, builder.sub(zero, x), quotient)
    return builder.select(is_zero, zero, quotient), remainder


def _divide(context, builder, sig, args, what: str):
    """floor_divmod of the arguments. Throws ZeroDivisionError under Python's error model."""
    result_type = sig.return_type.dtype if isinstance(sig.return_type, types.UniTuple) else sig.return_type
    x, y = (context.cast(builder, *cast, result_type) for cast in zip(args, sig.args, strict=True))
    if context.error_model.raise_on_fp_zero_division:
        with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", y, y.type(0))):
            context.error_model.fp_zero_division(builder, (f"integer {what} by zero",))
    return floor_divmod(builder, result_type.signed, x, y)


def lower_floor_divide(context, builder, sig, args):
    return _divide(context, builder, sig, args, "division")[0]


def lower_modulo(context, builder, sig, args):
    return _divide(context, builder, sig, args, "modulo")[1]


def lower_truncated_modulo(context, builder, sig, args):
    """The remainder with the sign of x, as in C; 0 for y == 0, as in NumPy."""
    x, y = args
    zero, one = x.type(0), x.type(1)
    # Neither 0 nor -1, whose division of MIN overflows: the remainder of 1 is that of both.
    is_trivial = builder.icmp_unsigned("==", y, zero)
    if not sig.return_type.signed:
        return builder.urem(x, builder.select(is_trivial, one, y))
    is_trivial = builder.or_(is_trivial, builder.icmp_signed("==", y, x.type(-1)))
    return builder.srem(x, builder.select(is_trivial, one, y))


def lower_divmod(context, builder, sig, args):
    return cgutils.pack_array(builder, _divide(context, builder, sig, args, "divmod"))


def _limit_count(context, builder, sig, args):
    """(value, count of at most width - 1, whether the count was larger). A negative one counts as large."""
    value = context.cast(builder, args[0], sig.args[0], sig.return_type)
    count = args[1]
    last = count.type(value.type.width - 1)
    # The count of the shift itself is limited too, or LLVM 22 gives NVPTX a plain shift, which looks at 32 bits only
    # of the count; a count of 2**32 would shift by 0.
    limited = call_llvm(builder, "llvm.umin", count, last)
    return value, context.cast(builder, limited, sig.args[1], sig.return_type), builder.icmp_unsigned(">", count, last)


def lower_left_shift(context, builder, sig, args):
    value, count, is_beyond = _limit_count(context, builder, sig, args)
    return builder.select(is_beyond, value.type(0), builder.shl(value, count))


def lower_right_shift(context, builder, sig, args):
    value, count, is_beyond = _limit_count(context, builder, sig, args)
    if sig.return_type.signed:
        # by width - 1, what is left are copies of the sign
        return builder.ashr(value, count)
    return builder.select(is_beyond, value.type(0), builder.lshr(value, count))


def lower_float_to_integer(context, builder, _from_type, to_type, value):
    int_type = context.get_value_type(to_type)
    name = "llvm.fptosi.sat" if to_type.signed else "llvm.fptoui.sat"
    function_type = ir.FunctionType(int_type, [value.type])
    return builder.call(builder.module.declare_intrinsic(name, [int_type, value.type], function_type), [value])


_DIVISIONS = {
    operator.floordiv: lower_floor_divide,
    operator.ifloordiv: lower_floor_divide,
    operator.mod: lower_modulo,
    operator.imod: lower_modulo,
    divmod: lower_divmod,
}
_SHIFTS = {
    operator.lshift: lower_left_shift,
    operator.ilshift: lower_left_shift,
    operator.rshift: lower_right_shift,
    operator.irshift: lower_right_shift,
}
for _function, _instruction in ARITHMETIC.items():
    lower(_function, types.int64, types.int64)(wrapping(_instruction))
for _function, _implementation in _DIVISIONS.items():
    for _pair in itertools.product(WORDS, repeat=2):
        lower(_function, *_pair)(_implementation)
for _function, _implementation in _SHIFTS.items():
    for _count in WORDS:
        lower(_function, types.Integer, _count)(_implementation)
for _float in FLOATS:
    lower_cast(_float, types.Integer)(lower_float_to_integer)
