"""Lowering of barriers and fences."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore import language
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types

I32 = ir.IntType(32)
STATEMENTS = {
    language.syncthreads: "gpu.barrier",
    language.threadfence_block: "gpu.fence.block",
    language.threadfence: "gpu.fence.device",
    language.threadfence_system: "gpu.fence.system",
}
VOTING_BARRIERS = {
    language.syncthreads_count: "gpu.barrier.count",
    language.syncthreads_and: "gpu.barrier.and",
    language.syncthreads_or: "gpu.barrier.or",
}


def as_i32(context, builder, type_, value):
    """An integer or bool as 32 bits; of wider ones the low half."""
    return context.cast(builder, value, type_, types.uint32)


def predicate_as_i32(context, builder, type_, value):
    """1 where an integer or bool of any width is not zero, else 0."""
    return builder.zext(context.cast(builder, value, type_, types.boolean), I32)


def _lower_statement(function, intrinsic: str) -> None:
    @lower(function)
    def implement(context, builder, _sig, _args):
        call_intrinsic(builder, intrinsic)
        return context.get_dummy_value()


def _lower_voting_barrier(function, intrinsic: str) -> None:
    @lower(function, types.Any)
    def implement(context, builder, sig, args):
        return call_intrinsic(builder, intrinsic, predicate_as_i32(context, builder, sig.args[0], args[0]))


for _function, _intrinsic in STATEMENTS.items():
    _lower_statement(_function, _intrinsic)
for _barrier, _intrinsic in VOTING_BARRIERS.items():
    _lower_voting_barrier(_barrier, _intrinsic)


@lower(language.syncwarp)
def lower_syncwarp(context, builder, _sig, _args):
    call_intrinsic(builder, "gpu.warp_barrier", I32(language.FULL_MASK))
    return context.get_dummy_value()


@lower(language.syncwarp, types.Any)
def lower_syncwarp_of_mask(context, builder, sig, args):
    call_intrinsic(builder, "gpu.warp_barrier", as_i32(context, builder, sig.args[0], args[0]))
    return context.get_dummy_value()


@lower(language.nanosleep, types.uint32)
def lower_nanosleep(context, builder, _sig, args):
    call_intrinsic(builder, "gpu.nanosleep", args[0])
    return context.get_dummy_value()
