"""Lowering of CUDA's names for operations on float16. Before: typing.fp16. After: LLVM's `half`."""

from __future__ import annotations

import inspect
import math

from llvmlite import ir

from numba_gpucore import fp16
from numba_gpucore.compile.lower.float_math import call_llvm, call_math, call_real
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types

#: Functions of C by the names that CUDA has for halves.
_REALS = {
    fp16.habs: "fabs", fp16.hceil: "ceil", fp16.hcos: "cos", fp16.hexp: "exp", fp16.hexp2: "exp2",
    fp16.hfloor: "floor", fp16.hfma: "fma", fp16.hlog: "log", fp16.hlog10: "log10", fp16.hlog2: "log2",
    fp16.hrint: "rint", fp16.hsin: "sin", fp16.hsqrt: "sqrt", fp16.htanh: "tanh", fp16.htrunc: "trunc",
}  # fmt: skip
_COMPARISONS = {fp16.heq: "==", fp16.hne: "!=", fp16.hlt: "<", fp16.hle: "<=", fp16.hgt: ">", fp16.hge: ">="}
FLOAT = ir.FloatType()


def _wide_reciprocal(builder, value):
    return builder.fdiv(FLOAT(1.0), value)


def _as_float(compute):
    """A function of one half that `compute` has for floats."""

    def implement(builder, value):
        return builder.fptrunc(compute(builder, builder.fpext(value, FLOAT)), value.type)

    return implement


_OTHERS = {
    fp16.hadd: lambda builder, a, b: builder.fadd(a, b),
    fp16.hsub: lambda builder, a, b: builder.fsub(a, b),
    fp16.hmul: lambda builder, a, b: builder.fmul(a, b),
    fp16.hdiv: lambda builder, a, b: builder.fdiv(a, b),
    fp16.hneg: lambda builder, a: builder.fneg(a),
    fp16.hmax: lambda builder, a, b: call_llvm(builder, "llvm.maxnum", a, b),
    fp16.hmin: lambda builder, a, b: call_llvm(builder, "llvm.minnum", a, b),
    fp16.hrcp: _as_float(_wide_reciprocal),
    fp16.hrsqrt: _as_float(lambda builder, a: _wide_reciprocal(builder, call_llvm(builder, "llvm.sqrt", a))),
    # The product is off by 2**-24 of up to 16: still exact powers of ten come out exact.
    fp16.hexp10: _as_float(lambda builder, a: call_math(builder, "exp2", builder.fmul(a, FLOAT(math.log2(10.0))))),
}


def _lower(function, build) -> None:
    @lower(function, *[types.float16] * len(inspect.signature(function).parameters))
    def implement(_context, builder, _sig, args):
        return build(builder, *args)


def _real(name: str):
    return lambda builder, *args: call_real(builder, name, *args)


def _comparison(sign: str):
    return lambda builder, a, b: builder.fcmp_ordered(sign, a, b)


for _function, _name in _REALS.items():
    _lower(_function, _real(_name))
for _function, _sign in _COMPARISONS.items():
    _lower(_function, _comparison(_sign))
for _function, _build in _OTHERS.items():
    _lower(_function, _build)
