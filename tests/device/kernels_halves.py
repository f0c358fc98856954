"""float16: arithmetic that rounds as NumPy's at each step, conversions, comparisons, functions, atomics, places."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from numba_gpucore import fp16
from numba_gpucore import language as gpu
from numba_gpucore.dtypes import float16, float32, int8, int16, int32, int64, uint8
from tests.device.catalogue import Case

N = 128
#: Zeros, the ends of subnormals and normals, the middle below overflow, infinities, NaN, and what lies between.
SPECIAL = np.array(
    [0.0, -0.0, 2**-24, -(2**-24), 2**-14 - 2**-24, 2**-14, 1.0, -1.0, 1 + 2**-10, 0.1, 2048.0, 65504.0, -65504.0,
     np.inf, -np.inf, np.nan],
    np.float16,
)  # fmt: skip


def all_pairs(rng):
    """Every pair of SPECIAL, then random halves of all magnitudes."""
    patterns = rng.integers(0, 2**16, (2, 2 * N), np.uint16).view(np.float16)
    x, y = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    return np.concatenate([x, patterns[0]]), np.concatenate([y, patterns[1]])


def arithmetic(x, y, out):
    i = gpu.grid(1)
    a, b = x[i], y[i]
    out[0, i] = a + b
    out[1, i] = a - b
    out[2, i] = a * b
    out[3, i] = a / b
    out[4, i] = a * b + a
    out[5, i] = -a * b - b
    out[6, i] = abs(a) + (+b)
    out[7, i] = math.sqrt(a)
    out[8, i] = np.sqrt(np.add(a, b))
    out[9, i] = np.maximum(a, b)


def expect_arithmetic(x, y, out):
    with np.errstate(all="ignore"):
        rows = [x + y, x - y, x * y, x / y, x * y + x, -x * y - y, np.abs(x) + y, np.sqrt(x), np.sqrt(x + y)]
        return {2: np.stack([*rows, np.maximum(x, y)])}


def division(x, y, out):
    i = gpu.grid(1)
    out[0, i] = x[i] // y[i]
    out[1, i] = x[i] % y[i]
    quotient, remainder = divmod(x[i], y[i])
    out[2, i] = quotient
    out[3, i] = remainder
    out[4, i] = np.fmod(x[i], y[i])


def expect_division(x, y, out):
    # Whole quotients beyond a half's 11 bits: NumPy divides as floats, so there the remainder tells little.
    return {2: np.stack([x // y, x % y, x // y, x % y, np.fmod(x, y)])}


def comparisons(x, y, out):
    i = gpu.grid(1)
    a, b = x[i], y[i]
    out[0, i] = a < b
    out[1, i] = a <= b
    out[2, i] = a > b
    out[3, i] = a >= b
    out[4, i] = a == b
    out[5, i] = a != b
    out[6, i] = bool(a)
    out[7, i] = a < float32(y[i]) + float32(2.0**-20)
    out[8, i] = math.isnan(a)
    out[9, i] = np.isfinite(a)
    out[10, i] = np.signbit(a)


def expect_comparisons(x, y, out):
    with np.errstate(invalid="ignore"):
        moved = y.astype(np.float32) + np.float32(2.0**-20)
    rows = [x < y, x <= y, x > y, x >= y, x == y, x != y, x.astype(bool), x.astype(np.float32) < moved]
    return {2: np.stack([*rows, np.isnan(x), np.isfinite(x), np.signbit(x)])}


def to_halves(b, s, i, q, u, f, out):
    k = gpu.grid(1)
    out[0, k] = float16(b[k])
    out[1, k] = np.float16(s[k])
    out[2, k] = i[k]
    out[3, k] = float16(q[k])
    out[4, k] = float16(u[k])
    out[5, k] = float16(f[k])
    out[6, k] = float16(b[k] > 0)


def halfway_floats(rng):
    """Floats in the middle of two halves, and their neighbours; overflow begins at 65520."""
    halves = rng.integers(0, 0x7BFF, N // 4, np.uint16)
    middle = (halves.view(np.float16).astype(np.float64) + (halves + 1).view(np.float16).astype(np.float64)) / 2
    middle = middle.astype(np.float32)
    floats = [middle, np.nextafter(middle, np.float32(np.inf)), -np.nextafter(middle, np.float32(0))]
    edges = np.array([65519.99, 65520, -65520, 2**-25, 2**-25 * 1.000001, np.inf, np.nan, 1e-40], np.float32)
    return np.concatenate([*floats, np.resize(edges, N // 4)])


def make_numbers(rng):
    ranges = [(np.int8, -128, 128), (np.int16, -32768, 32768), (np.int32, -70000, 70000), (np.int64, -(2**62), 2**62)]
    integers = [rng.integers(low, high, N, type_) for type_, low, high in ranges]
    unsigned = np.concatenate([rng.integers(0, 70000, N - 2, np.uint64), np.array([2**64 - 1, 65519], np.uint64)])
    return *integers, unsigned, halfway_floats(rng), np.zeros((7, N), np.float16)


def expect_to_halves(b, s, i, q, u, f, out):
    with np.errstate(over="ignore"):
        return {6: np.stack([v.astype(np.float16) for v in (b, s, i, q, u, f, b > 0)])}


def from_halves(x, integers, floats):
    i = gpu.grid(1)
    integers[0, i] = int8(x[i])
    integers[1, i] = uint8(abs(x[i]))
    integers[2, i] = int16(x[i])
    integers[3, i] = int32(x[i])
    integers[4, i] = int64(x[i])
    integers[5, i] = int(x[i])
    integers[6, i] = round(x[i])
    integers[7, i] = math.floor(x[i])
    integers[8, i] = math.ceil(x[i])
    floats[0, i] = x[i]
    floats[1, i] = np.rint(x[i])
    floats[2, i] = round(x[i], 1)
    floats[3, i] = float(x[i])


def expect_from_halves(x, integers, floats):
    whole = [x.astype(t).astype(np.int64) for t in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.int64)]
    whole[1] = np.abs(x).astype(np.int64)
    whole += [f(x).astype(np.int64) for f in (np.rint, np.floor, np.ceil)]
    return {1: np.stack(whole), 2: np.stack([x, np.rint(x), np.round(x, 1), x]).astype(np.float32)}


def fused(x, y, z, out):
    i = gpu.grid(1)
    out[i] = gpu.fma(x[i], y[i], z[i])


def exact_fma(x: float, y: float, z: float) -> np.float16:
    """x * y + z of finite numbers, rounded once: half to even by Fraction's own rule."""
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return np.float16(np.float64(x) * np.float64(y) + np.float64(z))
    exponent = max(math.floor(math.log2(abs(float(exact)))), -14)
    scale = Fraction(2) ** (exponent - 10)
    rounded = round(exact / scale) * scale
    return np.float16(math.inf if abs(rounded) > 65504 else float(abs(rounded))) * np.float16(1 if exact > 0 else -1)


def make_fma(rng):
    """Random halves, and products whose last bits lie on the middle of two sums."""
    x, y, z = (rng.integers(0, 2**15 - 2**10, N, np.uint16).view(np.float16) for _ in range(3))
    x[:32] = np.float16(1 + 2**-10)
    y[:32] = 2.0 ** rng.integers(-13, -9, 32) * (1 + 2.0**-10 * rng.integers(0, 3, 32))
    z[:32] = 1 + 2.0**-10 * rng.integers(0, 4, 32)
    x[32:80] *= rng.choice([-1, 1], 48).astype(np.float16)
    return x, y, z, np.zeros(N, np.float16)


def expect_fma(x, y, z, out):
    return {3: np.array([exact_fma(*map(float, triple)) for triple in zip(x, y, z, strict=True)], np.float16)}


def mixed(x, b, f, wide, out):
    """A half beside int8 stays one; beside float32 or a wider integer it does not."""
    i = gpu.grid(1)
    out[0, i] = x[i] * b[i] + b[i]
    out[1, i] = x[i] * f[i]
    out[2, i] = x[i] + int16(b[i])
    wide[i] = x[i] * f[i]


def expect_mixed(x, b, f, wide, out):
    rows = [x * b + b, (x * f).astype(np.float16), (x.astype(np.float32) + b.astype(np.int16)).astype(np.float16)]
    return {3: x * f, 4: np.stack(rows)}


def functions(x, y, out):
    i = gpu.grid(1)
    out[0, i] = math.exp(x[i])
    out[1, i] = math.sin(x[i])
    out[2, i] = math.log(y[i])
    out[3, i] = np.tanh(x[i])
    out[4, i] = math.atan2(x[i], y[i])
    out[5, i] = y[i] ** x[i]
    out[6, i] = np.exp2(x[i])


def expect_functions(x, y, out):
    a, b = x.astype(np.float64), y.astype(np.float64)
    rows = [np.exp(a), np.sin(a), np.log(b), np.tanh(a), np.arctan2(a, b), b**a, np.exp2(a)]
    return {2: np.stack(rows).astype(np.float16)}


def neighbours(x, y, n, out):
    i = gpu.grid(1)
    out[0, i] = np.nextafter(x[i], y[i])
    out[1, i] = np.spacing(x[i])
    mantissa, exponent = math.frexp(x[i])
    out[2, i] = mantissa
    out[3, i] = exponent
    out[4, i] = math.ldexp(x[i], n[i])
    fraction, whole = math.modf(x[i])
    out[5, i] = fraction
    out[6, i] = whole
    out[7, i] = np.copysign(x[i], y[i])
    out[8, i] = x[i] ** 3
    out[9, i] = x[i] ** n[i]


def expect_neighbours(x, y, n, out):
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(x)
        fraction, whole = np.modf(x)
        rows = [np.nextafter(x, y), np.spacing(x), mantissa, exponent, np.ldexp(x, n), fraction, whole]
        wide = x.astype(np.float32)
        powers = [(wide * wide * wide).astype(np.float16), np.power(wide, n.astype(np.float32)).astype(np.float16)]
        return {3: np.stack([*rows, np.copysign(x, y), *powers]).astype(np.float16)}


def make_neighbours(rng):
    x = np.ldexp(rng.integers(-2047, 2048, N), rng.integers(-20, 3, N)).astype(np.float16)
    x[x == 0] = 1
    y = rng.normal(size=N).astype(np.float16)
    n = rng.integers(-3, 4, N, np.int32)
    x[:12] = [2**-24, -(2**-24), 2**-14, 65504, -65504, 1, -1, 2, -2, 1024, 0.5, 3]
    return x, y, n, np.zeros((10, N), np.float16)


def aliases(x, y, out, flags):
    i = gpu.grid(1)
    a, b = x[i], y[i]
    out[0, i] = fp16.hfma(fp16.hadd(a, b), fp16.hsub(a, b), fp16.hmul(a, b))
    out[1, i] = fp16.hdiv(fp16.hneg(a), fp16.habs(b))
    out[2, i] = fp16.hmax(a, b)
    out[3, i] = fp16.hmin(a, b)
    out[4, i] = fp16.hceil(a)
    out[5, i] = fp16.hfloor(a)
    out[6, i] = fp16.hrint(a)
    out[7, i] = fp16.htrunc(a)
    out[8, i] = fp16.hsqrt(b)
    out[9, i] = fp16.hrcp(b)
    out[10, i] = fp16.hrsqrt(b)
    flags[0, i] = fp16.heq(a, b)
    flags[1, i] = fp16.hne(a, b)
    flags[2, i] = fp16.hlt(a, b)
    flags[3, i] = fp16.hle(a, b)
    flags[4, i] = fp16.hgt(a, b)
    flags[5, i] = fp16.hge(a, b)


def expect_aliases(x, y, out, flags):
    with np.errstate(all="ignore"):
        total, difference, product = x + y, x - y, x * y
        fused = [exact_fma(*map(float, t)) for t in zip(total, difference, product, strict=True)]
        one = np.float32(1)
        rows = [fused, -x / np.abs(y), np.fmax(x, y), np.fmin(x, y), np.ceil(x), np.floor(x), np.rint(x), np.trunc(x)]
        roots = [np.sqrt(y), one / y.astype(np.float32), one / np.sqrt(y.astype(np.float32))]
        differs = (x != y) & ~np.isnan(x) & ~np.isnan(y)
    return {
        2: np.stack([*rows, *roots]).astype(np.float16),
        3: np.stack([x == y, differs, x < y, x <= y, x > y, x >= y]),
    }


def make_aliases(rng):
    x, y = (rng.normal(size=(2, N)) * 3).astype(np.float16)
    y[: N // 2] = np.abs(y[: N // 2])
    y[-8:] = x[-8:]
    return x, y, np.zeros((11, N), np.float16), np.zeros((6, N), np.bool_)


def function_aliases(x, y, out):
    i = gpu.grid(1)
    out[0, i] = fp16.hsin(x[i])
    out[1, i] = fp16.hcos(x[i])
    out[2, i] = fp16.htanh(x[i])
    out[3, i] = fp16.hexp(x[i])
    out[4, i] = fp16.hexp2(x[i])
    out[5, i] = fp16.hexp10(x[i])
    out[6, i] = fp16.hlog(y[i])
    out[7, i] = fp16.hlog2(y[i])
    out[8, i] = fp16.hlog10(y[i])


def expect_function_aliases(x, y, out):
    a, b = x.astype(np.float64), y.astype(np.float64)
    rows = [np.sin(a), np.cos(a), np.tanh(a), np.exp(a), np.exp2(a), 10**a, np.log(b), np.log2(b), np.log10(b)]
    return {2: np.stack(rows).astype(np.float16)}


def pairs_and(*rows, dtype=np.float16):
    def make(rng):
        x, y = all_pairs(rng)
        return x, y, np.zeros((*rows, x.size), dtype)

    return make


def make_division(rng):
    x, y = (rng.normal(size=(2, N)) * [[50], [4]]).astype(np.float16)
    return x, y, np.zeros((5, N), np.float16)


def make_from_halves(rng):
    x = (rng.integers(-250, 250, N) / 2).astype(np.float16)
    return x, np.zeros((9, N), np.int64), np.zeros((4, N), np.float32)


def make_mixed(rng):
    x, f = rng.normal(size=(2, N))
    wide, out = np.zeros(N, np.float32), np.zeros((3, N), np.float16)
    return x.astype(np.float16), rng.integers(-9, 9, N, np.int8), f.astype(np.float32), wide, out


def make_functions(rng, rows=7):
    x = rng.normal(size=N).astype(np.float16)
    return x, np.abs(x[::-1]) + np.float16(0.25), np.zeros((rows, N), np.float16)


FUNCTIONS_ROUND = "computed in float32 and rounded: at most 0.51 ulp, so one ulp from the rounded exact value"
PAIRS = {"grid": 4, "block": 128}
CASES = [
    Case(arithmetic, pairs_and(10), expect_arithmetic, **PAIRS, name="half_arithmetic"),
    Case(division, make_division, expect_division, block=N, name="half_division"),
    Case(comparisons, pairs_and(11, dtype=np.bool_), expect_comparisons, **PAIRS, name="half_comparisons"),
    Case(to_halves, make_numbers, expect_to_halves, block=N),
    Case(from_halves, make_from_halves, expect_from_halves, block=N),
    Case(fused, make_fma, expect_fma, block=N, name="half_fma"),
    Case(mixed, make_mixed, expect_mixed, block=N, name="half_mixed"),
    Case(functions, make_functions, expect_functions, block=N, rtol=2**-10, atol=2**-24, tolerance=FUNCTIONS_ROUND,
         name="half_functions"),
    Case(neighbours, make_neighbours, expect_neighbours, block=N, name="half_neighbours"),
    Case(aliases, make_aliases, expect_aliases, block=N, name="half_aliases"),
    Case(function_aliases, lambda rng: make_functions(rng, 9), expect_function_aliases, block=N, rtol=2**-10,
         atol=2**-24, tolerance=FUNCTIONS_ROUND, name="half_function_aliases"),
]  # fmt: skip
