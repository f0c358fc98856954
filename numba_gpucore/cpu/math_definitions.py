"""Functions of reals on a CPU: the C library's. Before: intrinsics table. After: definitions.

Halves go through float, except where the neighbouring half is asked for. All that is called is checked to be in the
process before an object is used (`loader`).
"""

from __future__ import annotations

from collections.abc import Iterator

from numba_gpucore.compile.intrinsics import INTRINSICS

_C_SUFFIX = {"f32": "f", "f64": ""}


def define_math(name: str) -> Iterator[str]:
    """LLVM assembly that defines `gpu.math.<function>.<f16|f32|f64>`."""
    _gpu, _math, function, width = name.split(".")
    arity = len(INTRINSICS[name].params)
    if width != "f16":
        yield from _call_c_library(name, function, width, arity)
    elif function in _HALF_DEFINITIONS:
        yield from _HALF_DEFINITIONS[function].strip().splitlines()
    else:
        yield from _call_wider(name, function, arity)


def _call_c_library(name: str, function: str, width: str, arity: int) -> Iterator[str]:
    type_ = INTRINSICS[name].result
    symbol = function + _C_SUFFIX[width]
    arguments = ", ".join(f"{type_} %x{i}" for i in range(arity))
    yield f"declare {type_} @{symbol}({', '.join([type_] * arity)}) nounwind willreturn memory(none)"
    yield f"define {type_} @{name}({arguments}) alwaysinline {{"
    yield f"  %y = call {type_} @{symbol}({arguments})"
    yield f"  ret {type_} %y"
    yield "}"


def _call_wider(name: str, function: str, arity: int) -> Iterator[str]:
    symbol = function + _C_SUFFIX["f32"]
    yield f"declare float @{symbol}({', '.join(['float'] * arity)}) nounwind willreturn memory(none)"
    yield f"define half @{name}({', '.join(f'half %x{i}' for i in range(arity))}) alwaysinline {{"
    for i in range(arity):
        yield f"  %wide{i} = fpext half %x{i} to float"
    yield f"  %wide = call float @{symbol}({', '.join(f'float %wide{i}' for i in range(arity))})"
    yield "  %y = fptrunc float %wide to half"
    yield "  ret half %y"
    yield "}"


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
_HALF_DEFINITIONS = {"fma": _HALF_FMA, "nextafter": _NEXT_HALF}
