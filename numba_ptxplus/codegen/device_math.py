"""`gpu.math.*` by libdevice. Before: definitions.py asks. After: libdevice.py links the `__nv_*` functions called here.

Half-precision functions go through float and round once more, as NumPy's do; lgamma goes through double, since the
float one is wrong by a half's last place near its zeros.
"""

from __future__ import annotations

from numba_gpucore.compile.intrinsics import MATH_BINARY, MATH_UNARY, Intrinsic

#: libdevice's approximate functions of floats, taken under `fastmath`. Source: CUDA Math API, "Single Precision
#: Intrinsics"; nvcc's -use_fast_math picks the same ones.
_FAST_FLOAT = frozenset({"cos", "exp", "log", "log10", "log2", "pow", "sin", "tan"})
#: Hardware's own. Source: PTX ISA, "tanh"; every architecture that we know has it.
_FAST_TANH = '%r = call float asm "tanh.approx.f32 $0, $1;", "=f,f"(float %x0)\n ret float %r'
_FLOAT_NAMES = {"half": "float", "float": "float", "double": "double"}

# The next half after a half is not that of a float: count in the order of bit patterns instead. Of equal halves NumPy
# gives the first (C the second, which only differs for zeros).
_NEXTAFTER_HALF = """%a = bitcast half %x0 to i16
 %b = bitcast half %x1 to i16
 %unordered = fcmp uno half %x0, %x1
 %same = fcmp oeq half %x0, %x1
 %is_zero = fcmp oeq half %x0, 0.0
 %sign = and i16 %b, -32768
 %smallest = or i16 %sign, 1
 %positive = icmp sgt i16 %a, -1
 %greater = fcmp ogt half %x1, %x0
 %away = icmp eq i1 %positive, %greater
 %step = select i1 %away, i16 1, i16 -1
 %moved = add i16 %a, %step
 %next = select i1 %is_zero, i16 %smallest, i16 %moved
 %half = bitcast i16 %next to half
 %nan = fadd half %x0, %x1
 %reached = select i1 %same, half %x0, half %half
 %r = select i1 %unordered, half %nan, half %reached
 ret half %r"""
_FMA_HALF2 = "%r = call <2 x half> @llvm.fma.v2f16(<2 x half> %x0, <2 x half> %x1, <2 x half> %x2)\n ret <2 x half> %r"
#: Functions of halves that are not those of floats, rounded.
_HALF_BODIES = {
    "fma": "%r = call half @llvm.fma.f16(half %x0, half %x1, half %x2)\n ret half %r",
    "nextafter": _NEXTAFTER_HALF,
}


def libdevice_name(name: str, type_: str, fastmath: bool) -> str:
    """The function of libdevice that computes `gpu.math.<name>` in `type_` ("float" or "double")."""
    if type_ == "double":
        return f"__nv_{name}"
    return f"__nv_fast_{name}f" if fastmath and name in _FAST_FLOAT else f"__nv_{name}f"


def define_math(intrinsic: Intrinsic, fastmath: bool) -> str:
    name = intrinsic.name.split(".")[2]
    type_ = intrinsic.result
    params = ", ".join(f"{type_} %x{i}" for i in range(len(intrinsic.params)))
    header = f"define {type_} @{intrinsic.name}({params}) alwaysinline nounwind"
    if type_ == "<2 x half>":
        return f"{header} {{\n {_FMA_HALF2}\n}}"
    if type_ == "half" and name in _HALF_BODIES:
        return f"{header} {{\n {_HALF_BODIES[name]}\n}}"
    if name not in MATH_UNARY + MATH_BINARY:
        raise KeyError(intrinsic.name)
    if fastmath and (name, type_) == ("tanh", "float"):
        return f"{header} {{\n {_FAST_TANH}\n}}"
    wide = "double" if (name, type_) == ("lgamma", "half") else _FLOAT_NAMES[type_]
    function = libdevice_name(name, wide, fastmath)
    operands = ", ".join(f"{wide} %{'w' if type_ == 'half' else 'x'}{i}" for i in range(len(intrinsic.params)))
    if type_ != "half":
        return f"{header} {{\n %r = call {wide} @{function}({operands})\n ret {wide} %r\n}}"
    widen = "".join(f" %w{i} = fpext half %x{i} to {wide}\n" for i in range(len(intrinsic.params)))
    return (
        f"{header} {{\n{widen} %s = call {wide} @{function}({operands})\n"
        f" %r = fptrunc {wide} %s to half\n ret half %r\n}}"
    )
