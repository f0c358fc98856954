"""Integers and bits: wrapping, shifts, division, conversions, powers; popc, brev, clz, ffs, selp; rounding."""

from __future__ import annotations

import numpy as np

from numba_gpucore import language as gpu
from numba_gpucore.dtypes import int8, int32, uint8, uint32, uint64
from tests.device.catalogue import Case


def bit_counts(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[0, i] = gpu.popc(x[i])
        out[1, i] = gpu.clz(x[i])
        out[2, i] = gpu.ffs(x[i])
        out[3, i] = x[i].bit_count()


def expect_bit_counts(x, out):
    width = x.dtype.itemsize * 8
    pattern = [int(v) % 2**width for v in x]
    popc = [v.bit_count() for v in pattern]
    clz = [width - v.bit_length() for v in pattern]
    ffs = [(v & -v).bit_length() for v in pattern]
    return {1: np.array([popc, clz, ffs, [abs(int(v)).bit_count() for v in x]], np.int64)}


def reversed_bits(x, y, out):
    i = gpu.grid(1)
    out[0, i] = gpu.brev(x[i])
    out[1, i] = gpu.brev(y[i])


def reverse_bits(value, width):
    return int(f"{int(value):0{width}b}"[::-1], 2)


def expect_reversed_bits(x, y, out):
    wanted = [[reverse_bits(v, 32) for v in x], [reverse_bits(v, 64) for v in y]]
    return {2: np.array(wanted, np.uint64)}


def wrapping(x, out):
    """FNV-1a: 64-bit products wrap, and no detour through doubles."""
    i = gpu.grid(1)
    if i < out.size:
        h = uint64(14695981039346656037)
        for j in range(x.shape[1]):
            h = (h ^ uint64(x[i, j])) * uint64(1099511628211)
        out[i] = h >> uint64(1)


def expect_wrapping(x, out):
    wanted = []
    for row in x.tolist():
        h = 14695981039346656037
        for value in row:
            h = ((h ^ value) * 1099511628211) % 2**64
        wanted.append(h >> 1)
    return {1: np.array(wanted, np.uint64)}


def integer_division(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        out[0, i] = x[i] // y[i]
        out[1, i] = x[i] % y[i]
        quotient, remainder = divmod(x[i], y[i])
        out[2, i] = quotient
        out[3, i] = remainder


def expect_integer_division(x, y, out):
    quotient, remainder = np.divmod(x, y)
    return {2: np.stack([quotient, remainder, quotient, remainder])}


def float_division(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        out[0, i] = x[i] / y[i]
        out[1, i] = x[i] // y[i]
        out[2, i] = x[i] % y[i]


def expect_float_division(x, y, out):
    """Python's own: NumPy's % differs in the sign of zero. Divisors are not zero."""
    pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    return {
        2: np.array([[a / b for a, b in pairs], [a // b for a, b in pairs], [a % b for a, b in pairs]]).astype(x.dtype)
    }


def division_by_zero(x, y, out, done):
    """NumPy's error model: infinities and NaN, and the thread goes on."""
    i = gpu.grid(1)
    out[i] = x[i] / y[i]
    done[i] = 1


def shifts(x, n, out):
    i = gpu.grid(1)
    out[0, i] = x[i] << n[i]
    out[1, i] = x[i] >> n[i]
    out[2, i] = ~x[i] & 0xFF | n[i] ^ 3


def conversions(x, out):
    i = gpu.grid(1)
    out[0, i] = int8(int(x[i]))
    out[1, i] = uint8(int(x[i]))
    out[2, i] = int(x[i]) + int32(True)
    out[3, i] = uint32(int32(x[i]))
    out[4, i] = bool(x[i]) + np.int16(int(x[i]))


def expect_conversions(x, out):
    whole = x.astype(np.int64)
    rows = [
        whole.astype(np.int8),
        whole.astype(np.uint8),
        whole + 1,
        whole.astype(np.uint32),
        (x != 0) + whole.astype(np.int16),
    ]
    return {1: np.stack([row.astype(np.int64) for row in rows])}


def powers(x, n, out):
    i = gpu.grid(1)
    if i < x.size:
        out[0, i] = x[i] ** 2
        out[1, i] = x[i] ** 3
        out[2, i] = x[i] ** n[i]
        out[3, i] = n[i] ** 2
        out[4, i] = 2 ** n[i]


def expect_powers(x, n, out):
    rows = [x**2, x**3, x**n, n**2, 2**n]
    return {2: np.stack([row.astype(np.float32) for row in rows])}


def selections(a, b, out):
    i = gpu.grid(1)
    out[0, i] = gpu.selp(a[i] > b[i], a[i], b[i])
    out[1, i] = min(a[i], b[i])
    out[2, i] = max(a[i], b[i], int32(4))
    out[3, i] = abs(a[i])


def rounding(x, digits, out, whole):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = round(x[i], digits[i])
        whole[i] = round(x[i])


ROUNDED = np.array([0.125, 2.5, -1.5, 1234.5, 2e-5, 0.78, -0.375, 0.0, -0.0, 1.5, 1e-45, 1.5, -1.5, 3e38], np.float32)
DIGITS = np.array([2, 0, 0, -2, 25, 1, 2, 400, 400, 400, 400, -400, -400, 2**31 - 1], np.int32)


def make_rounding(_rng):
    return ROUNDED.copy(), DIGITS.copy(), np.zeros(ROUNDED.size, np.float32), np.zeros(ROUNDED.size, np.int64)


def expect_rounding(x, digits, out, whole):
    places = [round(float(a), int(n)) for a, n in zip(x, digits, strict=True)]
    limit = np.iinfo(np.int64).max
    return {2: np.array(places, np.float32), 3: np.array([min(round(float(a)), limit) for a in x])}


def float32_literals(x, n, out):
    """Literals and int / int beside float32."""
    i = gpu.grid(1)
    if i < x.size:
        w = 0.1 * x[i] + 1.5e-3
        if w > 0.25:
            w = w**2 - 1 / 3
        out[i] = w + n[i] / 7


#: What the compiler says of that kernel where a literal is a float64; for pytest.mark.filterwarnings.
WARNING_ABOUT_LITERALS = "ignore:kernel 'float32_literals' has no float64 data"


def expect_float32_literals(x, n, out):
    w = 0.1 * x.astype(np.float64) + 1.5e-3
    return {2: np.where(w > 0.25, w**2 - 1 / 3, w) + n / 7}


def fused(x, out):
    """x * x - x**2 rounded once is the rounding error of the square."""
    i = gpu.grid(1)
    square = x[i] * x[i]
    out[i] = gpu.fma(x[i], x[i], -square)


def expect_fused(x, out):
    square = x * x
    return {1: (x.astype(np.float64) ** 2 - square).astype(np.float32)}


def integers_case(dtype):
    info = np.iinfo(dtype)

    def make_args(rng):
        x = rng.integers(info.min, info.max, 32, dtype=dtype)
        x[:4] = [0, 1, info.max, info.min]
        return x, np.zeros((4, 32), np.int64)

    return Case(bit_counts, make_args, expect_bit_counts, name=f"bit_counts_{np.dtype(dtype).name}")


def division_case(dtype):
    def make_args(rng):
        low = 0 if np.dtype(dtype).kind == "u" else -99
        x = rng.integers(low, 100, 64).astype(dtype)
        y = rng.integers(1, 9, 64).astype(dtype)
        if low:
            y[::2] *= -1
        return x, y, np.zeros((4, 64), dtype)

    return Case(
        integer_division, make_args, expect_integer_division, block=64, name=f"integer_division_{np.dtype(dtype).name}"
    )


def float_division_case(dtype):
    def make_args(rng):
        x = [7, -7, 7, -7, 0, -0.0, 1e9, 6, -6, 1e-30, 0.3, 1.001]
        y = [3, 3, -3, -3, 5, 5, 7, 3, -3, 2, 0.1, 0.001]
        ends = [5.5, -5.5, 0.0, -0.0, np.inf, -np.inf, np.nan]
        x += [a for a in ends for _ in range(4)]
        y += [np.inf, -np.inf, 2.0, np.nan] * len(ends)
        with np.errstate(over="ignore"):
            return np.array(x).astype(dtype), np.array(y).astype(dtype), np.zeros((3, len(x)), dtype)

    return Case(
        float_division,
        make_args,
        expect_float_division,
        block=64,
        needs=frozenset({"float64"} if dtype is np.float64 else ()),
        name=f"float_division_{np.dtype(dtype).name}",
        rtol=2e-7 if dtype is np.float32 else 0.0,
        tolerance="Python divides in float64, the kernel in float32" if dtype is np.float32 else "",
    )


CASES = (
    *map(integers_case, (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)),
    Case(
        reversed_bits,
        lambda rng: (
            rng.integers(0, 2**32, 32, dtype=np.uint32),
            rng.integers(0, 2**64, 32, dtype=np.uint64),
            np.zeros((2, 32), np.uint64),
        ),
        expect_reversed_bits,
    ),
    Case(
        wrapping,
        lambda rng: (rng.integers(0, 2**31, (32, 5)).astype(np.uint32), np.zeros(32, np.uint64)),
        expect_wrapping,
    ),
    *map(division_case, (np.int8, np.int32, np.uint32, np.int64, np.uint64)),
    *map(float_division_case, (np.float16, np.float32, np.float64)),
    Case(
        division_by_zero,
        lambda _rng: (
            np.array([1, -1, 0, 6], np.float32),
            np.array([0, 0, 0, 3], np.float32),
            np.zeros(4, np.float32),
            np.zeros(4, np.int32),
        ),
        lambda x, y, out, done: {2: np.array([np.inf, -np.inf, np.nan, 2], np.float32), 3: np.ones(4)},
        block=4,
    ),
    Case(
        shifts,
        lambda rng: (rng.integers(-(2**20), 2**20, 32), rng.integers(0, 30, 32), np.zeros((3, 32), np.int64)),
        lambda x, n, out: {2: np.stack([x << n, x >> n, ~x & 0xFF | n ^ 3])},
    ),
    Case(
        conversions,
        lambda rng: (rng.integers(-(2**30), 2**30, 32).astype(np.float32), np.zeros((5, 32), np.int64)),
        expect_conversions,
    ),
    Case(
        powers,
        lambda rng: (
            rng.random(32, np.float32) + np.float32(0.5),
            rng.integers(0, 6, 32).astype(np.int32),
            np.zeros((5, 32), np.float32),
        ),
        expect_powers,
        rtol=1e-6,
        tolerance="up to five float32 products, half an ulp each",
    ),
    Case(
        selections,
        lambda rng: (*(rng.integers(-9, 9, 32, dtype=np.int32) for _ in range(2)), np.zeros((4, 32), np.int32)),
        lambda a, b, out: {2: np.stack([np.maximum(a, b), np.minimum(a, b), np.maximum(np.maximum(a, b), 4), abs(a)])},
    ),
    Case(
        rounding,
        make_rounding,
        expect_rounding,
        rtol=2e-7,
        tolerance="a decimal fraction in float32 by one product and one quotient",
    ),
    Case(
        float32_literals,
        lambda _rng: (
            np.linspace(0, 5, 200, dtype=np.float32),
            np.arange(200, dtype=np.int32),
            np.zeros(200, np.float32),
        ),
        expect_float32_literals,
        block=200,
        rtol=3e-7,
        atol=3e-7,
        tolerance="a few float32 roundings",
    ),
    Case(
        fused,
        lambda rng: (rng.random(32, np.float32), np.zeros(32, np.float32)),
        expect_fused,
    ),
)
