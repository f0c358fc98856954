"""Fused multiply-add with one rounding. Before: Numba, which compiles it for the host. After: floats.py, pairs.py.

NumPy has none, and Python has `math.fma` from 3.13 only. LLVM's `llvm.fma` is the host's instruction or libm's `fma`,
both correctly rounded (LLVM Language Reference, "llvm.fma Intrinsic"; C11 7.12.13.1).
"""

from __future__ import annotations

from numba import types, vectorize
from numba.core import typing
from numba.extending import intrinsic


@intrinsic
def _llvm_fma(typingctx, a, b, c):
    def build(context, builder, signature, args):
        return builder.fma(*args)

    if a == b == c and a in (types.float32, types.float64):
        return typing.signature(a, a, b, c), build
    return None


@vectorize(["float32(float32, float32, float32)", "float64(float64, float64, float64)"])
def fused_multiply_add(a, b, c):
    """`a * b + c`, rounded once to nearest even; a NumPy ufunc for float32 and float64."""
    return _llvm_fma(a, b, c)
