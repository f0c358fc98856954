"""`round(x, ndigits)`. Before: lower.rounding. After: Numba compiles it for the device."""

import math

import numpy as np

#: 10.0**22 is the largest power of ten that float64 holds exactly.
_EXACT_DIGITS = 22


def round_to_digits(x, ndigits, whole_from):
    """`x` rounded to `ndigits` decimal places, half to even; negative places are left of the point.

    Numbers whose `ndigits`-th place is at or above `whole_from` units have no digits beyond it and stay as they are:
    2**24 for float32, 2**53 for float64. Computed in float64 where the target has it.
    """
    if not math.isfinite(x):
        return x
    if ndigits >= 0:
        exact = ndigits if ndigits < _EXACT_DIGITS else _EXACT_DIGITS
        power, rest = 10.0**exact, 10.0 ** (ndigits - exact)
        scaled = (x * power) * rest
        if not abs(scaled) < whole_from:  # NaN too, from a zero and an infinite power
            return x
        return (np.rint(scaled) / rest) / power
    power = 10.0**-ndigits
    if math.isinf(power):
        return math.copysign(x - x, x)
    return np.rint(x / power) * power
