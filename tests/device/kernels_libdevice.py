"""NVIDIA's libdevice functions, by libdevice itself or by their counterparts in Python.

What each gives is stated in the CUDA Math API; tests/ptx/test_libdevice.py compares the two for all of them.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from numba_gpucore import language as gpu
from numba_gpucore import libdevice
from tests.device.catalogue import Case

N = 32
ULPS = 16
WHY = "16 units in the last place, as for functions of math"


def integers(x, y, out):
    i = gpu.grid(1)
    out[0, i] = libdevice.mulhi(x[i], y[i])
    out[1, i] = libdevice.hadd(x[i], y[i])
    out[2, i] = libdevice.max(x[i], y[i])
    out[3, i] = libdevice.mul24(x[i], y[i])
    out[4, i] = libdevice.clz(x[i])
    out[5, i] = libdevice.byte_perm(x[i], y[i], 0x5041)


def integers_expected(x, y, out):
    wide_x, wide_y = x.astype(np.int64), y.astype(np.int64)
    x24, y24 = wide_x << 40 >> 40, wide_y << 40 >> 40
    x_bytes, y_bytes = x.view(np.uint8).reshape(N, 4), y.view(np.uint8).reshape(N, 4)
    # nibbles of 0x5041, lowest first: bytes 1 and 0 of x around bytes 0 and 1 of y
    permuted = np.stack([x_bytes[:, 1], y_bytes[:, 0], x_bytes[:, 0], y_bytes[:, 1]], axis=1)
    leading = [32 - (int(v) & 0xFFFFFFFF).bit_length() for v in x]
    rows = [wide_x * wide_y >> 32, (wide_x + wide_y) >> 1, np.maximum(x, y), x24 * y24 & 0xFFFFFFFF, leading]
    low = [np.asarray(row).astype(np.uint32).view(np.int32) for row in rows]
    return {2: np.stack([*low, np.ascontiguousarray(permuted).view(np.int32).ravel()])}


def make_integers(rng):
    x, y = rng.integers(-(2**31), 2**31, (2, N)).astype(np.int32)
    x[:3] = 0, 1, -1
    return x, y, np.zeros((6, N), np.int32)


def conversions(x, out):
    i = gpu.grid(1)
    out[0, i] = libdevice.float2int_rn(x[i])
    out[1, i] = libdevice.float2int_rz(x[i])
    out[2, i] = libdevice.float2int_ru(x[i])
    out[3, i] = libdevice.float2int_rd(x[i])
    out[4, i] = libdevice.float_as_int(x[i])


def conversions_expected(x, out):
    limits = np.iinfo(np.int32)
    wide = np.nan_to_num(x.astype(np.float64), nan=0.0)
    rows = [np.clip(function(wide), limits.min, limits.max) for function in (np.rint, np.trunc, np.ceil, np.floor)]
    return {1: np.stack([*(row.astype(np.int32) for row in rows), x.view(np.int32)])}


def make_conversions(rng):
    x = rng.uniform(-100, 100, N).astype(np.float32)
    x[:9] = 0.5, 1.5, -2.5, 2.0**31, -(2.0**31), 3e9, -3e9, np.inf, np.nan
    return x, np.zeros((5, N), np.int32)


def several_results(x, out, exponents):
    i = gpu.grid(1)
    mantissa, exponent = libdevice.frexpf(x[i])
    fraction, whole = libdevice.modff(x[i])
    sine, cosine = libdevice.sincosf(x[i])
    out[0, i] = mantissa
    out[1, i] = fraction
    out[2, i] = whole
    out[3, i] = sine
    out[4, i] = cosine
    exponents[i] = exponent


def several_results_expected(x, out, exponents):
    mantissa, exponent = np.frexp(x)
    fraction, whole = np.modf(x)
    wide = x.astype(np.float64)
    return {1: np.stack([mantissa, fraction, whole, np.sin(wide), np.cos(wide)]).astype(np.float32), 2: exponent}


def make_several_results(rng):
    return rng.uniform(1.05, 1.45, N).astype(np.float32), np.zeros((5, N), np.float32), np.zeros(N, np.int32)


def reals(x, out):
    i = gpu.grid(1)
    out[0, i] = libdevice.sinpif(x[i])
    out[1, i] = libdevice.cospif(x[i])
    out[2, i] = libdevice.rcbrtf(x[i])
    out[3, i] = libdevice.normcdff(x[i])
    out[4, i] = libdevice.roundf(x[i])
    out[5, i] = libdevice.exp10f(x[i])
    out[6, i] = libdevice.norm3df(x[i], x[i], x[i])
    out[7, i] = libdevice.saturatef(x[i])
    out[8, i] = libdevice.fdimf(x[i], 1.0)


def reals_expected(x, out):
    wide = x.astype(np.float64)
    rows = [
        np.sin(math.pi * wide),
        np.cos(math.pi * wide),
        1 / np.cbrt(wide),
        special.ndtr(wide),
        np.floor(wide + 0.5),
        10.0**wide,
        math.sqrt(3.0) * wide,
        np.clip(wide, 0, 1),
        np.maximum(wide - 1, 0),
    ]
    return {1: np.stack(rows).astype(np.float32)}


def doubles(x, out):
    i = gpu.grid(1)
    out[0, i] = libdevice.sinpi(x[i])
    out[1, i] = libdevice.rhypot(x[i], 2.0)
    out[2, i] = libdevice.hiloint2double(libdevice.double2hiint(x[i]), libdevice.double2loint(x[i]))
    out[3, i] = libdevice.ldexp(x[i], 3)
    out[4, i] = libdevice.fma_rn(x[i], x[i], 1.0)


def doubles_expected(x, out):
    rows = [np.sin(math.pi * x), 1 / np.hypot(x, 2), x, 8 * x, x * x + 1]
    return {1: np.stack(rows)}


def _reals_case(kernel, expected, rows, dtype, needs=frozenset()):
    """Between 1.05 and 1.45 no result is near zero."""
    return Case(
        kernel,
        lambda rng: (rng.uniform(1.05, 1.45, N).astype(dtype), np.zeros((rows, N), dtype)),
        expected,
        block=N,
        rtol=ULPS * float(np.finfo(dtype).eps),
        tolerance=WHY,
        needs=needs,
        name=f"libdevice_{kernel.__name__}",
    )


CASES = (
    Case(integers, make_integers, integers_expected, block=N, name="libdevice_integers"),
    Case(conversions, make_conversions, conversions_expected, block=N, name="libdevice_conversions"),
    Case(
        several_results,
        make_several_results,
        several_results_expected,
        block=N,
        rtol=ULPS * float(np.finfo(np.float32).eps),
        tolerance=WHY,
        name="libdevice_several_results",
    ),
    _reals_case(reals, reals_expected, 9, np.float32),
    _reals_case(doubles, doubles_expected, 5, np.float64, frozenset({"float64"})),
)
