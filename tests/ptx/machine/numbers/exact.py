"""Directed rounding of float64 results by exact rational arithmetic, a lane at a time. Before: NumPy. After: floats.py.

Slow, but only the CUDA intrinsics that name a rounding (`__dadd_rz` …) need it. CPython divides integers with one
rounding (`int / int`), so the nearest float64 of a fraction is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from .rounding import step


def _nearest(exact: Fraction) -> float:
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _sign(exact: Fraction, rounded: float) -> int:
    if math.isinf(rounded):
        return -1 if rounded > 0 else 1
    return (exact > Fraction(rounded)) - (exact < Fraction(rounded))


def directed(
    function: Callable[..., Fraction], nearest: Callable[..., np.ndarray], mode: str
) -> Callable[..., np.ndarray]:
    """A float64 operation that rounds by `mode`.

    function: the operation on Fractions. nearest: the same on arrays with rounding to nearest, used for the value
    where an operand is not finite or the result is exact (signs of zero), and for division by zero.
    """

    def operation(*operands: np.ndarray) -> np.ndarray:
        lanes = np.broadcast_arrays(*operands)
        rounded = np.atleast_1d(nearest(*lanes))
        direction = np.zeros(rounded.shape, np.int8)
        finite = np.logical_and.reduce([np.isfinite(x) for x in lanes])
        for i in np.flatnonzero(finite):
            try:
                exact = function(*(Fraction(float(x[i])) for x in lanes))
            except ZeroDivisionError:
                continue
            rounded[i] = _nearest(exact) if exact else rounded[i]
            direction[i] = _sign(exact, rounded[i])
        return step(rounded, direction, mode)

    return operation


def directed_sqrt(mode: str) -> Callable[[np.ndarray], np.ndarray]:
    """Square root of float64 rounded by `mode`: compares the square of the nearest root with the operand."""

    def operation(a: np.ndarray) -> np.ndarray:
        rounded = np.atleast_1d(np.sqrt(a))
        direction = np.zeros(rounded.shape, np.int8)
        for i in np.flatnonzero(np.isfinite(rounded)):
            root = Fraction(float(rounded[i]))
            direction[i] = (Fraction(float(a[i])) > root * root) - (Fraction(float(a[i])) < root * root)
        return step(rounded, direction, mode)

    return operation
