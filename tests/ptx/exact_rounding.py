"""Rounding by integer arithmetic: the reference for float results. Before: fractions. After: test_machine_*.py.

IEEE 754-2019, 4.3 (rounding directions), 3.3 (formats). Independent of the machine: no float is used before the end.
"""

from __future__ import annotations

import math
from fractions import Fraction

#: (digits of precision, smallest and largest exponent of a normal number).
FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}


def round_exactly(exact: Fraction, type_name: str, mode: str = "rn") -> float:
    """`exact` (not 0) rounded to the format: rn to nearest even, rz towards zero, rm down, rp up."""
    precision, low, high = FORMATS[type_name]
    magnitude = abs(exact)
    exponent = max(_floor_log2(magnitude), low)
    unit = Fraction(2) ** (exponent - precision + 1)
    count, rest = divmod(magnitude, unit)
    goes_up = {
        "rn": rest * 2 > unit or (rest * 2 == unit and count % 2 == 1),
        "rz": False,
        "rm": exact < 0 and rest != 0,
        "rp": exact > 0 and rest != 0,
    }[mode]
    rounded = (count + goes_up) * unit
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** high
    if rounded > largest:
        keeps_finite = mode == "rz" or (mode == "rm" and exact > 0) or (mode == "rp" and exact < 0)
        result = float(largest) if keeps_finite else math.inf
    else:
        result = float(rounded)
    return -result if exact < 0 else result


def _floor_log2(magnitude: Fraction) -> int:
    estimate = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2) ** estimate > magnitude:
        estimate -= 1
    while Fraction(2) ** (estimate + 1) <= magnitude:
        estimate += 1
    return estimate
