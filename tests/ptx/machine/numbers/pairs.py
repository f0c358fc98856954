"""Exact results as the sum of two float64. Before: fused.py. After: rounding.py rounds them to a narrower format.

A pair (high, low) stands for the real number high + low with |low| <= ulp(high) / 2. Operands of at most 24 bits and
float32's exponents are given, so that neither product nor residual leaves the range of float64. The sign of `low`
is what directed rounding needs; where the real number has more digits (division, square root) `low` has the sign of
the rest. Sources: Muller et al., "Handbook of Floating-Point Arithmetic", 2nd ed., 4.3 (TwoSum), 4.7 (residuals).
"""

from __future__ import annotations

import numpy as np

from .fused import fused_multiply_add

Pair = tuple[np.ndarray, np.ndarray]


def two_sum(a: np.ndarray, b: np.ndarray) -> Pair:
    """a + b exactly, for any finite a and b without overflow (Handbook, algorithm 4.4)."""
    high = a + b
    b_part = high - a
    return high, (a - (high - b_part)) + (b - b_part)


def add_pair(a: np.ndarray, b: np.ndarray) -> Pair:
    return two_sum(a, b)


def subtract_pair(a: np.ndarray, b: np.ndarray) -> Pair:
    return two_sum(a, -b)


def multiply_pair(a: np.ndarray, b: np.ndarray) -> Pair:
    return a * b, np.zeros(np.broadcast(a, b).shape)


def fma_pair(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Pair:
    return two_sum(a * b, c)


def divide_pair(a: np.ndarray, b: np.ndarray) -> Pair:
    quotient = a / b
    return quotient, fused_multiply_add(-quotient, b, a) * np.sign(b)


def reciprocal_pair(a: np.ndarray) -> Pair:
    return divide_pair(np.ones_like(a), a)


def sqrt_pair(a: np.ndarray) -> Pair:
    root = np.sqrt(a)
    return root, fused_multiply_add(-root, root, a)


def integer_pair(a: np.ndarray) -> Pair:
    """An integer of up to 64 bits as a pair."""
    wide = a.astype(np.int64 if a.dtype.kind == "i" else np.uint64)
    upper = (wide >> wide.dtype.type(32)).astype(np.float64) * 2.0**32
    lower = (wide & wide.dtype.type(0xFFFFFFFF)).astype(np.float64)
    return two_sum(upper, lower)
