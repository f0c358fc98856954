"""The float32 functions that MSL lacks, run as MSL on the CPU, against SciPy in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from numba_metal.codegen.helpers import ordered_helpers
from tests.msl import compile_msl_library

#: Function, reference, intervals, and the bound in units of the last place that `math_helpers` states.
UNARY = (
    ("erf", special.erf, ((-5, 5), (-1e-3, 1e-3)), 2),
    ("erfc", special.erfc, ((-4, 9.2),), 5),
    ("expm1", np.expm1, ((-20, 88), (-0.6, 0.6), (-1e-4, 1e-4)), 3),
    ("log1p", np.log1p, ((-0.999, 0.999), (1, 1e6), (-1e-4, 1e-4)), 4),
    ("cbrt", np.cbrt, ((-100, 100), (1e-30, 1e-28), (1e30, 3e38)), 2),
    ("lgamma", special.gammaln, ((0.01, 12), (12, 1e6), (0.9, 1.1), (1.9, 2.1)), 10),
    ("tgamma", special.gamma, ((0.01, 8), (-3.9, -3.1)), 10),
    ("tgamma", special.gamma, ((8, 35),), 24),
)


def run_unary(name: str, x: np.ndarray) -> np.ndarray:
    helpers = "".join(ordered_helpers([f"math_{name}"]))
    source = f"""#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)
{helpers}
kernel void apply(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]])
{{
    out[i] = math_{name}(x[i]);
}}
"""
    library = compile_msl_library(source)
    return library.run("apply", x.size // 256, 256, [x, np.zeros_like(x)])[1]


def run_binary(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    helpers = "".join(ordered_helpers([name]))
    source = f"""#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)
{helpers}
kernel void apply(device const float* x [[buffer(0)]], device const float* y [[buffer(1)]],
                  device float* out [[buffer(2)]], uint i [[thread_position_in_grid]])
{{
    out[i] = {name}(x[i], y[i]);
}}
"""
    library = compile_msl_library(source)
    return library.run("apply", 1, x.size, [x, y, np.zeros_like(x)])[2]


def error_in_ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distance to the exact value, in spacings of float32 there."""
    spacing = np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
    return np.abs(got.astype(np.float64) - wanted) / spacing


@pytest.mark.parametrize(("name", "reference", "intervals", "ulps"), UNARY)
def test_unary_function_is_as_exact_as_stated(name, reference, intervals, ulps):
    count = 256 * 64
    for low, high in intervals:
        x = np.linspace(low, high, count).astype(np.float32)
        with np.errstate(all="ignore"):
            wanted = reference(x.astype(np.float64))
        error = error_in_ulps(run_unary(name, x), wanted)
        assert error.max() <= ulps, (name, low, high, x[error.argmax()], error.max())


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("erf", special.erf),
        ("erfc", special.erfc),
        ("expm1", np.expm1),
        ("log1p", np.log1p),
        ("cbrt", np.cbrt),
        ("lgamma", lambda x: np.where(np.isinf(x), np.inf, special.gammaln(x))),
    ],
)
def test_special_values_are_those_of_c(name, reference):
    """C17 annex F.10 as SciPy and NumPy follow it: zeros, infinities, NaN, ends of the domain."""
    x = np.resize(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, -2.0], np.float32), 256)
    if name in ("expm1", "cbrt", "erf"):
        x = x[x != -2.0][:128].repeat(2)
    with np.errstate(all="ignore"):
        wanted = reference(x.astype(np.float64)).astype(np.float32)
    got = run_unary(name, x)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, err_msg=name)
    zeros = wanted == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(wanted[zeros]))


def test_gamma_at_poles_and_infinities():
    """C17 F.10.5.4: a zero gives an infinity of its sign, a negative integer NaN."""
    x = np.resize(np.array([0.0, -0.0, np.inf, np.nan, -1.0, 40.0, 5.0, 1.0], np.float32), 256)
    wanted = np.resize(np.array([np.inf, -np.inf, np.inf, np.nan, np.nan, np.inf, 24.0, 1.0], np.float32), 256)
    np.testing.assert_allclose(run_unary("tgamma", x), wanted, rtol=3e-7)


def _c_remainder(x: float, y: float) -> float:
    """math.remainder, which raises where C gives NaN."""
    try:
        return math.remainder(x, y)
    except ValueError:
        return math.nan


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -3.5, 1e30, -1e-30, np.inf, -np.inf, np.nan], np.float32)


@pytest.mark.parametrize(
    ("name", "reference", "ulps"),
    [
        ("math_hypot", np.hypot, 2),
        ("math_nextafter", None, 0),
        ("math_remainder", np.vectorize(_c_remainder), 0),
        ("ieee_minimum", np.minimum, 0),
        ("ieee_maximum", np.maximum, 0),
    ],
)
def test_binary_function(name, reference, ulps):
    x, y = (axis.ravel() for axis in np.meshgrid(SPECIAL, SPECIAL))
    rng = np.random.default_rng(4)
    more = rng.normal(size=(2, 256 - x.size)).astype(np.float32) * 10
    x, y = np.concatenate([x, more[0]]), np.concatenate([y, more[1]])
    got = run_binary(name, x, y)
    with np.errstate(all="ignore"):
        if reference is None:
            wanted = np.nextafter(x, y)
        else:
            wanted = reference(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    if ulps:
        np.testing.assert_allclose(got, wanted, rtol=ulps * 2.0**-23)
    else:
        np.testing.assert_array_equal(got, wanted)
