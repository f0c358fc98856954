"""libdevice's functions in Python, for devices without libdevice. Before: compile.libdevice_counterparts. After: Numba.

Results are cast to the types that `numba_gpucore.libdevice` declares. Left out, so that programs hear of it, are
functions that take more than a few lines: arithmetic rounded up, down or to zero, Bessel functions, the inverse and
scaled error functions, remquo. Source of each meaning: NVIDIA, "CUDA Math API".
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import register_jitable

from numba_gpucore import language

Functions = dict[str, Callable[..., Any]]

# -- functions of reals


@register_jitable
def sinpi(x):
    remainder = math.remainder(x, 2.0)
    if abs(remainder) > 0.5:
        remainder = math.copysign(1.0, remainder) - remainder
    return math.copysign(math.sin(math.pi * remainder), x if remainder == 0.0 else remainder)


@register_jitable
def cospi(x):
    return math.sin(math.pi * (0.5 - abs(math.remainder(x, 2.0))))


@register_jitable
def round_away(x):
    whole = np.trunc(x)
    return whole + math.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


@register_jitable
def norm3d(x, y, z):
    return math.hypot(math.hypot(x, y), z)


@register_jitable
def norm4d(x, y, z, w):
    return math.hypot(math.hypot(x, y), math.hypot(z, w))


@register_jitable
def ilogb(x):
    if x == 0.0 or x != x:
        return np.int32(-(2**31))
    if abs(x) == math.inf:
        return np.int32(2**31 - 1)
    return np.int32(math.frexp(x)[1] - 1)


def logb(x):
    if x == 0.0:
        return -math.inf
    return float(ilogb(x)) if abs(x) < math.inf else abs(x)


def fdim(x, y):
    return x - y if x > y or x != x or y != y else 0.0


def sincos(x):
    return math.sin(x), math.cos(x)


def sincospi(x):
    return sinpi(x), cospi(x)


#: Each serves `name` of float64 and `name`f of float32.
_REALS: Functions = {
    **{
        name: getattr(math, name)
        for name in (
            "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "copysign", "cos", "cosh", "erf", "erfc", "exp",
            "expm1", "fabs", "fmod", "frexp", "hypot", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "modf",
            "nextafter", "pow", "remainder", "sin", "sinh", "sqrt", "tan", "tanh",
        )
    },
    **{name: getattr(np, name) for name in ("ceil", "exp2", "floor", "fmax", "fmin", "rint", "trunc")},
    "cbrt": language.cbrt,
    "cospi": cospi,
    "exp10": lambda x: math.pow(10.0, x),
    "fdim": fdim,
    "fma": language.fma,
    "ilogb": ilogb,
    "logb": logb,
    "nearbyint": np.rint,
    "norm3d": norm3d,
    "norm4d": norm4d,
    "normcdf": lambda x: 0.5 * math.erfc(-math.sqrt(0.5) * x),
    "powi": lambda x, n: math.pow(x, float(n)),
    "rcbrt": lambda x: 1.0 / language.cbrt(x),
    "rhypot": lambda x, y: 1.0 / math.hypot(x, y),
    "rnorm3d": lambda x, y, z: 1.0 / norm3d(x, y, z),
    "rnorm4d": lambda x, y, z, w: 1.0 / norm4d(x, y, z, w),
    "round": round_away,
    "rsqrt": language.rsqrt,
    "scalbn": math.ldexp,
    "sincos": sincos,
    "sincospi": sincospi,
    "sinpi": sinpi,
    "tgamma": math.gamma,
}  # fmt: skip
#: Rounded to the nearest, which is what the operators do: `f` and `d` stand for the precision.
_NEAREST: Functions = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "rcp": lambda x: 1.0 / x,
    "sqrt": math.sqrt,
}
_FLOAT32: Functions = {
    **{f"fast_{name}f": _REALS[name] for name in ("cos", "exp", "exp10", "log", "log10", "log2", "pow", "sin")},
    **{f"fast_{name}f": _REALS[name] for name in ("sincos", "tan", "tanh")},
    "fast_fdividef": operator.truediv,
    "fma_rn": language.fma,
    "fmaf_rn": language.fma,
    "fmaf_ieee_rn": language.fma,
    "frsqrt_rn": language.rsqrt,
    "saturatef": lambda x: np.fmin(np.fmax(x, 0.0), 1.0),
}

# -- what kind of number


def is_finite(x):
    return np.int32(math.isfinite(x))


_PREDICATES: Functions = {
    "isinf": lambda x: np.int32(math.isinf(x)),
    "isnan": lambda x: np.int32(math.isnan(x)),
    "signbit": lambda x: np.int32(math.copysign(1.0, x) < 0.0),
}

# -- numbers of other types


def _to_integer(round_: Callable[..., Any], dtype: type[np.integer[Any]]) -> Callable[..., Any]:
    """Out of range becomes the nearest integer, NaN 0. Source: PTX ISA, "cvt"."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    first, end = float(low), float(high + 1)

    def convert(x):
        whole = round_(x)
        if not whole > first:
            return dtype(0) if x != x else dtype(low)
        return dtype(whole) if whole < end else dtype(high)

    return convert


_ROUNDINGS = {"rn": np.rint, "rd": np.floor, "ru": np.ceil, "rz": np.trunc}
_INTEGERS: dict[str, type[np.integer[Any]]] = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}


def _conversions() -> Functions:
    table: Functions = {}
    for real, real_type in (("float", np.float32), ("double", np.float64)):
        for name, dtype in _INTEGERS.items():
            for suffix, round_ in _ROUNDINGS.items():
                table[f"{real}2{name}_{suffix}"] = _to_integer(round_, dtype)
            table[f"{name}2{real}_rn"] = real_type
    table["double2float_rn"] = np.float32
    for suffix in ("", "f"):
        table[f"llrint{suffix}"] = _to_integer(np.rint, np.int64)
        table[f"llround{suffix}"] = _to_integer(round_away, np.int64)
    return table


_BITS: Functions = {
    "float_as_int": lambda x: x.view(np.int32),
    "float_as_uint": lambda x: x.view(np.uint32),
    "int_as_float": lambda x: x.view(np.float32),
    "uint_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64),
    "longlong_as_double": lambda x: x.view(np.float64),
    "double2hiint": lambda x: np.int32(x.view(np.int64) >> 32),
    "double2loint": lambda x: np.int32(x.view(np.int64) & 0xFFFFFFFF),
    "hiloint2double": lambda high, low: (np.int64(high) << 32 | np.int64(low) & 0xFFFFFFFF).view(np.float64),
}

# -- integers


@register_jitable
def umul64hi(x, y):
    """The upper half of a 128-bit product, from four products of halves."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low = (x & mask) * (y & mask)
    middle = (x >> half) * (y & mask) + (low >> half)
    other = (x & mask) * (y >> half) + (middle & mask)
    return (x >> half) * (y >> half) + (middle >> half) + (other >> half)


def mul64hi(x, y):
    high = np.int64(umul64hi(np.uint64(x), np.uint64(y)))
    return high - (y if x < 0 else 0) - (x if y < 0 else 0)


def byte_perm(x, y, selectors):
    both = np.uint64(y) << np.uint64(32) | np.uint64(x)
    result = np.uint64(0)
    for i in range(4):
        place = np.uint64(selectors >> np.uint32(4 * i) & np.uint32(7)) * np.uint64(8)
        result |= (both >> place & np.uint64(0xFF)) << np.uint64(8 * i)
    return result


@register_jitable
def _low24(x):
    return np.int32(np.int64(x) << 40 >> 32) >> 8


def _average(x, y):
    return (np.int64(x) + np.int64(y)) >> 1


def _rounded_average(x, y):
    return (np.int64(x) + np.int64(y) + 1) >> 1


_INTEGER_FUNCTIONS: Functions = {
    **dict.fromkeys(("abs", "llabs"), abs),
    **dict.fromkeys(("min", "umin", "llmin", "ullmin"), min),
    **dict.fromkeys(("max", "umax", "llmax", "ullmax"), max),
    **dict.fromkeys(("clz", "clzll"), language.clz),
    **dict.fromkeys(("ffs", "ffsll"), language.ffs),
    **dict.fromkeys(("popc", "popcll"), language.popc),
    **dict.fromkeys(("brev", "brevll"), language.brev),
    **dict.fromkeys(("hadd", "uhadd"), _average),
    **dict.fromkeys(("rhadd", "urhadd"), _rounded_average),
    **dict.fromkeys(("sad", "usad"), lambda x, y, z: abs(np.int64(x) - np.int64(y)) + np.int64(z)),
    "byte_perm": byte_perm,
    "mul24": lambda x, y: np.int32(_low24(x) * _low24(y)),
    "umul24": lambda x, y: np.uint32((x & np.uint32(0xFFFFFF)) * (y & np.uint32(0xFFFFFF))),
    "mulhi": lambda x, y: np.int64(x) * np.int64(y) >> 32,
    "umulhi": lambda x, y: np.uint64(x) * np.uint64(y) >> np.uint64(32),
    "mul64hi": mul64hi,
    "umul64hi": umul64hi,
}


#: By name in `numba_gpucore.libdevice`: what has the same meaning in Python.
COUNTERPARTS: Functions = {
    **{name + suffix: function for name, function in _REALS.items() for suffix in ("", "f")},
    **{f"{kind}{name}_rn": function for name, function in _NEAREST.items() for kind in "df"},
    **_FLOAT32,
    **{name + suffix: function for name, function in _PREDICATES.items() for suffix in ("d", "f")},
    **dict.fromkeys(("finitef", "isfinited"), is_finite),
    **_conversions(),
    **_BITS,
    **_INTEGER_FUNCTIONS,
}
