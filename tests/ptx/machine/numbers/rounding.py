"""Rounding to nearest even, towards zero, down and up; flushing and saturation. Before: pairs.py. After: operations/.

PTX ISA, "Rounding Modifiers" and "Floating-Point Instructions" (.ftz, .sat).
"""

from __future__ import annotations

import numpy as np

from .pairs import Pair


def step(rounded: np.ndarray, direction: np.ndarray, mode: str) -> np.ndarray:
    """`rounded` (to nearest), moved to the neighbour that `mode` (rn, rz, rm, rp) asks for.

    direction: sign of (exact value - rounded). An exact zero stays the zero that it is.
    """
    if mode == "rm":
        return np.where(direction < 0, np.nextafter(rounded, rounded.dtype.type(-np.inf)), rounded)
    if mode == "rp":
        return np.where(direction > 0, np.nextafter(rounded, rounded.dtype.type(np.inf)), rounded)
    if mode == "rz":
        away = np.signbit(rounded) == (direction > 0)
        return np.where(away & (direction != 0), np.nextafter(rounded, rounded.dtype.type(0)), rounded)
    return rounded


def direction_of(pair: Pair, rounded: np.ndarray) -> np.ndarray:
    """Sign of (the pair's value - rounded): -1.0, 0.0, 1.0. NaN compares as 0."""
    high, low = pair
    wide = rounded.astype(np.float64)
    first = (high > wide).astype(np.int8) - (high < wide).astype(np.int8)
    return np.where(first != 0, first, np.sign(np.nan_to_num(low)).astype(np.int8))


def to_odd(pair: Pair) -> np.ndarray:
    """The pair as one float64, rounded to odd, from which any format of at most 51 bits is rounded without harm.

    Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.
    """
    high, low = pair
    is_even = (np.ascontiguousarray(high).view(np.uint64) & 1) == 0
    inexact = (low != 0) & np.isfinite(high) & np.isfinite(low)
    neighbour = np.nextafter(high, np.where(low > 0, np.inf, -np.inf))
    return np.where(inexact & is_even, neighbour, high)


def round_pair(pair: Pair, dtype: np.dtype, mode: str) -> np.ndarray:
    """The pair rounded once to float16 or float32."""
    rounded = to_odd(pair).astype(dtype)
    return rounded if mode == "rn" else step(rounded, direction_of(pair, rounded), mode)


def flush(x: np.ndarray) -> np.ndarray:
    """Subnormals to zero of the same sign."""
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)


def saturate(x: np.ndarray) -> np.ndarray:
    """To [0, 1]; NaN and -0 to +0."""
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))
