"""Lowering of what the lanes of a warp tell each other. Values travel as 32 or 64 bits."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore import language
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.lower.synchronisation import as_i32, predicate_as_i32
from numba_gpucore.compile.numba_api import cgutils, types

I32, I64 = ir.IntType(32), ir.IntType(64)
SHUFFLES = {
    language.shfl_sync: "idx",
    language.shfl_up_sync: "up",
    language.shfl_down_sync: "down",
    language.shfl_xor_sync: "xor",
}
VOTES = {language.all_sync: "all", language.any_sync: "any", language.eq_sync: "eq", language.ballot_sync: "ballot"}


def _to_bits(builder, type_, value):
    """The bits of a number or bool of up to 64 bits, as i32 or i64."""
    if isinstance(type_, types.Float):
        value = builder.bitcast(value, ir.IntType(type_.bitwidth))
    if value.type.width in (32, 64):
        return value
    return builder.zext(value, I32)


def _from_bits(context, builder, type_, bits):
    """The number whose bits `_to_bits` gave."""
    value_type = context.get_value_type(type_)
    width = type_.bitwidth if isinstance(type_, types.Float) else value_type.width
    if bits.type.width > width:
        bits = builder.trunc(bits, ir.IntType(width))
    return builder.bitcast(bits, value_type)


def _lower_shuffle(function, mode: str) -> None:
    @lower(function, types.Any, types.Any, types.Any)
    def implement(context, builder, sig, args):
        mask_type, value_type, position_type = sig.args
        mask, value, position = args
        bits = _to_bits(builder, value_type, value)
        result = call_intrinsic(
            builder,
            f"gpu.shuffle.{mode}.{bits.type}",
            as_i32(context, builder, mask_type, mask),
            bits,
            as_i32(context, builder, position_type, position),
        )
        return _from_bits(context, builder, value_type, result)


def _lower_vote(function, name: str) -> None:
    @lower(function, types.Any, types.Any)
    def implement(context, builder, sig, args):
        mask = as_i32(context, builder, sig.args[0], args[0])
        result = call_intrinsic(
            builder, f"gpu.vote.{name}", mask, predicate_as_i32(context, builder, sig.args[1], args[1])
        )
        return result if sig.return_type == types.uint32 else builder.icmp_unsigned("!=", result, I32(0))


for _function, _mode in SHUFFLES.items():
    _lower_shuffle(_function, _mode)
for _vote, _name in VOTES.items():
    _lower_vote(_vote, _name)


def _match(context, builder, name, sig, args):
    bits = _to_bits(builder, sig.args[1], args[1])
    return call_intrinsic(
        builder, f"gpu.match.{name}.{bits.type}", as_i32(context, builder, sig.args[0], args[0]), bits
    )


@lower(language.match_any_sync, types.Any, types.Any)
def lower_match_any(context, builder, sig, args):
    return _match(context, builder, "any", sig, args)


@lower(language.match_all_sync, types.Any, types.Any)
def lower_match_all(context, builder, sig, args):
    mask = _match(context, builder, "all", sig, args)
    return cgutils.pack_struct(builder, [mask, builder.icmp_unsigned("!=", mask, I32(0))])


@lower(language.activemask)
def lower_activemask(_context, builder, _sig, _args):
    return call_intrinsic(builder, "gpu.active_mask")


@lower(language.lanemask_lt)
def lower_lanemask_lt(_context, builder, _sig, _args):
    own_bit = builder.shl(I32(1), call_intrinsic(builder, "gpu.lane_id"))
    return builder.sub(own_bit, I32(1))
