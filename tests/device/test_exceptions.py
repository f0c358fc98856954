"""Exceptions from kernels arrive whole, on every back-end: class, arguments, place; what kernels catch does not.

PYTEST_DONT_REWRITE: pytest would put its own calls into the asserts of kernels.
"""

from __future__ import annotations

import enum
import math

import numpy as np
import pytest

import numba_metal as gpu
from numba_gpucore.base.errors import UnsupportedKernelError


class OwnError(Exception):
    pass


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def raises_class(x):
    raise ValueError


def raises_text(x):
    raise OwnError("own text")


def raises_numbers(x):
    raise ValueError("bad cell", x.size, x.size > 2, 2.5)


def raises_fstring(x):
    i = gpu.threadIdx.x
    raise ValueError(f"cell {i} of {x.size} holds {x[i]}")


def raises_formatted(x):
    raise ValueError(f"{x.size:>5}: {x[0]:.3f}")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def raises_fstring_of_tuple(x):
    raise ValueError(f"shape {(x.size, None, 'a')} at {gpu.threadIdx}")


def raises_fstring_of_members(x, colour):
    raise ValueError(f"{colour} or {Colour.RED!r}, {colour:>12}")


def fails_assertion(x):
    assert x[0] > 0, "x must be positive"


def fails_assertion_with_fstring(x):
    assert x[0] > 0, f"x is {x[0]}"


#: Kernel, class, arguments of the exception up to the place.
RAISED = [
    (raises_class, ValueError, ""),
    (raises_text, OwnError, "own text\n"),
    (raises_fstring, ValueError, "cell 0 of 3 holds 0.0\n"),
    (raises_formatted, ValueError, "    3: 0.000\n"),
    (raises_fstring_of_tuple, ValueError, "shape (3, None, 'a') at (0, 0, 0)\n"),
    (fails_assertion, AssertionError, "x must be positive\n"),
    (fails_assertion_with_fstring, AssertionError, "x is 0.0\n"),
]


@pytest.mark.parametrize(("kernel", "cls", "text"), RAISED, ids=[kernel.__name__ for kernel, *_ in RAISED])
def test_raise(kernel, cls, text, checked_jit):
    with pytest.raises(cls) as caught:
        checked_jit(kernel)[1, 1](zeros(3))
    assert str(caught.value).startswith(f"{text}kernel '{kernel.__qualname__}' (test_exceptions.py:")
    assert type(caught.value) is cls


@pytest.mark.parametrize("options", [{}, {"debug": True, "opt": False}, {"opt": False}, {"lineinfo": True}], ids=str)
def test_raise_with_numbers(options, checked_jit):
    with pytest.raises(ValueError) as caught:
        checked_jit(raises_numbers, **options)[1, 1](zeros(3))
    assert caught.value.args == ("bad cell", 3, True, 2.5)
    (note,) = caught.value.__notes__
    assert note.startswith("kernel 'raises_numbers' (test_exceptions.py:")


def raises_tuples(x, pair):
    raise ValueError(x.shape, ("cell", x[0], (None, pair)))


def test_raise_with_tuples(checked_jit):
    with pytest.raises(ValueError) as caught:
        checked_jit(raises_tuples)[1, 1](zeros(3), (np.int32(7), True))
    assert caught.value.args == ((3,), ("cell", 0.0, (None, (7, True))))


def test_raise_with_members_of_enums(checked_jit):
    with pytest.raises(ValueError) as caught:
        checked_jit(raises_fstring_of_members)[1, 1](zeros(3), Colour.BLUE)
    assert str(caught.value).startswith(f"{Colour.BLUE} or {Colour.RED!r}, {Colour.BLUE:>12}\n")


def test_raise_with_complex_numbers_and_constants(checked_jit):
    def kernel(z):
        if z[1].imag > 0:
            raise ValueError(f"no root of {z[1]}", z[1], z[0])
        raise ValueError("constants", 2j, (1, (2j, "a")), b"ab")

    checked = checked_jit(kernel)
    with pytest.raises(ValueError) as caught:
        checked[1, 1](np.array([0.5j, 0.1 + 2j], np.complex64))
    assert caught.value.args == ("no root of (0.1+2j)", complex(np.complex64(0.1 + 2j)), 0.5j)
    with pytest.raises(ValueError) as caught:
        checked[1, 1](np.zeros(2, np.complex64))
    assert caught.value.args == ("constants", 2j, (1, (2j, "a")), b"ab")


def test_division_by_zero_follows_the_error_model(checked_jit):
    def kernel(x, y):
        x[0] = y[0] // y[1]

    numbers = np.array([3, 0], np.int32)
    checked_jit(kernel)[1, 1](zeros(1), numbers)
    with pytest.raises(ZeroDivisionError):
        checked_jit(kernel, debug=True, opt=False)[1, 1](zeros(1), numbers)


def test_complex_division_by_zero_follows_the_error_model(checked_jit):
    def kernel(z):
        z[0] = z[0] / z[1]

    numbers = np.array([3, 0], np.complex64)
    checked_jit(kernel)[1, 1](numbers)
    assert np.isinf(numbers[0])
    with pytest.raises(ZeroDivisionError, match="complex division by zero"):
        checked_jit(kernel, debug=True, opt=False)[1, 1](numbers)


def test_a_complex_quotient_by_nan_is_nan_under_both_error_models(checked_jit):
    """As CPython's: a divisor with a part that is NaN is not zero."""

    def kernel(z):
        z[0] = z[0] / z[1]

    for options in ({}, {"debug": True, "opt": False}):
        numbers = np.array([3 + 4j, complex(np.nan, 0)], np.complex64)
        checked_jit(kernel, **options)[1, 1](numbers)
        assert np.isnan(numbers[0].real) and np.isnan(numbers[0].imag)


def test_ufuncs_have_numpys_error_model_whatever_the_kernels_is(checked_jit):
    def kernel(z, n, quotients, multiples):
        quotients[0] = np.divide(z[0], z[1])
        quotients[1] = np.sign(z[2])
        multiples[0] = np.lcm(n[0], n[0])
        multiples[1] = np.floor_divide(n[1], n[0])

    z, n = np.array([3 - 4j, 0, np.nan], np.complex64), np.array([0, 5], np.int32)
    with np.errstate(all="ignore"):
        wanted = [z[0] / z[1], np.sign(z[2])]
    for options in ({"debug": True, "opt": False}, {}):
        quotients, multiples = np.zeros(2, np.complex64), np.ones(2, np.int32)
        checked_jit(kernel, **options)[1, 1](z, n, quotients, multiples)
        np.testing.assert_array_equal(quotients, wanted)
        np.testing.assert_array_equal(multiples, [0, 0])


def call_math(x, which, out):
    if which == 0:
        out[0] = math.sqrt(x[0])
    elif which == 1:
        out[0] = math.log(x[0])
    elif which == 2:
        out[0] = math.acos(x[0])
    elif which == 3:
        out[0] = math.fmod(x[0], x[1])
    elif which == 4:
        out[0] = math.pow(x[0], x[1])
    elif which == 5:
        out[0] = math.gamma(x[0])


#: Function, operands outside of its domain, others. Source of the domains: CPython itself, which is asked.
DOMAINS = [
    (math.sqrt, (-1,), (4,)),
    (math.log, (0,), (2,)),
    (math.log, (-math.inf,), (math.inf,)),
    (math.acos, (1.5,), (0.5,)),
    (math.fmod, (1, 0), (7, 4)),
    (math.pow, (0, -1), (-2, 3)),
    (math.pow, (-2, 0.5), (2, -0.5)),
    (math.gamma, (-2,), (0.5,)),
    (math.gamma, (-math.inf,), (-0.5,)),
]


def test_domain_errors_follow_the_error_model(checked_jit):
    """As Python's functions raise; a NaN that comes in goes through, and numpy's error model gives what it gives."""
    plain, debugged, out = checked_jit(call_math), checked_jit(call_math, debug=True, opt=False), zeros(1)
    numbers = {function: number for number, function in enumerate(dict.fromkeys(row[0] for row in DOMAINS))}
    for function, outside, inside in DOMAINS:
        number = np.int32(numbers[function])
        with pytest.raises(ValueError, match="math domain error"):
            function(*outside)
        with pytest.raises(ValueError, match=r"math domain error\nkernel 'call_math' \(test_exceptions.py:"):
            debugged[1, 1](np.array(outside, np.float32), number, out)
        plain[1, 1](np.array(outside, np.float32), number, out)
        assert not math.isfinite(out[0])
        debugged[1, 1](np.array(inside, np.float32), number, out)
        np.testing.assert_allclose(out[0], function(*inside), rtol=1e-6)
        debugged[1, 1](np.full(2, math.nan, np.float32), number, out)
        assert math.isnan(out[0])
    # 1 / 2**-149 is beyond float32: too large, no pole, and CPython's OverflowError
    debugged[1, 1](np.array([2.0**-149], np.float32), np.int32(numbers[math.gamma]), out)
    assert out[0] == math.inf


def logarithm(x, out):
    out[0] = math.log(x[0], x[1])


@pytest.mark.parametrize("options", [{}, {"debug": True, "opt": False}], ids=["numpy", "python"])
def test_logarithm_to_a_base(options, checked_jit):
    kernel, out = checked_jit(logarithm, **options), zeros(1)
    for x, base in [(8, 2), (0.25, 3), (1, 7), (9, 0.5)]:
        kernel[1, 1](np.array([x, base], np.float32), out)
        np.testing.assert_allclose(out[0], math.log(x, base), rtol=1e-6)


@pytest.mark.parametrize("outside", [(8, 0), (-8, 2), (8, 1)])
def test_logarithm_outside_of_its_domain(outside, checked_jit):
    """As Python's, which divides two natural logarithms; numpy's error model gives the quotient."""
    with pytest.raises((ValueError, ZeroDivisionError)) as wanted:
        math.log(*outside)
    with pytest.raises(wanted.type, match=r"kernel 'logarithm' \(test_exceptions.py:"):
        checked_jit(logarithm, debug=True, opt=False)[1, 1](np.array(outside, np.float32), zeros(1))
    out = zeros(1)
    checked_jit(logarithm)[1, 1](np.array(outside, np.float32), out)
    with np.errstate(all="ignore"):
        np.testing.assert_equal(out[0], np.divide(*np.log(np.float32(outside))))


def test_a_wrong_call_of_math_is_told_by_the_users_name(checked_jit):
    def kernel(x, out):
        out[0] = math.sqrt(x[0], 2.0)

    with pytest.raises(UnsupportedKernelError, match="'sqrt' does not take"):
        checked_jit(kernel, debug=True, opt=False)[1, 1](zeros(1), zeros(1))


class Model:
    class Bad(Exception):
        pass

    class Part:
        class Missing(KeyError):
            pass


@pytest.mark.parametrize(
    ("value", "error", "text"), [(0, Model.Bad, ""), (1, Model.Bad, "is 1.0"), (2, Model.Part.Missing, "m")]
)
def test_exception_classes_in_classes(checked_jit, value, error, text):
    class Local:
        Same = Model.Bad

    def kernel(x):
        if x[0] == 0:
            raise Local.Same
        if x[0] == 1:
            raise Model.Bad(f"is {x[0]}")
        if x[0] == 2:
            raise Model.Part.Missing("m", 2)

    with pytest.raises(error) as caught:
        checked_jit(kernel)[1, 1](np.full(1, value, np.float32))
    assert type(caught.value) is error
    assert str(caught.value.args[0]).startswith(text or "kernel ")


def test_caught_exception_stays_on_the_device(checked_jit):
    @checked_jit
    def kernel(x):
        try:
            if x[0] == 0:
                raise ValueError("caught")
            x[1] = 1
        except Exception:
            x[2] = 2

    x = zeros(3)
    kernel[1, 1](x)
    np.testing.assert_array_equal(x, [0, 0, 2])


def test_exceptions_of_called_functions_are_caught(checked_jit):
    """Raised two calls deep, by an index and by a division of Numba's; only what nobody catches reaches the host."""

    @gpu.jit(device=True)
    def item(x, i):
        if i == 2:
            raise OwnError("two")
        return x[i]

    @gpu.jit(device=True)
    def next_item(x, i):
        return item(x, i + 1) + 1

    def kernel(x, out):
        for i in range(5):
            try:
                out[i] = next_item(x, i)
            except Exception:
                out[i] = -1
        if out[5] > 0:
            out[5] = next_item(x, 7)

    x, out = np.arange(4, dtype=np.float32), zeros(6)
    checked_jit(kernel)[1, 1](x, out)
    np.testing.assert_array_equal(out, [2, -1, 4, -1, -1, 0])
    out[5] = 1
    with pytest.raises(IndexError) as caught:
        checked_jit(kernel)[1, 1](x, out)
    assert (caught.value.index, caught.value.size) == (8, 4)


def test_a_function_that_catches_is_called_inside_try(checked_jit):
    @gpu.jit(device=True)
    def inner(x, i):
        try:
            return x[i]
        except Exception:
            return x[i + 1]

    def kernel(x, out):
        for i in range(4):
            try:
                out[i] = inner(x, 2 * i - 5)
            except Exception:
                out[i] = -1

    x, out = np.arange(1, 4, dtype=np.float32), zeros(4)
    checked_jit(kernel)[1, 1](x, out)
    # x[-5] and x[-4] fail, x[-3] is 1, x[-1] is 3, x[1] is 2
    np.testing.assert_array_equal(out, [-1, 1, 3, 2])


def read_far(x, out):
    i = gpu.grid(1)
    out[i] = x[i + 8]


def test_device_stays_usable_and_nothing_piles_up(checked_jit):
    kernel = checked_jit(raises_fstring)
    for _ in range(50):
        with pytest.raises(ValueError, match="cell 0 of 3 holds"):
            kernel[1, 1](zeros(3))
    fine = checked_jit(read_far)
    out = zeros(4)
    fine[1, 4](np.arange(12, dtype=np.float32), out)
    np.testing.assert_array_equal(out, [8, 9, 10, 11])
