"""NVIDIA's libdevice functions as part of the kernel language. Before: a kernel names one. After: compile.libdevice.

`libdevice.sinpi(x)` is `__nv_sinpi` on NVIDIA GPUs; other devices have those with a counterpart in
`numba_gpucore.runtime.libdevice`, and refuse the others by name. What C returns through pointers comes back as a tuple,
after the function's own value: `mantissa, exponent = frexp(x)`, `sine, cosine = sincos(x)`.

Source: NVIDIA, "libdevice User's Guide" and "CUDA Math API" (which integers are unsigned). Left out are functions that
read memory: nan, norm, rnorm and their float forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NoReturn

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_gpucore.language import refuse_on_host

#: Functions by C prototype, in NumPy's names of the types; a star marks what C returns through a pointer.
_PROTOTYPES = {
    "float64(float64)": """acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1
        drcp_rd drcp_rn drcp_ru drcp_rz dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz erf erfc erfcinv erfcx erfinv exp
        exp10 exp2 expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt
        rcp64h rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1""",
    "float32(float32)": """acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif cyl_bessel_i0f
        cyl_bessel_i1f erfcf erfcinvf erfcxf erff erfinvf exp10f exp2f expf expm1f fabsf fast_cosf fast_exp10f
        fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf fast_tanhf floorf frcp_rd frcp_rn frcp_ru
        frcp_rz frsqrt_rn fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz j0f j1f lgammaf log10f log1pf log2f logbf logf
        nearbyintf normcdff normcdfinvf rcbrtf rintf roundf rsqrtf saturatef sinf sinhf sinpif sqrtf tanf tanhf
        tgammaf truncf y0f y1f""",
    "float64(float64, float64)": """atan2 copysign dadd_rd dadd_rn dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz
        dmul_rd dmul_rn dmul_ru dmul_rz dsub_rd dsub_rn dsub_ru dsub_rz fdim fmax fmin fmod hypot nextafter pow
        remainder rhypot""",
    "float32(float32, float32)": """atan2f copysignf fadd_rd fadd_rn fadd_ru fadd_rz fast_fdividef fast_powf fdimf
        fdiv_rd fdiv_rn fdiv_ru fdiv_rz fmaxf fminf fmodf fmul_rd fmul_rn fmul_ru fmul_rz fsub_rd fsub_rn
        fsub_ru fsub_rz hypotf nextafterf powf remainderf rhypotf""",
    "float64(float64, float64, float64)": "fma fma_rd fma_rn fma_ru fma_rz norm3d rnorm3d",
    "float32(float32, float32, float32)": """fmaf fmaf_ieee_rd fmaf_ieee_rn fmaf_ieee_ru fmaf_ieee_rz fmaf_rd fmaf_rn
        fmaf_ru fmaf_rz norm3df rnorm3df""",
    "float64(float64, float64, float64, float64)": "norm4d rnorm4d",
    "float32(float32, float32, float32, float32)": "norm4df rnorm4df",
    "float64(float64, *int32)": "frexp",
    "float32(float32, *int32)": "frexpf",
    "float64(float64, *float64)": "modf",
    "float32(float32, *float32)": "modff",
    "float64(float64, float64, *int32)": "remquo",
    "float32(float32, float32, *int32)": "remquof",
    "void(float64, *float64, *float64)": "sincos sincospi",
    "void(float32, *float32, *float32)": "fast_sincosf sincosf sincospif",
    "float64(float64, int32)": "ldexp powi scalbn",
    "float32(float32, int32)": "ldexpf powif scalbnf",
    "float64(int32, float64)": "jn yn",
    "float32(int32, float32)": "jnf ynf",
    "int32(int32)": "abs clz ffs",
    "int32(uint32)": "popc",
    "uint32(uint32)": "brev",
    "int64(int64)": "llabs",
    "uint64(uint64)": "brevll",
    "int32(int64)": "clzll ffsll",
    "int32(uint64)": "popcll",
    "int32(int32, int32)": "hadd max min mul24 mulhi rhadd",
    "uint32(uint32, uint32)": "uhadd umax umin umul24 umulhi urhadd",
    "int64(int64, int64)": "llmax llmin mul64hi",
    "uint64(uint64, uint64)": "ullmax ullmin umul64hi",
    "uint32(uint32, uint32, uint32)": "byte_perm usad",
    "uint32(int32, int32, uint32)": "sad",
    "int32(float64)": """double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint ilogb
        isfinited isinfd isnand signbitd""",
    "int32(float32)": """finitef float2int_rd float2int_rn float2int_ru float2int_rz float_as_int ilogbf isinff isnanf
        signbitf""",
    "uint32(float64)": "double2uint_rd double2uint_rn double2uint_ru double2uint_rz",
    "uint32(float32)": "float2uint_rd float2uint_rn float2uint_ru float2uint_rz float_as_uint",
    "int64(float64)": "double2ll_rd double2ll_rn double2ll_ru double2ll_rz double_as_longlong llrint llround",
    "int64(float32)": "float2ll_rd float2ll_rn float2ll_ru float2ll_rz llrintf llroundf",
    "uint64(float64)": "double2ull_rd double2ull_rn double2ull_ru double2ull_rz",
    "uint64(float32)": "float2ull_rd float2ull_rn float2ull_ru float2ull_rz",
    "float32(float64)": "double2float_rd double2float_rn double2float_ru double2float_rz",
    "int16(float32)": "float2half_rn",
    "float32(int16)": "half2float",
    "float64(int32, int32)": "hiloint2double",
    "float64(int32)": "int2double_rn",
    "float64(uint32)": "uint2double_rn",
    "float32(int32)": "int2float_rd int2float_rn int2float_ru int2float_rz int_as_float",
    "float32(uint32)": "uint2float_rd uint2float_rn uint2float_ru uint2float_rz uint_as_float",
    "float64(int64)": "ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double",
    "float64(uint64)": "ull2double_rd ull2double_rn ull2double_ru ull2double_rz",
    "float32(int64)": "ll2float_rd ll2float_rn ll2float_ru ll2float_rz",
    "float32(uint64)": "ull2float_rd ull2float_rn ull2float_ru ull2float_rz",
}
_PROTOTYPE = late_pattern(r"(\w+)\((.*)\)")


@dataclass(frozen=True)
class LibdeviceFunction:
    """A function that kernels call; types are NumPy's names. value: what C returns, "void" for nothing; outs: what it
    stores through its last parameters."""

    name: str
    value: str
    params: tuple[str, ...]
    outs: tuple[str, ...]

    @property
    def c_name(self) -> str:
        return f"__nv_{self.name}"

    @property
    def results(self) -> tuple[str, ...]:
        """The types of what a kernel gets: one value, or more as a tuple."""
        return (*(() if self.value == "void" else (self.value,)), *self.outs)

    def __call__(self, *args: Any) -> NoReturn:
        refuse_on_host(f"libdevice.{self.name}()")

    def __str__(self) -> str:
        return f"{', '.join(self.results)} libdevice.{self.name}({', '.join(self.params)})"


def _parse(prototype: str) -> Iterator[LibdeviceFunction]:
    match = _PROTOTYPE.fullmatch(prototype)
    assert match
    items = match[2].split(", ")
    params = tuple(item for item in items if not item.startswith("*"))
    outs = tuple(item[1:] for item in items if item.startswith("*"))
    for name in _PROTOTYPES[prototype].split():
        yield LibdeviceFunction(name, match[1], params, outs)


@cache
def functions() -> dict[str, LibdeviceFunction]:
    """Every function by its name, in alphabetical order."""
    table = {function.name: function for prototype in _PROTOTYPES for function in _parse(prototype)}
    return dict(sorted(table.items()))


def __getattr__(name: str) -> LibdeviceFunction:
    try:
        return functions()[name]
    except KeyError:
        raise AttributeError(f"libdevice has no function {name!r}") from None


def __dir__() -> list[str]:
    return list(functions())
