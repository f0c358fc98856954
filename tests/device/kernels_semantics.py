"""What integers do at their edges, alike on every device: NumPy's results, or the choice that docs/math.md states.

Operators compute in int64 or uint64, as Numba types them; NumPy's ufuncs compute in the type of their arguments.
"""

from __future__ import annotations

import numpy as np

from numba_gpucore import language as gpu
from tests.device.catalogue import Case

INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
MIXED = ((np.int64, np.uint64), (np.uint64, np.int32))
BLOCK = 192


def edges(dtype) -> np.ndarray:
    info = np.iinfo(dtype)
    negative = [info.min + 1, -1, -2, -3, -7] if info.min else []
    return np.array([info.min, *negative, 0, 1, 2, 3, 7, info.max - 1, info.max], dtype)


def word(dtype) -> type:
    """The type that operators compute in."""
    return np.uint64 if np.dtype(dtype).kind == "u" else np.int64


def pairs(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(first, second)
    return x.ravel().copy(), y.ravel().copy()


def divisions(x, y, words, own):
    i = gpu.grid(1)
    if i < x.size:
        words[0, i] = x[i] // y[i]
        words[1, i] = x[i] % y[i]
        quotient, remainder = divmod(x[i], y[i])
        words[2, i] = quotient
        words[3, i] = remainder
        own[0, i] = np.floor_divide(x[i], y[i])
        own[1, i] = np.remainder(x[i], y[i])
        own[2, i] = np.fmod(x[i], y[i])
        own[3, i] = np.gcd(x[i], y[i])
        own[4, i] = np.lcm(x[i], y[i])


def expect_divisions(x, y, words, own):
    """NumPy gives 0 for division by 0, and MIN for MIN // -1."""
    with np.errstate(all="ignore"):
        wide = np.divmod(x.astype(words.dtype), y.astype(words.dtype))
        own_rows = [*np.divmod(x, y), np.fmod(x, y), np.gcd(x, y), np.lcm(x, y)]
        return {2: np.stack([*wide, *wide]), 3: np.stack(own_rows)}


def shifts(x, n, words, own):
    i = gpu.grid(1)
    if i < x.size:
        words[0, i] = x[i] << n[i]
        words[1, i] = x[i] >> n[i]
        own[0, i] = np.left_shift(x[i], n[i])
        own[1, i] = np.right_shift(x[i], n[i])


def expect_shifts(x, n, words, own):
    """NumPy shifts everything out from the width on, and by negative counts."""
    wide, counts = x.astype(words.dtype), n.astype(words.dtype)
    rows = np.stack([np.left_shift(wide, counts), np.right_shift(wide, counts)])
    return {2: rows, 3: np.stack([np.left_shift(x, n), np.right_shift(x, n)])}


def overflows(x, y, one, words, own):
    """What follows from a sum or product, besides itself, so that a compiler which takes overflow for impossible errs:
    it "knows" that the operands, which are not negative, make a sum and product that are not negative either."""
    i = gpu.grid(1)
    if i < x.size:
        a, b = np.int64(x[i]) >> 1, np.int64(y[i]) >> 1
        if a >= 0 and b >= 0:
            words[0, i] = a * b % 1000
            words[1, i] = max(a + b, 7)
            words[2, i] = abs(a * 3) // 5
            total = a
            total += b
            total *= 3
            total -= -1 - a
            words[3, i] = (total < 0) + 2 * (a + b < a) + 4 * (a * 4 // 4 == a) + 8 * (-a - 2 - b > 0)
            c, d = np.right_shift(x[i], one[0]), np.right_shift(y[i], one[0])  # of the arrays' type
            own[0, i] = np.maximum(np.add(c, d), one[0])
            own[1, i] = np.multiply(c, d) < one[0]
            own[2, i] = np.subtract(c, np.invert(d)) < one[0]


def expect_overflows(x, y, one, words, own):
    with np.errstate(over="ignore"):
        a, b = x.astype(np.int64) >> 1, y.astype(np.int64) >> 1
        total = (a + b) * 3 + 1 + a
        signs = (total < 0) + 2 * (a + b < a) + 4 * (a * 4 // 4 == a) + 8 * (-a - 2 - b > 0)
        wide = np.stack([a * b % 1000, np.maximum(a + b, 7), abs(a * 3) // 5, signs])
        c, d = x >> 1, y >> 1
        narrow = np.stack([np.maximum(c + d, one), c * d < one, c - ~d < one])
    is_computed = (a >= 0) & (b >= 0)
    return {3: wide * is_computed, 4: narrow * is_computed}


def mixed_integers(x, y, truths, least, largest, divided, bits, rounded):
    """A signed type beside an unsigned one."""
    i = gpu.grid(1)
    if i < x.size:
        a, b = x[i], y[i]
        truths[0, i] = (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b)
        truths[1, i] = (b < a) + 2 * (b <= a) + 4 * (b > a) + 8 * (b >= a) + 16 * (b == a) + 32 * (b != a)
        truths[2, i] = ((a, 1) < (b, 2)) + 2 * (3 < a) + 4 * (3 < b) + 8 * (3 <= a <= b)
        least[i] = min(a, b, 3)
        largest[i] = max(3, b, a)
        divided[0, i], divided[1, i] = divmod(a, b)
        divided[2, i] = a // b
        divided[3, i] = a % b
        bits[i] = np.uint64(a if a > b else 5) | np.uint64(b if a == 1 else 6)
        rounded[i] = round(a)


def expect_mixed_integers(x, y, truths, *_results):
    """Python's whole numbers, of which division takes the bits as int64."""
    rows = [(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    compared = [
        [sum(bit << k for k, bit in enumerate((a < b, a <= b, a > b, a >= b, a == b, a != b))) for a, b in rows],
        [sum(bit << k for k, bit in enumerate((b < a, b <= a, b > a, b >= a, b == a, b != a))) for a, b in rows],
        [((a, 1) < (b, 2)) + 2 * (3 < a) + 4 * (3 < b) + 8 * (3 <= a <= b) for a, b in rows],
    ]
    with np.errstate(all="ignore"):
        quotient, remainder = np.divmod(x.astype(np.int64), y.astype(np.int64))
    bits = [(a if a > b else 5) % 2**64 | (b if a == 1 else 6) % 2**64 for a, b in rows]
    return {
        2: np.array(compared, np.int64),
        3: np.array([min(a, b, 3) for a, b in rows], np.int64),
        4: np.array([max(a, b, 3) for a, b in rows], np.uint64),
        5: np.stack([quotient, remainder, quotient, remainder]),
        6: np.array(bits, np.uint64),
        7: x,
    }


def true_division(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = x[i] / y[i]


def expect_true_division(x, y, out):
    with np.errstate(all="ignore"):
        return {2: (x / y).astype(out.dtype)}


def powers(x, n, out):
    i = gpu.grid(1)
    if i < x.size:
        out[0, i] = x[i] ** n[i]
        out[1, i] = x[i] ** 3


def whole_power(a: int, n: int) -> int:
    """Numba's choice for negative exponents, where NumPy raises: what truncation leaves, and int64's least for 0."""
    if n >= 0:
        return pow(a, n, 2**64)
    return -(2**63) if a == 0 else (a if n & 1 else 1) if abs(a) == 1 else 0


def expect_powers(x, n, out):
    rows = [[whole_power(int(a), int(b)) for a, b in zip(x, n, strict=True)], [int(a) ** 3 for a in x]]
    return {2: np.array([[value % 2**64 for value in row] for row in rows], np.uint64).astype(out.dtype)}


def from_floats(x, signed, unsigned, i32, u32, i16, u16, i8, u8):
    i = gpu.grid(1)
    if i < x.size:
        signed[i] = int(x[i])
        unsigned[i] = x[i]
        i32[i] = np.int32(x[i])
        u32[i] = x[i]
        i16[i] = x[i]
        u16[i] = np.uint16(x[i])
        i8[i] = x[i]
        u8[i] = x[i]


def saturated(x: float, dtype) -> int:
    """Towards zero; the nearest integer of the type, 0 for NaN. Source: LLVM Language Reference, "llvm.fptosi.sat"."""
    info = np.iinfo(dtype)
    if np.isnan(x):
        return 0
    return info.max if x >= float(info.max) + 1 else max(int(x), info.min) if np.isfinite(x) else info.min


def expect_from_floats(x, *columns):
    return {
        place: np.array([min(saturated(float(v), column.dtype), np.iinfo(column.dtype).max) for v in x], column.dtype)
        for place, column in enumerate(columns, start=1)
    }


def to_floats(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = x[i]


def rounded(x, whole, floats):
    i = gpu.grid(1)
    whole[i] = round(x[i])
    floats[0, i] = np.rint(x[i])
    floats[1, i] = round(x[i], 0)


def signs(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[0, i] = np.sign(x[i])
        out[1, i] = np.signbit(np.float32(np.sign(x[i])))  # tells zeros apart


def expect_signs(x, out):
    return {1: np.stack([np.sign(x), np.signbit(np.sign(x).astype(np.float32))]).astype(out.dtype)}


def needs(dtype) -> frozenset[str]:
    return frozenset({"float64"} if np.dtype(dtype) == np.float64 else ())


def division_case(dtype):
    def make_args(_rng):
        x, y = pairs(edges(dtype), edges(dtype))
        return x, y, np.zeros((4, x.size), word(dtype)), np.zeros((5, x.size), dtype)

    return Case(divisions, make_args, expect_divisions, block=BLOCK, name=f"edges_of_division_{dtype.__name__}")


def shift_case(dtype):
    counts = [0, 1, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127]
    counts += [-1, -2, np.iinfo(dtype).min] if np.iinfo(dtype).min else [np.iinfo(dtype).max]

    def make_args(_rng):
        x, n = pairs(edges(dtype)[:9], np.array(counts, dtype))
        return x, n, np.zeros((2, x.size), word(dtype)), np.zeros((2, x.size), dtype)

    return Case(shifts, make_args, expect_shifts, block=BLOCK, name=f"edges_of_shifts_{dtype.__name__}")


def overflow_case(dtype):
    def make_args(_rng):
        x, y = pairs(edges(dtype), edges(dtype))
        return x, y, np.ones(1, dtype), np.zeros((4, x.size), np.int64), np.zeros((3, x.size), dtype)

    return Case(overflows, make_args, expect_overflows, block=BLOCK, name=f"overflows_{dtype.__name__}")


def mixed_case(first, second):
    """Numbers that float32 or float64 cannot tell apart are among them."""

    def numbers(dtype):
        more = [v for v in (2**24, 2**24 + 1, 2**62, 2**62 + 1) if v <= np.iinfo(dtype).max]
        return np.concatenate([edges(dtype), np.array(more, dtype)])

    def make_args(_rng):
        x, y = pairs(numbers(first), numbers(second))
        shape = (4, x.size)
        results = np.zeros(x.size, np.int64), np.zeros(x.size, np.uint64), np.zeros(shape, np.int64)
        return x, y, np.zeros((3, x.size), np.int64), *results, np.zeros(x.size, np.uint64), np.zeros_like(x)

    name = f"mixed_{first.__name__}_{second.__name__}"
    return Case(mixed_integers, make_args, expect_mixed_integers, grid=2, block=BLOCK, name=name)


def true_division_case(dtype, result):
    def make_args(_rng):
        x, y = pairs(edges(dtype), edges(dtype))
        return x, y, np.zeros(x.size, result)

    is_rounded_twice = result == np.float32
    return Case(
        true_division,
        make_args,
        expect_true_division,
        block=BLOCK,
        needs=needs(result),
        name=f"edges_of_true_division_{dtype.__name__}_{result.__name__}",
        rtol=2e-7 if is_rounded_twice else 0.0,
        tolerance="without float64 the integers are rounded to float32 before" if is_rounded_twice else "",
    )


def power_case(dtype, exponent):
    info = np.iinfo(exponent)
    exponents = [0, 1, 2, 3, 7, info.max, *([-1, -2, -3, info.min] if info.min else [])]
    # beyond what a float32 can tell from its neighbours
    exponents += [n for n in (2**16 + 1, 2**24 + 1) if n <= info.max]

    def make_args(_rng):
        x, n = pairs(edges(dtype), np.array(exponents, exponent))
        both = word(dtype) if word(dtype) is word(exponent) else np.int64
        return x, n, np.zeros((2, x.size), both)

    name = "_".join(dict.fromkeys((dtype.__name__, exponent.__name__)))
    return Case(powers, make_args, expect_powers, block=BLOCK, name=f"edges_of_powers_{name}")


def from_floats_case(dtype):
    plain = [0.0, 0.9, -0.9, 1, -1, 127.9, 128, -128.9, -129, 255.7, 256, 32768, -32769, 65535.9, 65536]
    wide = [2.0**31, -(2.0**31) - 256, 2.0**32, -(2.0**32), 9.2e18, 1.8e19, 2.0**63, 2.0**64, -(2.0**63), 1e30, -1e30]
    values = [np.nan, np.inf, -np.inf, *plain, *(wide if dtype != np.float16 else [])]

    def make_args(_rng):
        with np.errstate(over="ignore"):
            x = np.array(values).astype(dtype)
        columns = (np.int64, np.uint64, np.int32, np.uint32, np.int16, np.uint16, np.int8, np.uint8)
        return x, *(np.zeros(x.size, column) for column in columns)

    return Case(from_floats, make_args, expect_from_floats, needs=needs(dtype), name=f"integers_from_{dtype.__name__}")


def to_floats_case(dtype, result):
    """NumPy rounds once, to even: 2**24 + 1 and 2**63 - 1 show it."""
    info = np.iinfo(dtype)
    more = [v for v in (2**24 + 1, 2**24 + 3, 2**53 + 1, 2**53 + 3, 2**62 + 2**38, 65519, 65520) if v <= info.max]

    def make_args(_rng):
        x = np.concatenate([edges(dtype), np.array(more, dtype)])
        return x, np.zeros(x.size, result)

    def expected(x, out):
        with np.errstate(over="ignore"):
            return {1: x.astype(out.dtype)}

    return Case(to_floats, make_args, expected, needs=needs(result), name=f"{result.__name__}_from_{dtype.__name__}")


def rounded_case(dtype):
    halves = np.array([0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, 0.49, -0.51, 1023.5, -0.0, 7.0], dtype)
    return Case(
        rounded,
        lambda _rng: (halves.copy(), np.zeros(12, np.int64), np.zeros((2, 12), dtype)),
        lambda x, whole, floats: {1: np.array([round(float(v)) for v in x]), 2: np.stack([np.rint(x)] * 2)},
        block=12,
        needs=needs(dtype),
        name=f"rounded_half_to_even_{dtype.__name__}",
    )


def signs_case(dtype):
    """Integers beyond the middle of an unsigned type are positive, and -0.0 has the sign 0.0."""
    ends = [0.0, -0.0, 2.5, -2.5, np.inf, -np.inf, *((5e-324, -5e-324) if dtype == np.float64 else ())]
    x = edges(dtype) if np.dtype(dtype).kind in "iu" else np.array(ends, dtype)
    result = dtype if np.dtype(dtype).kind == "f" else np.float32
    return Case(
        signs,
        lambda _rng: (x.copy(), np.zeros((2, x.size), result)),
        expect_signs,
        needs=needs(dtype),
        name=f"signs_{dtype.__name__}",
    )


FLOATS = (np.float16, np.float32, np.float64)
CASES = (
    *map(division_case, INTEGERS),
    *map(shift_case, INTEGERS),
    *(true_division_case(dtype, result) for dtype in (np.int8, np.int64, np.uint64) for result in FLOATS[1:]),
    *map(overflow_case, (np.int8, np.int32, np.int64)),
    *(mixed_case(*pair) for pair in MIXED),
    *(power_case(dtype, dtype) for dtype in INTEGERS),
    *(power_case(*pair) for pair in MIXED),
    *map(from_floats_case, FLOATS),
    *(to_floats_case(dtype, result) for dtype in INTEGERS[2:4] + INTEGERS[6:] for result in FLOATS),
    *map(rounded_case, FLOATS),
    *map(signs_case, (*INTEGERS, *FLOATS)),
)
