"""Functions of reals and complex numbers: math, cmath, NumPy's ufuncs on scalars."""

from __future__ import annotations

import cmath
import math

import numpy as np
from scipy import special

from numba_gpucore import language as gpu
from tests.device.catalogue import Case

N = 64
#: What CUDA promises for the worst of these functions is 9 units in the last place (lgamma, CUDA C++ Programming Guide,
#: "Mathematical Functions"); 16 leaves room for the reference's own rounding to the argument type.
ULPS = 16
WHY = "16 units in the last place, CUDA's bounds for its functions rounded up"

#: Function, the C or SciPy reference in float64, and an interval in which the result is not near zero. That each runs;
#: tests/accuracy says how exact it is.
REALS = (
    (math.acos, np.arccos, -0.9, 0.9),
    (math.acosh, np.arccosh, 1.5, 50),
    (math.asin, np.arcsin, 0.1, 0.95),
    (math.asinh, np.arcsinh, 0.1, 50),
    (math.atan, np.arctan, 0.1, 50),
    (math.atanh, np.arctanh, 0.1, 0.9),
    (math.cos, np.cos, -1.2, 1.2),
    (math.cosh, np.cosh, -5, 5),
    (math.degrees, np.degrees, 1, 5),
    (math.erf, special.erf, 0.1, 3),
    (math.erfc, special.erfc, -2, 2),
    (math.exp, np.exp, -20, 20),
    (math.expm1, np.expm1, 0.01, 2),
    (math.fabs, np.fabs, -2, 2),
    (math.gamma, special.gamma, 0.5, 8),
    (math.lgamma, special.gammaln, 3, 50),
    (math.log, np.log, 2, 1000),
    (math.log10, np.log10, 2, 1000),
    (math.log1p, np.log1p, 0.01, 5),
    (math.log2, np.log2, 2, 1000),
    (math.radians, np.radians, 1, 5),
    (math.sin, np.sin, 0.2, 3),
    (math.sinh, np.sinh, 0.1, 5),
    (math.sqrt, np.sqrt, 0, 1000),
    (math.tan, np.tan, 0.1, 1.4),
    (math.tanh, np.tanh, 0.1, 3),
    (np.cbrt, np.cbrt, -50, -1),
    (np.ceil, np.ceil, -5, 5),
    (np.exp2, np.exp2, -20, 20),
    (np.floor, np.floor, -5, 5),
    (np.rint, np.rint, -5, 5),
    (np.sign, np.sign, -5, 5),
    (np.square, np.square, -5, 5),
    (np.trunc, np.trunc, -5, 5),
    (gpu.rsqrt, lambda x: 1 / np.sqrt(x), 0.1, 50),
)


def reals_case(function, reference, low, high, dtype):
    def apply(x, out):
        i = gpu.grid(1)
        out[i] = function(x[i])

    module = getattr(function, "__module__", None) or "numpy"
    return Case(
        apply,
        lambda rng: (rng.uniform(low, high, N).astype(dtype), np.zeros(N, dtype)),
        lambda x, out: {1: reference(x.astype(np.float64)).astype(dtype)},
        block=N,
        name=f"{module.split('.')[-1]}_{function.__name__}_{np.dtype(dtype).name}",
        rtol=ULPS * float(np.finfo(dtype).eps),
        tolerance=WHY,
        needs=frozenset({"float64"} if dtype is np.float64 else ()),
    )


def two_reals(x, y, out):
    i = gpu.grid(1)
    out[0, i] = math.atan2(x[i], y[i])
    out[1, i] = math.hypot(x[i], y[i])
    out[2, i] = math.pow(x[i], y[i])
    out[3, i] = math.fmod(x[i], y[i])
    out[4, i] = math.copysign(x[i], -y[i])
    out[5, i] = x[i] ** y[i]
    out[6, i] = math.remainder(x[i], y[i])
    out[7, i] = np.arctan2(x[i], y[i]) + np.hypot(x[i], y[i])


def expect_two_reals(x, y, out):
    a, b = x.astype(np.float64), y.astype(np.float64)
    rows = [
        np.arctan2(a, b),
        np.hypot(a, b),
        a**b,
        np.fmod(a, b),
        np.copysign(a, -b),
        a**b,
        np.array(list(map(math.remainder, a, b))),
        np.arctan2(a, b) + np.hypot(a, b),
    ]
    return {2: np.stack(rows).astype(x.dtype)}


def special_values(x, out):
    i = gpu.grid(1)
    v = x[i]
    out[0, i] = math.isnan(v) + 2 * math.isinf(v) + 4 * math.isfinite(v)
    out[1, i] = np.isnan(v) + 2 * np.isinf(v) + 4 * np.isfinite(v) + 8 * np.signbit(v)


def expect_special_values(x, out):
    flags = np.isnan(x) + 2 * np.isinf(x) + 4 * np.isfinite(x)
    return {1: np.stack([flags, flags + 8 * np.signbit(x)])}


def taken_apart(x, out):
    i = gpu.grid(1)
    fraction, whole = math.modf(x[i])
    mantissa, exponent = math.frexp(x[i])
    out[0, i] = fraction
    out[1, i] = whole
    out[2, i] = mantissa
    out[3, i] = exponent
    out[4, i] = math.ldexp(mantissa, exponent)
    out[5, i] = math.floor(x[i]) if abs(x[i]) < 1e9 else 0
    out[6, i] = math.ceil(x[i]) if abs(x[i]) < 1e9 else 0
    out[7, i] = math.trunc(x[i]) if abs(x[i]) < 1e9 else 0


def expect_taken_apart(x, out):
    fraction, whole = np.modf(x)
    mantissa, exponent = np.frexp(x)
    small = np.where(abs(x) < 1e9, x, 0)
    rows = [fraction, whole, mantissa, exponent, x, np.floor(small), np.ceil(small), np.trunc(small)]
    return {1: np.stack(rows).astype(x.dtype)}


def scaled(x, n, out):
    i = gpu.grid(1)
    out[i] = math.ldexp(x[i], n[i])


def neighbours(x, y, out):
    i = gpu.grid(1)
    out[0, i] = math.nextafter(x[i], y[i])
    out[1, i] = np.nextafter(x[i], y[i])
    out[2, i] = np.spacing(x[i])


def integer_arguments(n, out):
    """Integers go to float64 first, as Numba types them."""
    i = gpu.grid(1)
    out[0, i] = math.sqrt(n[i])
    out[1, i] = math.gcd(n[i], 360)
    out[2, i] = math.floor(n[i]) + math.isnan(n[i])
    out[3, i] = math.hypot(n[i], 3)


def expect_integer_arguments(n, out):
    return {1: np.stack([np.sqrt(n), np.gcd(n, 360), n, np.hypot(n, 3)])}


def complex_arithmetic(re, im, z, m):
    i = gpu.grid(1)
    c = np.complex64(re[i], im[i])
    z[0, i] = c * c.conjugate() + c
    z[1, i] = c / (c + np.complex64(2))
    z[2, i] = c**2
    z[3, i] = -c
    m[0, i] = abs(c)
    m[1, i] = c.real - c.imag


def expect_complex_arithmetic(re, im, z, m):
    c = re.astype(np.complex128) + 1j * im
    return {
        2: np.stack([c * c.conj() + c, c / (c + 2), c**2, -c]).astype(np.complex64),
        3: np.stack([abs(c), re - im]).astype(np.float32),
    }


def complex_quotients(x, y, out):
    i = gpu.grid(1)
    out[0, i] = x[i] / y[i]
    out[1, i] = np.divide(x[i], y[i])
    out[2, i] = x[i]
    out[2, i] /= y[i]


def make_complex_quotients(_rng):
    """Quotients that are exact, and by zeros of either sign."""
    parts = [0.0, -0.0, 1.0, -2.0]
    numbers = np.array([complex(real, imag) for real in parts for imag in parts], np.complex64)
    x, y = (part.ravel() for part in np.meshgrid(numbers, numbers[[0, 1, 4, 5, 2, 8, 12]]))
    return x, y, np.zeros((3, x.size), np.complex64)


def expect_complex_quotients(x, y, out):
    with np.errstate(all="ignore"):
        return {2: np.stack([x / y] * 3)}


def complex_power(x, y, out):
    i = gpu.grid(1)
    out[0, i] = x[i] ** y[i]
    out[1, i] = x[i] ** 3
    out[2, i] = x[i] ** -2


def expected_complex_power(x, y):
    a, b = x.astype(np.complex128), y.astype(np.complex128)
    return np.stack([a**b, a**3, 1 / a**2]).astype(np.complex64)


def complex_power_of_zero(x, y, out):
    i = gpu.grid(1)
    out[0, i] = x[i] ** y[i]
    out[1, i] = np.power(x[i], y[i])


def make_complex_power_of_zero(_rng):
    exponents = np.array([0, 2.5, -1, 1 + 2j, 1 - 1j, 1j, -1 + 1j, -2j], np.complex64)
    return np.zeros(8, np.complex64), exponents, np.zeros((2, 8), np.complex64)


def expect_complex_power_of_zero(_x, y, _out):
    """The limit for z -> 0, as NumPy 2 has it."""
    powers = np.where(y == 0, 1, np.where(y.real > 0, 0, complex(np.nan, np.nan)))
    return {2: np.stack([powers] * 2).astype(np.complex64)}


COMPLEX_FUNCTIONS = (
    cmath.acos, cmath.acosh, cmath.asin, cmath.asinh, cmath.atan, cmath.atanh, cmath.cos, cmath.cosh, cmath.exp,
    cmath.log, cmath.log10, cmath.sin, cmath.sinh, cmath.sqrt, cmath.tan, cmath.tanh,
    np.exp, np.sin, np.sqrt, np.exp2, np.expm1, np.log1p, np.log2, np.conjugate,
)  # fmt: skip
CMATH_AS_NUMPY = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
}


def complex_case(function, dtype):
    def apply(x, out):
        i = gpu.grid(1)
        out[i] = function(x[i])

    reference = getattr(np, CMATH_AS_NUMPY.get(function.__name__, function.__name__))
    module = "numpy" if isinstance(function, np.ufunc) else "cmath"

    def make_args(rng):
        return (rng.uniform(0.1, 2, N) + 1j * rng.uniform(-2, 2, N)).astype(dtype), np.zeros(N, dtype)

    return Case(
        apply,
        make_args,
        lambda x, out: {1: reference(x.astype(np.complex128)).astype(dtype)},
        block=N,
        name=f"{module}_{function.__name__}_{np.dtype(dtype).name}",
        rtol=4 * ULPS * float(np.finfo(dtype).eps),
        tolerance="a handful of real functions, each as above",
        needs=frozenset({"float64"} if dtype is np.complex128 else ()),
    )


def two_reals_case(dtype):
    def make_args(rng):
        return rng.uniform(0.5, 9, N).astype(dtype), rng.uniform(0.5, 3, N).astype(dtype), np.zeros((8, N), dtype)

    return Case(
        two_reals,
        make_args,
        expect_two_reals,
        block=N,
        rtol=ULPS * float(np.finfo(dtype).eps),
        tolerance=WHY,
        needs=frozenset({"float64"} if dtype is np.float64 else ()),
        name=f"two_reals_{np.dtype(dtype).name}",
    )


def values_of(dtype):
    info = np.finfo(dtype)
    tiny = float(info.smallest_subnormal)
    return np.array([0, -0.0, 1.5, -2.75, 1e6 + 0.5, info.max, info.tiny, 3 * tiny, -info.max], dtype)


def taken_apart_case(dtype):
    return Case(
        taken_apart,
        lambda _rng: (values_of(dtype), np.zeros((8, 9), dtype)),
        expect_taken_apart,
        block=9,
        needs=frozenset({"float64"} if dtype is np.float64 else ()),
        name=f"taken_apart_{np.dtype(dtype).name}",
    )


def scaled_case(dtype):
    """Up to overflow and down past the subnormal numbers, rounded once."""
    exponents = np.array([-2200, -1080, -1074, -1000, -150, -149, -126, -3, 0, 5, 127, 300, 1023, 2200], np.int32)
    x = np.array([1.0, 1.75, -3.0], dtype)

    def make_args(_rng):
        n = np.repeat(exponents, 3)
        return np.tile(x, len(exponents)), n, np.zeros(n.size, dtype)

    def expected(x, n, out):
        with np.errstate(over="ignore", under="ignore"):
            return {2: np.ldexp(x, n)}

    return Case(
        scaled,
        make_args,
        expected,
        block=42,
        needs=frozenset({"float64"} if dtype is np.float64 else ()),
        name=f"scaled_{np.dtype(dtype).name}",
    )


CASES = (
    *(reals_case(*row, dtype) for row in REALS for dtype in (np.float32, np.float64)),
    *map(two_reals_case, (np.float32, np.float64)),
    Case(
        special_values,
        lambda _rng: (np.array([0, -0.0, 1, np.inf, -np.inf, np.nan], np.float32), np.zeros((2, 6), np.int32)),
        expect_special_values,
        block=6,
    ),
    *map(taken_apart_case, (np.float32, np.float64)),
    *map(scaled_case, (np.float32, np.float64)),
    Case(
        neighbours,
        lambda _rng: (
            np.array([1, 1, 0, -1e-40, 3e38, -0.0, -1], np.float32),
            np.array([2, 0, 1, 0, np.inf, 1, 0], np.float32),
            np.zeros((3, 7), np.float32),
        ),
        lambda x, y, out: {2: np.stack([np.nextafter(x, y), np.nextafter(x, y), np.spacing(x)])},
        block=7,
    ),
    Case(
        integer_arguments,
        lambda rng: (rng.integers(1, 10**6, N), np.zeros((4, N), np.float64)),
        expect_integer_arguments,
        block=N,
        rtol=2 * float(np.finfo(np.float64).eps),
        tolerance="hypot is within one unit in the last place",
        needs=frozenset({"float64"}),
    ),
    Case(
        complex_arithmetic,
        lambda rng: (
            rng.uniform(0.5, 3, N).astype(np.float32),
            rng.uniform(0.5, 3, N).astype(np.float32),
            np.zeros((4, N), np.complex64),
            np.zeros((2, N), np.float32),
        ),
        expect_complex_arithmetic,
        block=N,
        rtol=2e-6,
        tolerance="products and their differences in float32",
    ),
    Case(complex_quotients, make_complex_quotients, expect_complex_quotients, block=112),
    Case(
        complex_power,
        lambda _rng: (
            np.array([0.7 + 0.3j, 2, 1j, -1 + 0.1j], np.complex64),
            np.array([0.7 + 0.3j, 2, 1, 2.5], np.complex64),
            np.zeros((3, 4), np.complex64),
        ),
        lambda x, y, out: {2: expected_complex_power(x, y)},
        block=4,
        rtol=2e-6,
        tolerance="a product of real functions in float32",
    ),
    Case(complex_power_of_zero, make_complex_power_of_zero, expect_complex_power_of_zero, block=8),
    *(complex_case(f, dtype) for f in COMPLEX_FUNCTIONS for dtype in (np.complex64, np.complex128)),
)
