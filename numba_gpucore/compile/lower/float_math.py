"""Functions of reals as device IR, in one place for operators, `math` and ufuncs. After: math, division, ufuncs.

Each takes and returns LLVM values of one float type. Transcendental functions are calls to `gpu.math.*`; the others are
LLVM intrinsics that every code generator takes, or made of bits.
"""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.numba_api import types

I32 = ir.IntType(32)
#: Numba's types of what these functions take.
FLOATS = (types.float16, types.float32, types.float64)


@dataclass(frozen=True)
class FloatLayout:
    """IEEE 754 binary format: `suffix` names it in intrinsics, `bias` is that of the exponent."""

    suffix: str
    width: int
    mantissa_bits: int
    bias: int

    @property
    def int_type(self) -> ir.IntType:
        return ir.IntType(self.width)

    @property
    def exponent_mask(self) -> int:
        return 2 * self.bias + 1


_LAYOUTS = {
    ir.HalfType: FloatLayout("f16", 16, 10, 15),
    ir.FloatType: FloatLayout("f32", 32, 23, 127),
    ir.DoubleType: FloatLayout("f64", 64, 52, 1023),
}


def layout_of(type_: ir.Type) -> FloatLayout:
    return _LAYOUTS[type(type_)]


def call_math(builder, name: str, *args):
    """`gpu.math.<name>` for the type of the arguments."""
    return call_intrinsic(builder, f"gpu.math.{name}.{layout_of(args[0].type).suffix}", *args)


def call_llvm(builder, name: str, *args):
    """An LLVM intrinsic that is overloaded on the type of its first argument and takes only such arguments."""
    type_ = args[0].type
    function_type = ir.FunctionType(type_, [type_] * len(args))
    return builder.call(builder.module.declare_intrinsic(name, [type_], function_type), args)


#: Functions that LLVM has, by the name C gives them.
LLVM_NAMES = {
    "fabs": "llvm.fabs",
    "sqrt": "llvm.sqrt",
    "floor": "llvm.floor",
    "ceil": "llvm.ceil",
    "trunc": "llvm.trunc",
    "rint": "llvm.roundeven",
    "copysign": "llvm.copysign",
    "fma": "llvm.fma",
}


def call_real(builder, name: str, *args):
    """The function of reals that C calls `name`."""
    is_half_fma = name == "fma" and isinstance(args[0].type, ir.HalfType)
    llvm_name = None if is_half_fma else LLVM_NAMES.get(name)
    return call_llvm(builder, llvm_name, *args) if llvm_name else call_math(builder, name, *args)


# -- what kind of number


def is_nan(builder, value):
    return builder.fcmp_unordered("uno", value, value)


def is_infinite(builder, value):
    return builder.fcmp_ordered("==", call_llvm(builder, "llvm.fabs", value), value.type(float("inf")))


def is_finite(builder, value):
    return builder.fcmp_ordered("<", call_llvm(builder, "llvm.fabs", value), value.type(float("inf")))


# -- taken apart and put together


def modf(builder, value):
    """(fraction, whole), both with the sign of `value`; infinity has the fraction 0."""
    whole = call_llvm(builder, "llvm.trunc", value)
    fraction = builder.select(is_infinite(builder, value), value.type(0.0), builder.fsub(value, whole))
    return call_llvm(builder, "llvm.copysign", fraction, value), whole


def frexp(builder, value):
    """(m, e) with value == m * 2**e and 0.5 <= abs(m) < 1, e as i32; zero, infinity and NaN give (value, 0)."""
    layout = layout_of(value.type)
    int_type = layout.int_type
    lift = layout.mantissa_bits + 2
    # Subnormal numbers have no exponent of their own: they are lifted into the normal range first.
    is_subnormal = builder.icmp_unsigned("==", _exponent_field(builder, value), int_type(0))
    lifted = builder.select(is_subnormal, builder.fmul(value, value.type(2.0**lift)), value)
    field = builder.trunc(_exponent_field(builder, lifted), I32) if layout.width > 32 else _widen(builder, lifted)
    offset = builder.select(is_subnormal, I32(layout.bias - 1 + lift), I32(layout.bias - 1))
    bits = builder.bitcast(lifted, int_type)
    kept = int_type(~(layout.exponent_mask << layout.mantissa_bits) & (2**layout.width - 1))
    half = int_type((layout.bias - 1) << layout.mantissa_bits)
    mantissa = builder.bitcast(builder.or_(builder.and_(bits, kept), half), value.type)
    is_plain = builder.and_(is_finite(builder, value), builder.fcmp_unordered("!=", value, value.type(0.0)))
    return (
        builder.select(is_plain, mantissa, value),
        builder.select(is_plain, builder.sub(field, offset), I32(0)),
    )


def _exponent_field(builder, value):
    layout = layout_of(value.type)
    bits = builder.bitcast(value, layout.int_type)
    shifted = builder.lshr(bits, layout.int_type(layout.mantissa_bits))
    return builder.and_(shifted, layout.int_type(layout.exponent_mask))


def _widen(builder, value):
    field = _exponent_field(builder, value)
    return field if field.type.width == 32 else builder.zext(field, I32)


def ldexp(builder, value, exponent):
    """value * 2**exponent for an i32 exponent, rounded once."""
    layout = layout_of(value.type)
    # Two factors reach every finite result from every finite value, up or down. Going down, the first factors keep
    # numbers normal (2**mantissa_bits above the smallest one), so that only the last one rounds.
    up, down = layout.bias, 1 - layout.bias + layout.mantissa_bits + 1
    for _ in range(2):
        is_high = builder.icmp_signed(">", exponent, I32(up))
        is_low = builder.icmp_signed("<", exponent, I32(1 - layout.bias))
        step = builder.select(is_high, I32(up), builder.select(is_low, I32(down), I32(0)))
        value = builder.fmul(value, _power_of_two(builder, value.type, step))
        exponent = builder.sub(exponent, step)
    exponent = builder.select(builder.icmp_signed(">", exponent, I32(up)), I32(up), exponent)
    exponent = builder.select(builder.icmp_signed("<", exponent, I32(1 - layout.bias)), I32(1 - layout.bias), exponent)
    return builder.fmul(value, _power_of_two(builder, value.type, exponent))


def _power_of_two(builder, type_, exponent):
    """2**exponent for an i32 exponent within the normal range of `type_`."""
    layout = layout_of(type_)
    field = builder.add(exponent, I32(layout.bias))
    if layout.width > 32:
        field = builder.zext(field, layout.int_type)
    elif layout.width < 32:
        field = builder.trunc(field, layout.int_type)
    return builder.bitcast(builder.shl(field, layout.int_type(layout.mantissa_bits)), type_)


# -- Python's division


def floor_divmod(builder, x, y):
    """(x // y, x % y) as Python has them: the remainder has the sign of y, -0.0 and 0.0 included. y must not be zero,
    else infinity or NaN, and NaN. The order of roundings is CPython's (floatobject.c, _float_div_mod), which decides
    what an infinite y gives."""
    zero, one = x.type(0.0), x.type(1.0)
    remainder = call_math(builder, "fmod", x, y)
    quotient = builder.fdiv(builder.fsub(x, remainder), y)
    signs_differ = builder.xor(
        builder.fcmp_ordered("<", remainder, zero),
        builder.fcmp_ordered("<", y, zero),
    )
    is_inexact = builder.fcmp_unordered("!=", remainder, zero)
    is_above = builder.and_(is_inexact, signs_differ)
    quotient = builder.select(is_above, builder.fsub(quotient, one), quotient)
    moved = builder.select(is_above, builder.fadd(remainder, y), remainder)
    remainder = builder.select(is_inexact, moved, call_llvm(builder, "llvm.copysign", zero, y))
    return _floor_quotient(builder, x, y, quotient), remainder


def _floor_quotient(builder, x, y, quotient):
    """The whole number nearest to `quotient`, which is one but for rounding."""
    floored = call_llvm(builder, "llvm.floor", quotient)
    is_short = builder.fcmp_ordered(">", builder.fsub(quotient, floored), x.type(0.5))
    nearest = builder.select(is_short, builder.fadd(floored, x.type(1.0)), floored)
    ratio = builder.fdiv(x, y)
    signed_zero = call_llvm(builder, "llvm.copysign", x.type(0.0), ratio)
    result = builder.select(builder.fcmp_ordered("==", quotient, x.type(0.0)), signed_zero, nearest)
    return builder.select(builder.fcmp_ordered("==", y, x.type(0.0)), ratio, result)
