"""Functions of reals that C lacks. Before: lower.ufuncs. After: Numba compiles them for the device.

Constants come as arguments, in the type that is computed in.
"""

import math

import numpy as np
from numba.extending import register_jitable


@register_jitable
def _compare(x, y, zero):
    """The larger one, smaller - larger, and what that lost by rounding, which exp would magnify (Knuth's two-sum)."""
    larger, smaller = (x, y) if x > y else (y, x)
    if larger == smaller:  # infinities too
        return larger, zero, zero
    difference = smaller - larger
    back = difference + larger
    lost = (smaller - back) + (back - difference - larger)
    return larger, difference, lost if math.isfinite(difference) else zero


def log_add_exp(x, y, zero):
    """log(exp(x) + exp(y)): the larger one and log(1 + exp(-distance)), each exact to about an ulp."""
    larger, difference, lost = _compare(x, y, zero)
    term = math.exp(difference)
    return larger + math.log1p(term + term * lost)


def log_add_exp2(x, y, zero, log_of_2):
    """log2(2**x + 2**y), likewise."""
    larger, difference, lost = _compare(x, y, zero)
    term = np.exp2(difference)
    return larger + math.log1p(term + term * (lost * log_of_2)) / log_of_2
