"""The error of functions of complex numbers. Before: levels. After: docs/math.md.

Errors are distances in the plane, in ulp of the modulus of the exact result: a part that is small beside the other may
have fewer right digits, as in NumPy.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from tests.accuracy.exact import PRECISION_BITS
from tests.accuracy.levels import Level

COMPLEX_TYPES = (np.dtype(np.complex64), np.dtype(np.complex128))
COUNT = 2**10
_NAMES = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh"
COMPLEX_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(getattr(cmath, name) for name in _NAMES.split()),
    np.exp2,
    np.expm1,
    np.log1p,
    np.log2,
)
_MULTIPRECISION: dict[str, Callable[..., Any]] = {
    "exp2": lambda z: mpmath.power(2, z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
}


def complex_arguments(dtype: np.dtype) -> np.ndarray:
    """Half evenly in a square around 0, half by orders of magnitude of the modulus, at any angle."""
    rng = np.random.default_rng(20262)
    square = rng.uniform(-8, 8, (2, COUNT // 2))
    modulus, angle = 2.0 ** rng.uniform(-20, 4, COUNT // 2), rng.uniform(-np.pi, np.pi, COUNT // 2)
    polar = modulus * np.exp(1j * angle)
    return np.concatenate([square[0] + 1j * square[1], polar]).astype(dtype)


def measure_complex(level: Level, function: Callable[..., Any], dtype: np.dtype) -> float:
    """The largest error in ulp."""
    z = complex_arguments(dtype)
    got = level.compute(function, z).astype(np.complex128)
    reference = _MULTIPRECISION.get(function.__name__) or getattr(mpmath, function.__name__)
    precision = 24 if dtype == np.complex64 else 53
    worst = 0.0
    with mpmath.workprec(PRECISION_BITS):
        for argument, result in zip(z.tolist(), got.tolist(), strict=True):
            exact = reference(mpmath.mpc(argument))
            size = abs(exact)
            if size == 0:
                continue
            place = mpmath.mpf(2) ** (mpmath.floor(mpmath.log(size, 2)) - precision + 1)
            worst = max(worst, float(abs(mpmath.mpc(result) - exact) / place))
    return worst
