"""Functions of reals on a CPU: the C library's. Before: intrinsics table. After: definitions.

Halves go through float, except where the neighbouring half is asked for, and floats through double where the C
library's own form is not exact enough. All that is called is checked to be in the process before an object is used
(`loader`). How exact they are: tests/accuracy, docs/math.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from numba_gpucore.compile.intrinsics import HALF2_FMA, INTRINSICS, NARROW_BFLOAT, WIDEN_BFLOAT

_C_SUFFIX = {"float": "f", "double": ""}
#: Functions of floats computed in double: by 2**22 arguments, glibc 2.36's own are wrong by up to 2.7 ulp (erfc), 5.1
#: (lgamma), 2.01 (log10), 2.2 (tanh) and 6.5 (tgamma).
_THROUGH_DOUBLE = frozenset({"erfc", "lgamma", "log10", "tanh", "tgamma"})


def define_math(name: str) -> Iterator[str]:
    """LLVM assembly that defines `gpu.math.<function>.<f16|f32|f64>`, or one of `gpu.bfloat.*`, line by line."""
    if name in _DEFINITIONS:
        yield from _DEFINITIONS[name].strip().splitlines()
        return
    _gpu, _math, function, width = name.split(".")
    if width == "f16":
        yield from _call_wider(name, function, "float")
    elif width == "f32" and function in _THROUGH_DOUBLE:
        yield from _call_wider(name, function, "double")
    else:
        yield from _call_c_library(name, function)


def _declare(function: str, type_: str, arity: int) -> str:
    params = ", ".join([type_] * arity)
    return f"declare {type_} @{function}{_C_SUFFIX[type_]}({params}) nounwind willreturn memory(none)"


def _call_c_library(name: str, function: str) -> Iterator[str]:
    type_, arity = INTRINSICS[name].result, len(INTRINSICS[name].params)
    arguments = ", ".join(f"{type_} %x{i}" for i in range(arity))
    yield _declare(function, type_, arity)
    yield f"define {type_} @{name}({arguments}) alwaysinline {{"
    yield f"  %y = call {type_} @{function}{_C_SUFFIX[type_]}({arguments})"
    yield f"  ret {type_} %y"
    yield "}"


def _call_wider(name: str, function: str, wide: str) -> Iterator[str]:
    """By the function of a wider type, whose result is rounded."""
    type_, arity = INTRINSICS[name].result, len(INTRINSICS[name].params)
    yield _declare(function, wide, arity)
    yield f"define {type_} @{name}({', '.join(f'{type_} %x{i}' for i in range(arity))}) alwaysinline {{"
    for i in range(arity):
        yield f"  %wide{i} = fpext {type_} %x{i} to {wide}"
    arguments = ", ".join(f"{wide} %wide{i}" for i in range(arity))
    yield f"  %wide = call {wide} @{function}{_C_SUFFIX[wide]}({arguments})"
    yield f"  %y = fptrunc {wide} %wide to {type_}"
    yield f"  ret {type_} %y"
    yield "}"


# glibc 2.36's cbrt is wrong by up to 2.9 ulp: one step of Newton's method, with r * r * r - y in twice the precision.
# Very small and large numbers are scaled by powers of two, so that the cube neither overflows nor loses bits.
_CBRT = """
declare double @cbrt(double) nounwind willreturn memory(none)
declare double @llvm.fabs.f64(double)
declare double @llvm.fma.f64(double, double, double)
define double @gpu.math.cbrt.f64(double %x) alwaysinline {
  %size = call double @llvm.fabs.f64(double %x)
  %is.small = fcmp olt double %size, 0x20B0000000000000 ; 2^-500
  %is.large = fcmp ogt double %size, 0x5F30000000000000 ; 2^500
  %down = select i1 %is.large, double 0x1A70000000000000, double 1.0 ; 2^-600
  %scale = select i1 %is.small, double 0x6570000000000000, double %down ; 2^600
  %up = select i1 %is.large, double 0x4C70000000000000, double 1.0 ; 2^200
  %back = select i1 %is.small, double 0x3370000000000000, double %up ; 2^-200
  %y = fmul double %x, %scale
  %r = call double @cbrt(double %y)
  %square = fmul double %r, %r
  %square.minus = fneg double %square
  %square.low = call double @llvm.fma.f64(double %r, double %r, double %square.minus)
  %cube = fmul double %square, %r
  %cube.minus = fneg double %cube
  %cube.low = call double @llvm.fma.f64(double %square, double %r, double %cube.minus)
  %low = call double @llvm.fma.f64(double %square.low, double %r, double %cube.low)
  %high = fsub double %cube, %y
  %excess = fadd double %high, %low
  %slope = fmul double %square, 3.0
  %step = fdiv double %excess, %slope
  %better = fsub double %r, %step
  %result = fmul double %better, %back
  %is.zero = fcmp oeq double %size, 0.0
  %is.finite = fcmp olt double %size, 0x7FF0000000000000
  %finite = select i1 %is.finite, double %result, double %r
  %whole = select i1 %is.zero, double %r, double %finite
  ret double %whole
}
"""

# Halves of one sign are ordered like their bits; from zero the next is the smallest subnormal with the sign of `to`.
# NumPy's float16 gives back `from` where both are equal (C gives `to`, which only differs for zeros).
_NEXT_HALF = """
define half @gpu.math.nextafter.f16(half %from, half %to) alwaysinline {
  %unordered = fcmp uno half %from, %to
  %equal = fcmp oeq half %from, %to
  %zero = fcmp oeq half %from, 0.0
  %up = fcmp olt half %from, %to
  %bits = bitcast half %from to i16
  %to.bits = bitcast half %to to i16
  %positive = icmp sge i16 %bits, 0
  %away = icmp eq i1 %up, %positive
  %step = select i1 %away, i16 1, i16 -1
  %stepped = add i16 %bits, %step
  %to.sign = and i16 %to.bits, -32768
  %smallest = or i16 %to.sign, 1
  %next.bits = select i1 %zero, i16 %smallest, i16 %stepped
  %next = bitcast i16 %next.bits to half
  %moved = select i1 %equal, half %from, half %next
  %nan = fadd half %from, %to
  %result = select i1 %unordered, half %nan, half %moved
  ret half %result
}
"""

# The product of halves is exact in a double, and the sum is rounded to a double where that cannot move it over the
# middle of two halves: bits that it loses are below 2**-47 while the sum is above 32.
_HALF_FMA = """
define half @gpu.math.fma.f16(half %a, half %b, half %c) alwaysinline {
  %wide.a = fpext half %a to double
  %wide.b = fpext half %b to double
  %wide.c = fpext half %c to double
  %product = fmul double %wide.a, %wide.b
  %sum = fadd double %product, %wide.c
  %result = fptrunc double %sum to half
  ret half %result
}
"""
_HALF2_FMA = """
define <2 x half> @gpu.math.fma.v2f16(<2 x half> %a, <2 x half> %b, <2 x half> %c) alwaysinline {
  %wide.a = fpext <2 x half> %a to <2 x double>
  %wide.b = fpext <2 x half> %b to <2 x double>
  %wide.c = fpext <2 x half> %c to <2 x double>
  %product = fmul <2 x double> %wide.a, %wide.b
  %sum = fadd <2 x double> %product, %wide.c
  %result = fptrunc <2 x double> %sum to <2 x half>
  ret <2 x half> %result
}
"""

# The upper half of a float, and the nearest such half, ties to even; a NaN stays one where only its lower bits say so.
_WIDEN_BFLOAT = """
define float @gpu.bfloat.widen(i16 %x) alwaysinline {
  %wide = zext i16 %x to i32
  %bits = shl i32 %wide, 16
  %y = bitcast i32 %bits to float
  ret float %y
}
"""
_NARROW_BFLOAT = """
define i16 @gpu.bfloat.narrow(float %x) alwaysinline {
  %bits = bitcast float %x to i32
  %upper = lshr i32 %bits, 16
  %odd = and i32 %upper, 1
  %half_unit = add i32 %bits, 32767
  %moved = add i32 %half_unit, %odd
  %rounded = lshr i32 %moved, 16
  %quiet = or i32 %upper, 64
  %is_nan = fcmp uno float %x, %x
  %chosen = select i1 %is_nan, i32 %quiet, i32 %rounded
  %y = trunc i32 %chosen to i16
  ret i16 %y
}
"""
_DEFINITIONS = {
    "gpu.math.cbrt.f64": _CBRT,
    "gpu.math.fma.f16": _HALF_FMA,
    "gpu.math.nextafter.f16": _NEXT_HALF,
    HALF2_FMA: _HALF2_FMA,
    NARROW_BFLOAT: _NARROW_BFLOAT,
    WIDEN_BFLOAT: _WIDEN_BFLOAT,
}
