"""`print` in kernels: whole lines on sys.stdout at synchronisation, as Python's own print writes them."""

from __future__ import annotations

import enum
from collections import namedtuple

import numpy as np
import pytest
from numba.core.errors import TypingError

import numba_metal
from numba_gpucore.base.print_ring import RECORD_HEAD_WORDS, RING_WORDS
from tests.levels import LEVELS, opened_level

Point = namedtuple("Point", "x y")


@pytest.fixture(params=LEVELS)
def gpu_jit(request):
    """A decorator for each place where kernels can run here."""
    with opened_level(request.param) as level:
        yield level.jit


def test_numbers_texts_and_tuples(gpu_jit, capsys):
    """The expected text is what Python's print writes for the same values."""

    @gpu_jit
    def kernel(x, h, n, point):
        print("values", x[0], h[0], n, -n, x[0] > 0, None, ("a", (n, x[0]), (n,)), point)

    x, h = np.array([0.1], np.float32), np.array([0.3], np.float16)
    kernel[1, 1](x, h, np.int32(7), Point(1, np.float32(2.5)))
    assert capsys.readouterr().out == "values 0.1 0.3 7 -7 True None ('a', (7, 0.1), (7,)) Point(x=1, y=2.5)\n"


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = -1
    HIGH = 2


def test_members_of_enums(gpu_jit, capsys):
    """The expected text is what Python's print writes for the same values."""

    @gpu_jit
    def kernel(x, colour, level):
        print(Colour.RED, colour, (colour, 1), level, (Level.LOW,), f"{colour!r} {Level.LOW:>5}|{colour:<12}|", sep=";")

    kernel[1, 1](np.zeros(1, np.float32), Colour.BLUE, Level.HIGH)
    formatted = f"{Colour.BLUE!r} {Level.LOW:>5}|{Colour.BLUE:<12}|"
    print(Colour.RED, Colour.BLUE, (Colour.BLUE, 1), Level.HIGH, (Level.LOW,), formatted, sep=";")
    ours, _, wanted = capsys.readouterr().out.partition("\n")
    assert ours == wanted.rstrip("\n")


class Spoken(enum.IntEnum):
    ONE = 1
    TWO = 2

    def __str__(self):
        return f"number {self.name}"

    def __repr__(self):
        return f"<{self.name}>"

    def __format__(self, spec):
        return f"{self.name.lower()}{spec}"


def test_members_that_say_how_they_read(gpu_jit, capsys):
    """print asks for str, a tuple for repr, an f-string for format, as Python does."""

    @gpu_jit
    def kernel(x, member):
        print(member, (member, 1), f"{member} {member!s} {member:x}", Spoken.TWO)

    kernel[1, 1](np.zeros(1, np.float32), Spoken.ONE)
    member = Spoken.ONE
    print(member, (member, 1), f"{member} {member!s} {member:x}", Spoken.TWO)
    ours, _, wanted = capsys.readouterr().out.partition("\n")
    assert ours == wanted.rstrip("\n")


def test_separator_end_and_fstring(gpu_jit, capsys):
    @gpu_jit
    def kernel(x, i):
        print(f"[{i}] is {x[i]}", i + 1, sep=", ", end=";")
        text = f"{i}{i}"
        print(text)
        print()
        print("only text")

    kernel[1, 1](np.array([1.5, 0.7], np.float32), 1)
    assert capsys.readouterr().out == "[1] is 0.7, 2;11\n\nonly text\n"


def test_complex_numbers(gpu_jit, capsys):
    """The expected texts are NumPy's and Python's for the same values."""

    @gpu_jit
    def kernel(z, one):
        for i in range(z.size):
            print(z[i], (one, -z[i]), 1.5j, f"{z[i]:.2f}|{z[i]!s:>12}|", z[i].imag)

    z = np.array([1 + 2j, complex(-0.0, 0.1), 2j, complex("nan+infj"), 1e20 - 0.3j], np.complex64)
    kernel[1, 1](z, 3 - 4j)
    expected = [f"{x!s} ((3-4j), {-x!s}) 1.5j {complex(x):.2f}|{x!s:>12}| {x.imag!s}" for x in z]
    assert capsys.readouterr().out.splitlines() == expected


def test_wide_complex_numbers(capsys):
    """A number of two words, on the targets that have them."""
    for name in ("ptxplus on cpu", "ptx machine"):
        with opened_level(name) as level:

            @level.jit
            def kernel(z):
                print(1, z[0], 2, (z[1], True))
                print(f"{z[0]:.3f}", z[1] * 2)

            z = np.array([1 / 3 - 1e-300j, complex(-0.0, 7)])
            kernel[1, 1](z)
            (first, second) = (complex(x) for x in z)
            expected = f"1 {first} 2 ({second}, True)\n{first:.3f} {second * 2}\n"
            assert capsys.readouterr().out == expected, name


def test_unpacked_tuples(gpu_jit, capsys):
    """The expected text is what Python's print writes for the same values."""

    @gpu_jit
    def kernel(x, pair, nothing):
        print(*pair)
        print("a", *pair, f"<{x[0]}>", *(x[0], x[1]), *nothing)
        print(*nothing)
        print(*pair, *pair)
        print((), (pair, ("a",)), flush=True)

    kernel[1, 1](np.array([3, 4], np.int32), (1, True), ())
    assert capsys.readouterr().out == "1 True\na 1 True <3> 3 4\n\n1 True 1 True\n() ((1, True), ('a',))\n"


def test_formats_of_fstrings(gpu_jit, capsys):
    """The expected texts are Python's for the same values; `h` and `x` have few digits in their own widths."""

    @gpu_jit
    def kernel(x, h, n):
        print(f"{x[0]:.3f}|{x[0]:+.1e}|{x[0]:>8}|{h[0]:.4f}|{h[0]!r:>8}|{x[0]!s}|")
        print(f"{n:>6d}|{n:x}|{n:,}|{n:08b}|{n=}|{n!r:^7}|{n > 5:d}|", f"{'text':>8}|{'quoted'!r}|{{}}")

    x, h, n = np.array([0.1], np.float32), np.array([0.3], np.float16), 1234567
    kernel[1, 1](x, h, np.int32(n))
    first, second = capsys.readouterr().out.splitlines()
    single, half = float(x[0]), float(h[0])
    assert first == f"{single:.3f}|{single:+.1e}|{single:>8}|{half:.4f}|{'0.3':>8}|0.1|"
    assert second == f"{n:>6d}|{n:x}|{n:,}|{n:08b}|{n=}|{n!r:^7}|{n > 5:d}| {'text':>8}|{'quoted'!r}|{{}}"


def test_a_text_keeps_the_values_that_it_was_made_of(gpu_jit, capsys):
    @gpu_jit
    def kernel(x):
        value = x[0]
        text = f"[{value} {value:.1f}]"
        for i in range(3):
            value = x[i]
            print(text, value)

    kernel[1, 1](np.array([1.5, 2.5, 3.5], np.float32))
    assert capsys.readouterr().out == "[1.5 1.5] 1.5\n[1.5 1.5] 2.5\n[1.5 1.5] 3.5\n"


def test_widest_integers(gpu_jit, capsys):
    @gpu_jit
    def kernel(x, y):
        print(x[0], y[0])

    kernel[1, 1](np.array([-(2**63)]), np.array([2**64 - 1], np.uint64))
    assert capsys.readouterr().out == f"{-(2**63)} {2**64 - 1}\n"


def test_lines_are_whole_and_in_order_within_a_thread(gpu_jit, capsys):
    @gpu_jit
    def kernel(x):
        i = numba_metal.grid(1)
        for k in range(3):
            print(i, k, x[i])

    kernel[2, 32](np.arange(64, dtype=np.int32))
    lines = [tuple(map(int, line.split())) for line in capsys.readouterr().out.splitlines()]
    assert sorted(lines) == [(i, k, i) for i in range(64) for k in range(3)]
    for i in range(64):
        assert [k for thread, k, _x in lines if thread == i] == [0, 1, 2]


def test_text_before_an_exception_is_printed(gpu_jit, capsys):
    @gpu_jit
    def kernel(x):
        print("before", x[0])
        if x[0] > 0:
            raise ValueError("positive")

    with pytest.raises(ValueError, match="positive"):
        kernel[1, 1](np.array([3], np.int32))
    assert capsys.readouterr().out == "before 3\n"


def test_overflow_says_how_many_lines_were_lost(gpu_jit, capsys):
    """A record takes the head and two words for each number; what fits is printed, twice in a row."""
    row = tuple(range(100))
    fits = RING_WORDS // (RECORD_HEAD_WORDS + 2 * (len(row) + 1))
    threads, rounds = 64, 12

    @gpu_jit
    def kernel(n):  # an array, so that the launch waits
        for _ in range(n[0]):
            print(numba_metal.grid(1), *row)

    for _ in range(2):
        kernel[1, threads](np.array([rounds], np.int32))
        *lines, last = capsys.readouterr().out.splitlines()
        assert len(lines) == fits
        tail = "".join(f" {number}" for number in row)
        assert all(line.endswith(tail) and 0 <= int(line.removesuffix(tail)) < threads for line in lines)
        lost = threads * rounds - fits
        assert last.endswith(f"{lost} lines lost, the buffer for print was full; synchronize more often]")


def test_what_cannot_be_printed_is_named(gpu_jit):
    @gpu_jit
    def kernel(x):
        print(x)

    with pytest.raises(TypingError, match=r"print in a kernel cannot write a value of type .*[aA]rray"):
        kernel[1, 1](np.zeros(2, np.float32))
