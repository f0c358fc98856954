"""The Python that Numba gives kernels: loops, tuples, enums, None, isinstance, closures, branches."""

from __future__ import annotations

import enum
from collections import namedtuple

import numpy as np
from numba import literal_unroll

from numba_gpucore import language as gpu
from numba_gpucore.dtypes import float32, int32
from tests.device.catalogue import Case

SCALE = 3
OFFSETS = (1, 10, 100)
MIXED = (1, 2.5, np.float32(0.5))
Point = namedtuple("Point", ("x", "y"))


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Planet(enum.Enum):
    """Values that are tuples."""

    EARTH = (1.0, 3)
    MARS = (0.5, 4)


class Level(enum.IntEnum):
    LOW = 3
    HIGH = 7


def loops(out):
    i = gpu.grid(1)
    total = 0
    for k in range(i):
        if k == 5:
            continue
        if k == 20:
            break
        total += k
    for k in range(10, 0, -3):
        total += k
    else:
        total += 1000
    n = i
    while n > 0:
        total += n & 1
        n >>= 1
    for a, (b, c) in enumerate(zip((1, 2, 3), OFFSETS)):  # noqa: B905
        total += a * b * c
    out[i] = total


def expect_loops(out):
    wanted = []
    for i in range(32):
        total = sum(k for k in range(min(i, 20)) if k != 5) + 10 + 7 + 4 + 1 + 1000 + i.bit_count()
        wanted.append(total + 1 * 2 * 10 + 2 * 3 * 100)
    return {0: np.array(wanted)}


def conditional_indices(x, y, out):
    """Choices inside indices, whose checks hang on values that have no name in the program."""
    i = gpu.grid(1)
    n = x.size
    if x[(y[2] if n > 3 else 1)] > 1:
        out[i] = y[(3 if y[1] > 1 else 2)]
    for j in range(n if y.size > 2 else 3):
        if x[i] > 2 and y[(x[j] and y[i]) % 4] > 1:
            out[i] += x[min(j, (y[3] if n > 4 else 2))]
        out[i] += 10 * x[i % (n if n > 2 else 3)]


def expect_conditional_indices(x, y, out):
    wanted = [y[3 if y[1] > 1 else 2] if x[y[2]] > 1 else 0 for _ in x]
    for i, value in enumerate(x):
        for j in range(4):
            if value > 2 and y[(x[j] and y[i]) % 4] > 1:
                wanted[i] += x[min(j, 2)]
            wanted[i] += 10 * value
    return {2: np.array(wanted)}


def tuples(pair, nested, out):
    i = gpu.grid(1)
    a, b = pair
    (c, d), e = nested
    t = (a, b, c)
    longer = t + (int32(7),)
    out[i] = a + b * c[i] + d + e[0] + longer[3] + len(longer)
    if i < 3:
        out[i] += OFFSETS[i]
    for value in OFFSETS:
        out[i] += value


def make_tuples(rng):
    c, e = (rng.integers(0, 9, 8, dtype=np.int32) for _ in range(2))
    return (2, 3), ((c, 5), e), np.zeros(8, np.int64)


def tuple_items(pair, nested):
    (c, _d), e = nested
    wanted = 2 + 3 * c + 5 + e[0] + 7 + 4 + 111
    wanted[:3] += OFFSETS
    return wanted


NEIGHBOURS = ((0, 1), (1, 0), (0, -1), (-1, 0))


def items_of_several_numbers(x, y, z, out):
    """Tuples whose items, picked by a number or a loop, are tuples, arrays and complex numbers."""
    i = gpu.grid(1)
    total = 0
    for dy, dx in NEIGHBOURS:
        if x[(i + dy) % 4] > y[(i + dx) % 4]:
            total += 3 * dy + dx + 10
    a, b = NEIGHBOURS[i]
    c = (z[0], z[1])[i % 2]
    out[0, i] = total
    out[1, i] = 3 * a + b
    out[2, i] = (x, y)[i % 2][i]
    out[3, i] = c.real - c.imag
    for source in (x, y):
        out[4, i] += source[3 - i]


def expect_items_of_several_numbers(x, y, z, out):
    wanted = np.zeros((5, 4))
    for i in range(4):
        for dy, dx in NEIGHBOURS:
            if x[(i + dy) % 4] > y[(i + dx) % 4]:
                wanted[0, i] += 3 * dy + dx + 10
        wanted[1, i] = 3 * NEIGHBOURS[i][0] + NEIGHBOURS[i][1]
        wanted[2, i] = (x, y)[i % 2][i]
        wanted[3, i] = z[i % 2].real - z[i % 2].imag
        wanted[4, i] = x[3 - i] + y[3 - i]
    return {3: wanted.astype(out.dtype)}


def tuple_arithmetic(out):
    i = gpu.grid(1)
    numbers = (4, 5, 6)
    out[i] = numbers[i % 3] + (1 if (1, 2) < (1, 3) else 0) + (10 if 5 in numbers else 0)


def named_tuples(p, out):
    i = gpu.grid(1)
    q = Point(p.y, p.x)
    out[i] = q.x - q.y + p[0]


def enum_of_tuples(planet, out):
    out[0] = planet == Planet.MARS
    out[1] = planet != Planet.EARTH
    out[2] = planet is Planet.EARTH


def enums(colour, level, out):
    i = gpu.grid(1)
    if colour == Colour.GREEN:
        out[i] += 1
    if level == Level.HIGH:
        out[i] += 10
    if colour is not Colour.RED:
        out[i] += 100
    out[i] += 1000 * level + Level.LOW


def enums_among_floats(x, out):
    i = gpu.grid(1)
    out[0, i] = Level.LOW
    out[1, i] = Level.HIGH * x[i] + Level.LOW
    out[2, i] = x[i] > Level.LOW
    out[3, i] = (Level.LOW, Level.HIGH)[i % 2]


def none_argument(x, bias, out):
    i = gpu.grid(1)
    if bias is None:
        out[i] = x[i]
    else:
        out[i] = x[i] + bias[i]


def optional_value(x, out):
    i = gpu.grid(1)
    best = None
    for k in range(x.size):
        if x[k] > i:
            best = x[k]
    if best is not None:
        out[i] = best


def expect_optional_value(x, out):
    wanted = [([v for v in x if v > i] or [0])[-1] for i in range(8)]
    return {1: np.array(wanted)}


def some_branches(x, out):
    """A variable that only some branches assign."""
    i = gpu.grid(1)
    if x[i] > 4:
        y = x[i] * 2
    elif x[i] > 2:
        y = x[i] + 1
    if x[i] > 2:
        out[i] = y


def type_tests(x, out):
    i = gpu.grid(1)
    if isinstance(x, int):
        out[i] = 1
    elif isinstance(x, (float, tuple)):
        out[i] = 2


def unrolled(out):
    i = gpu.grid(1)
    total = float32(0)
    for value in literal_unroll(MIXED):
        total += float32(value)
    out[i] = total


def make_scaler(shift):
    table = np.array([shift, shift + 1], np.float32)

    def closure(x, out):
        i = gpu.grid(1)
        out[i] = SCALE * x[i] + shift + table[i % 2]

    return closure


def conditionals(x, out):
    i = gpu.grid(1)
    v = x[i]
    a = 1 if (v > 3 and v != 5) or v == 0 else 2
    b = (v > 2) + (not v) * 10
    c = 0 < v < 6
    out[i] = a + 100 * b + 10_000 * c


def expect_conditionals(x, out):
    a = np.where(((x > 3) & (x != 5)) | (x == 0), 1, 2)
    return {1: a + 100 * ((x > 2) + (x == 0) * 10) + 10_000 * ((x > 0) & (x < 6))}


def scalars(i8, u16, i64, f32, f64, flag, z, out):
    i = gpu.grid(1)
    total = i8 + u16 + i64 + f32 + f64 + z.real - z.imag
    out[i] = total if flag else 0


def integers(n, *rest):
    return lambda rng: (rng.integers(0, 9, n), *(np.zeros(shape, np.int64) for shape in rest))


def of(n):
    return np.zeros(n, np.int64)


class Weight(enum.Enum):
    LIGHT = 0.5
    HEAVY = 2.5


def enums_of_floats(weight, out):
    i = gpu.grid(1)
    out[i] = Weight.LIGHT.value + weight.value + (weight == Weight.HEAVY) + 2 * (weight != Weight.LIGHT)


def membership(x, out):
    """What cannot be compared is not equal."""
    i = gpu.grid(1)
    n = x[i]
    out[i] = (
        (n in (1, 2.5, None, "a", Point(1, 2)))
        + 2 * (n not in (3, np.float32(n + 1), n + 2.0))
        + 4 * (n in Point(0, 2.0))
    )


def expect_membership(x, out):
    n = x.tolist()
    return {1: [(v in (1, 2.5, None)) + 2 * (v not in (3, v + 1, v + 2.0)) + 4 * (v in (0, 2.0)) for v in n]}


CASES = (
    Case(
        enums_of_floats,
        lambda _rng: (Weight.HEAVY, np.zeros(4, np.float32)),
        lambda w, out: {1: np.full(4, 6.0)},
        block=4,
    ),
    Case(membership, lambda _rng: (np.arange(5, dtype=np.int32), np.zeros(5, np.int32)), expect_membership, block=5),
    Case(loops, lambda _rng: (of(32),), expect_loops),
    Case(
        enums_among_floats,
        lambda _rng: (np.array([2.5, 3, 4.5, -1], np.float32), np.zeros((4, 4), np.float32)),
        lambda x, out: {1: np.stack([np.full(4, 3), 7 * x + 3, x > 3, [3, 7, 3, 7]])},
        block=4,
    ),
    Case(
        items_of_several_numbers,
        lambda rng: (
            *(rng.integers(0, 9, 4, dtype=np.int32) for _ in range(2)),
            np.array([1 + 2j, 3 - 4j], np.complex64),
            np.zeros((5, 4), np.float32),
        ),
        expect_items_of_several_numbers,
        block=4,
    ),
    Case(
        conditional_indices,
        lambda _rng: (np.array([3, 1, 2, 0]), np.array([1, 2, 2, 0]), np.zeros(4, np.int64)),
        expect_conditional_indices,
        block=4,
    ),
    Case(tuples, make_tuples, lambda pair, nested, out: {2: tuple_items(pair, nested)}, block=8),
    Case(tuple_arithmetic, lambda _rng: (of(9),), lambda out: {0: np.tile([15, 16, 17], 3)}, block=9),
    Case(named_tuples, lambda _rng: (Point(3, 10), of(4)), lambda p, out: {1: np.full(4, 10)}, block=4),
    Case(
        enum_of_tuples,
        lambda _rng: (Planet.MARS, np.zeros(3, np.int32)),
        lambda planet, out: {1: [1, 1, 0]},
        block=1,
    ),
    Case(enums, lambda _rng: (Colour.GREEN, Level.HIGH, of(4)), lambda c, n, out: {2: np.full(4, 7114)}, block=4),
    Case(
        none_argument,
        lambda rng: (rng.integers(0, 9, 8), None, of(8)),
        lambda x, bias, out: {2: x},
        block=8,
        name="none_argument_none",
    ),
    Case(
        none_argument,
        lambda rng: (rng.integers(0, 9, 8), rng.integers(0, 9, 8), of(8)),
        lambda x, bias, out: {2: x + bias},
        block=8,
        name="none_argument_array",
    ),
    Case(optional_value, integers(12, 8), expect_optional_value, block=8),
    Case(
        some_branches,
        integers(32, 32),
        lambda x, out: {1: np.where(x > 4, 2 * x, np.where(x > 2, x + 1, 0))},
    ),
    Case(type_tests, lambda _rng: (3, of(4)), lambda x, out: {1: np.ones(4)}, block=4, name="type_tests_int"),
    Case(
        type_tests,
        lambda _rng: ((1, 2), of(4)),
        lambda x, out: {1: np.full(4, 2)},
        block=4,
        name="type_tests_tuple",
    ),
    Case(unrolled, lambda _rng: (np.zeros(4, np.float32),), lambda out: {0: np.full(4, 4.0)}, block=4),
    *(
        Case(
            make_scaler(shift),
            lambda rng: (rng.integers(0, 9, 8).astype(np.float32), np.zeros(8, np.float32)),
            lambda x, out, shift=shift: {1: 3 * x + 2 * shift + np.arange(8) % 2},
            block=8,
            name=f"closure_{shift}",
        )
        for shift in (10, 20)
    ),
    Case(conditionals, integers(32, 32), expect_conditionals),
    Case(
        scalars,
        lambda _rng: (
            np.int8(-5),
            np.uint16(65535),
            2**40,
            np.float32(0.5),
            0.25,
            True,
            1 + 2j,
            np.zeros(4, np.float64),
        ),
        lambda *args: {7: np.full(4, -5 + 65535 + 2**40 + 0.75 - 1)},
        block=4,
        needs=frozenset({"float64"}),
    ),
)
