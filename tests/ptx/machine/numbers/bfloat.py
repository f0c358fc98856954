"""bfloat16 as bits in uint16. Before: pairs.py, rounding.py. After: operations/.

PTX ISA, "Alternate Floating-Point Data Formats": the upper 16 bits of a float32.
"""

from __future__ import annotations

import numpy as np

from .pairs import Pair
from .rounding import direction_of, to_odd


def widen(bits: np.ndarray) -> np.ndarray:
    """bfloat16 bits to float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow(pair: Pair, mode: str) -> np.ndarray:
    """A float64 pair to bfloat16 bits, rounded once by `mode` (rn, rz, rm, rp). NaN becomes 0x7FFF.

    Truncation of the odd-rounded float32 keeps all that the decision needs in its lower 16 bits.
    """
    odd64 = to_odd(pair)
    nearest = np.atleast_1d(odd64.astype(np.float32))
    direction = direction_of((odd64, np.zeros_like(odd64)), nearest)
    is_even = (nearest.view(np.uint32) & np.uint32(1)) == 0
    odd = np.where(
        is_even & (direction != 0),
        np.nextafter(nearest, np.where(direction > 0, np.float32(np.inf), np.float32(-np.inf))),
        nearest,
    )
    bits = odd.view(np.uint32)
    upper, rest = bits >> np.uint32(16), bits & np.uint32(0xFFFF)
    is_negative = np.signbit(odd)
    away = {
        "rn": (rest > 0x8000) | ((rest == 0x8000) & (upper & 1 == 1)),
        "rz": np.zeros(odd.shape, bool),
        "rm": is_negative & (rest != 0),
        "rp": ~is_negative & (rest != 0),
    }[mode]
    rounded = (upper + away).astype(np.uint16)
    return np.where(np.isnan(odd), np.uint16(0x7FFF), rounded)
