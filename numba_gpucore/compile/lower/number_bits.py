"""Numbers as 64-bit patterns on the way to the host. Before: a throw or print. After: the mailbox, the ring."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore.base.site import NumberKind
from numba_gpucore.compile.numba_api import errors, types
from numba_gpucore.compile.typing.bfloat16 import BFloat16
from numba_gpucore.compile.weak_numbers import strengthen

I64 = ir.IntType(64)
_FLOAT_KINDS: dict[int, NumberKind] = {16: "float16", 32: "float32", 64: "float"}
#: What a number is, and its patterns.
Bits = tuple[NumberKind, list[ir.Value]]


def wide_bits(context, builder, value, type_) -> Bits:
    """The kind of a number and its patterns; floats as float64. Raises UnsupportedError for what is no number."""
    type_, value = _as_plain(context, builder, type_, value)
    if isinstance(type_, types.Float):
        return "float", [builder.bitcast(context.cast(builder, value, type_, types.float64), I64)]
    return _other_bits(context, builder, value, type_)


def narrow_bits(context, builder, value, type_) -> Bits:
    """The same with floats as they are, for texts: the host writes as few digits as the type needs."""
    type_, value = _as_plain(context, builder, type_, value)
    if isinstance(type_, types.Float):
        return _FLOAT_KINDS[type_.bitwidth], [_pattern(builder, value, type_)]
    return _other_bits(context, builder, value, type_)


def _pattern(builder, value, type_: types.Float) -> ir.Value:
    return to_i64(builder, builder.bitcast(value, ir.IntType(type_.bitwidth)), signed=False)


def _as_plain(context, builder, type_, value):
    """Weak numbers as what carries them, bfloat16 as float32."""
    if isinstance(type_, BFloat16):
        return types.float32, context.cast(builder, value, type_, types.float32)
    return strengthen(type_), value


def _other_bits(context, builder, value, type_) -> Bits:
    match type_:
        case types.Boolean():
            return "bool", [builder.zext(value, I64)]
        case types.Integer(signed=signed):
            return ("int" if signed else "uint"), [to_i64(builder, value, signed)]
        case types.Complex(underlying_float=part):
            number = context.make_complex(builder, type_, value)
            real, imag = (_pattern(builder, x, part) for x in (number.real, number.imag))
            if part.bitwidth == 64:
                return "complex", [real, imag]
            return "complex64", [builder.or_(real, builder.shl(imag, I64(32)))]
        case _:
            raise errors.UnsupportedError(
                f"an exception in a kernel can carry numbers and tuples of them, not a value of type {type_} — pass "
                "numbers, constants and f-strings, of a member of an enum its .value"
            )


def to_i64(builder, value, signed: bool):
    if value.type.width == 64:
        return value
    return builder.sext(value, I64) if signed else builder.zext(value, I64)
