"""Lowering of bit counting and of a few number functions, by LLVM intrinsics that every code generator takes."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore import language
from numba_gpucore.compile.lower.float_math import call_llvm, call_math, call_real
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types


def call_count_zeros(builder, name: str, value):
    """`llvm.ctlz` or `llvm.cttz`, defined for 0 as well: the width in bits."""
    bit = ir.IntType(1)
    type_ = ir.FunctionType(value.type, [value.type, bit])
    function = builder.module.declare_intrinsic(name, [value.type], type_)
    return builder.call(function, [value, bit(0)])


@lower(language.popc, types.Any)
def lower_popc(_context, builder, _sig, args):
    return call_llvm(builder, "llvm.ctpop", *args)


@lower(language.brev, types.Any)
def lower_brev(_context, builder, _sig, args):
    return call_llvm(builder, "llvm.bitreverse", *args)


@lower(language.clz, types.Any)
def lower_clz(_context, builder, _sig, args):
    return call_count_zeros(builder, "llvm.ctlz", args[0])


@lower(language.ffs, types.Any)
def lower_ffs(context, builder, sig, args):
    (value,) = args
    zeros = call_count_zeros(builder, "llvm.cttz", value)
    position = builder.add(zeros, value.type(1))
    position = builder.select(builder.icmp_unsigned("==", value, value.type(0)), value.type(0), position)
    # The count is never negative, so it is widened as unsigned whatever the operand was.
    unsigned = types.Integer.from_bitwidth(value.type.width, signed=False)
    return context.cast(builder, position, unsigned, sig.return_type)


@lower(language.fma, types.Any, types.Any, types.Any)
def lower_fma(_context, builder, _sig, args):
    return call_real(builder, "fma", *args)


@lower(language.cbrt, types.Any)
def lower_cbrt(_context, builder, _sig, args):
    return call_math(builder, "cbrt", *args)


@lower(language.rsqrt, types.Any)
def lower_rsqrt(_context, builder, _sig, args):
    (value,) = args
    if isinstance(value.type, ir.HalfType):
        # the rounding of the root would be seen
        value = builder.fpext(value, ir.FloatType())
    root = builder.fdiv(value.type(1.0), call_llvm(builder, "llvm.sqrt", value))
    return builder.fptrunc(root, ir.HalfType()) if isinstance(args[0].type, ir.HalfType) else root


@lower(language.selp, types.Any, types.Any, types.Any)
def lower_selp(context, builder, sig, args):
    condition, a, b = args
    return builder.select(context.cast(builder, condition, sig.args[0], types.boolean), a, b)
