"""Answers at zeros, infinities, NaN and outside the domain, and what they must be. After: the test, docs/math.md.

The references follow C17 annex F as NumPy and SciPy do; results of NaN are NaN whatever its sign.
"""

from __future__ import annotations

import itertools

import numpy as np

from tests.accuracy.functions import RealFunction
from tests.accuracy.levels import Level

NUMBERS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -2.0, 0.5, -2.5)
#: Arguments of functions of one number that docs/math.md shows.
SHOWN = (0.0, -0.0, np.inf, -np.inf, np.nan, -2.0, 2.0)


def special_arguments(function: RealFunction, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Each number, or each pair of numbers."""
    rows = list(itertools.product(NUMBERS, repeat=function.arity))
    return tuple(np.array(column, dtype) for column in zip(*rows, strict=True))


def special_answers(level: Level, function: RealFunction, arguments: tuple[np.ndarray, ...]) -> np.ndarray:
    return level.compute(function.spellings[0], *arguments)


def wrong_answers(function: RealFunction, arguments: tuple[np.ndarray, ...], got: np.ndarray) -> list[str]:
    """What differs in kind from the exact result: NaN, an infinity, a zero or a sign that must not or must be there."""
    wanted = function.reference.of(got.dtype, *arguments).rounded(got.dtype)
    kind_differs = np.isnan(got) != np.isnan(wanted)
    for test in (np.isinf, lambda x: x == 0):
        kind_differs |= test(got) != test(wanted)
    kind_differs |= ~np.isnan(wanted) & (np.signbit(got) != np.signbit(wanted))
    return [
        f"{function.name}{tuple(float(column[i]) for column in arguments)} is {got[i]}, not {wanted[i]}"
        for i in np.flatnonzero(kind_differs)
    ]
