"""Functions of two float32 that MSL lacks, alone in a kernel of their own. tests/accuracy measures all that are called
`gpu.math.*`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numba_metal.codegen.helpers import ordered_helpers
from tests.msl import compile_msl_library


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
