"""Python's floats and complex numbers, as literals and as arguments, beside float32 data: on Metal's targets and with
weak_literals=True on ptxplus. Expected numbers are NumPy 2's, whose scalars follow the same rule (NEP 50).
"""

from __future__ import annotations

import cmath
import math
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numba.core.errors import NumbaPerformanceWarning

import numba_metal as gpu
import numba_ptxplus
from numba_gpucore.base.errors import UnsupportedKernelError
from tests.levels import opened_level

F32 = np.float32
QUARTER = 0.25
ROTATION = 1j
X = np.arange(4, dtype=F32)
A, Z = 0.75, 1 + 2j
Limits = namedtuple("Limits", ("low", "high", "steps"))
Bounds = namedtuple("Bounds", ("low", "high"))
LIMITS, BOUNDS = Limits(0.5, 2, (0.75, 3)), Bounds(1.5, 2.5)
#: Level → options with which Python's floats are weak there.
WEAK: dict[str, dict[str, bool]] = {"metal on cpu": {}, "metal double": {}, "ptxplus on cpu": {"weak_literals": True}}


@pytest.fixture(params=WEAK)
def jit(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    with opened_level(request.param) as level:
        yield level.jit(**WEAK[request.param])


def float_argument(x, out, a, z):
    i = gpu.grid(1)
    out[i] = x[i] * a + QUARTER


def complex_argument(x, out, a, z):
    i = gpu.grid(1)
    w = ROTATION * x[i] + z
    out[i] = w.real + w.imag


def attributes_and_methods(x, out, a, z):
    i = gpu.grid(1)
    out[i] = x[i] * z.real + z.conjugate().imag + a.real + abs(z * 1j)


def conditions(x, out, a, z):
    i = gpu.grid(1)
    out[i] = x[i] + (a if a > 0.5 else -a)
    if a and z:
        out[i] += 1


def functions(x, out, a, z):
    i = gpu.grid(1)
    out[i] = math.sqrt(a) * x[i] + a**2 + round(a) + int(a) + float(a) + np.float32(a) + max(a, x[i]) + min(a, 3)
    out[i] += min(a, QUARTER) + max(QUARTER, a, 0.5) + min((a, QUARTER))


def complex_functions(x, out, a, z):
    i = gpu.grid(1)
    c = complex(x[i], 2.0)
    out[i] = (c * c).real + cmath.exp(c * z * 0).real


def variable_of_several_values(x, out, a, z):
    i = gpu.grid(1)
    t = 0.5
    for k in range(i):
        if x[k] > 1:
            t = 0.25
        elif x[k] > 0:
            t = a
    out[i] = x[i] * t


def complex_accumulator(x, out, a, z):
    i = gpu.grid(1)
    s = 0j
    for k in range(4):
        s += x[k] * 1j
    out[i] = s.imag


def tuples(x, out, a, z):
    i = gpu.grid(1)
    t = (a, 0.5, z)
    out[i] = t[0] * x[i] + t[1] + t[2].imag


def division(x, out, a, z):
    i = gpu.grid(1)
    out[i] = x[i] + a % 0.5 + a // 0.3 + math.atan2(a, 1.0)


def named_constants(x, out, a, z):
    i = gpu.grid(1)
    out[i] = LIMITS.low * x[i] + LIMITS.steps[0] + BOUNDS[i % 2] + BOUNDS.high


def numbers_in_text(x, out, a, z):
    i = gpu.grid(1)
    least = float("inf")
    for k in range(4):
        least = min(least, x[k])
    out[i] = least + (float("-inf") if x[i] > 2 else float("0.25"))


ROOT = np.sqrt(F32(A))
EXPECTED = {
    float_argument: X * F32(A) + F32(QUARTER),
    complex_argument: X + F32(Z.real) + F32(Z.imag),
    attributes_and_methods: X - F32(2) + F32(A) + F32(abs(Z)),
    conditions: X + F32(A) + F32(1),
    functions: ROOT * X + F32(A * A + 1 + 0 + A + A + A) + np.maximum(F32(A), X) + F32(QUARTER + A + QUARTER),
    complex_functions: X * X - F32(4) + F32(1),
    variable_of_several_values: X * np.array([0.5, 0.5, A, 0.25], F32),
    complex_accumulator: np.full(4, X.sum()),
    tuples: F32(A) * X + F32(0.5) + F32(2),
    named_constants: F32(0.5) * X + F32(0.75) + np.array([1.5, 2.5, 1.5, 2.5], F32) + F32(2.5),
    numbers_in_text: np.array([0.25, 0.25, 0.25, -np.inf], F32),
    division: X + F32(0.25) + F32(2) + np.arctan(F32(A)),
}


@pytest.mark.parametrize("kernel", EXPECTED, ids=lambda kernel: kernel.__name__)
def test_kernel(kernel: Callable[..., None], jit: Callable[..., Any]) -> None:
    """Sums may round in another order: a few units in the last place."""
    out = np.zeros(4, F32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit(kernel)[1, 4](X, out, A, Z)
    np.testing.assert_allclose(out, EXPECTED[kernel], rtol=2**-21)


def test_half_is_rounded_from_the_literal_once(jit: Callable[..., Any]) -> None:
    """1 + 2**-11 + 2**-30 is just above the middle of two halves; by way of float32 it would fall onto the middle, and
    from there to the even one, which is 1."""

    @jit
    def kernel(out):
        out[0] = 1.000488282181322574615478515625

    out = np.zeros(1, np.float16)
    kernel[1, 1](out)
    assert out[0] == np.float16(1.000488282181322574615478515625) == np.float16(1.001)


def test_what_functions_make_of_literals_is_no_half(jit: Callable[..., Any]) -> None:
    """Beside a half too, as README.md says: 3 * sqrt(2) has more digits than a half."""

    @jit
    def kernel(x, out):
        out[0] = x[0] * math.sqrt(2.0)
        out[1] = x[0] * np.float16(math.sqrt(2.0))

    out = np.zeros(2, F32)
    kernel[1, 1](np.array([3], np.float16), out)
    assert out[1] == np.float16(3) * np.float16(math.sqrt(2))
    assert abs(out[0] - F32(3) * np.sqrt(F32(2))) <= np.spacing(out[0])


def test_numpy_scalars_are_strong() -> None:
    """np.float64(0.1) widens on ptxplus, whatever the rule for literals."""
    out = np.zeros(4)

    @numba_ptxplus.jit(weak_literals=True)
    def kernel(x, out, factor):
        i = numba_ptxplus.grid(1)
        out[i] = x[i] * factor

    kernel[1, 4](X, out, np.float64(0.1))
    np.testing.assert_array_equal(out, X * np.float64(0.1))
    kernel[1, 4](X, out, 0.1)
    np.testing.assert_array_equal(out, X * F32(0.1))


def test_double_literal_in_a_float32_kernel_is_told_once() -> None:
    def kernel(x, out):
        i = numba_ptxplus.grid(1)
        out[i] = x[i] * 0.1 + QUARTER

    line = kernel.__code__.co_firstlineno + 2
    with pytest.warns(NumbaPerformanceWarning) as caught:
        numba_ptxplus.jit(cache=False)(kernel)[1, 4](X, np.zeros(4, F32))
    (warning,) = caught
    assert str(warning.message).startswith(
        f"kernel 'kernel' has no float64 data, yet the literal 0.1 in {__file__}:{line} makes it compute in float64"
    )
    assert (warning.filename, warning.lineno) == (__file__, line)


@pytest.mark.parametrize("data", [X.astype(np.float64), X.astype(np.int32)], ids=["float64", "int32"])
def test_nothing_is_told_where_no_literal_widens(data: np.ndarray) -> None:
    @numba_ptxplus.jit
    def kernel(x, out):
        i = numba_ptxplus.grid(1)
        out[i] = x[i] * 0.1

    out = np.zeros(4, F32 if data.dtype == np.int32 else np.float64)
    kernel[1, 4](data, out)
    np.testing.assert_allclose(out, data * 0.1, rtol=1e-7)


def test_ptxplus_can_be_asked_to_do_without_float64() -> None:
    """There float64 is as usual unless the option says otherwise; literals count as float64."""

    def scaled(x, out):
        i = numba_ptxplus.grid(1)
        out[i] = x[i] * 0.1

    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    with pytest.warns(NumbaPerformanceWarning, match=r"literal 0\.1"):
        numba_ptxplus.jit(cache=False)(scaled)[1, 4](x, out)
    with pytest.raises(UnsupportedKernelError, match="float64: an expression"):
        numba_ptxplus.jit(float64="error")(scaled)[1, 4](x, out)
    numba_ptxplus.jit(float64="error", weak_literals=True)(scaled)[1, 4](x, out)
    np.testing.assert_array_equal(out, np.float32(0.1))
