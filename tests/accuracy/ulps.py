"""Errors in units of the last place. Before: a level's results and the exact ones. After: bounds, docs/math.md.

The ulp of a real number x with 2**e <= |x| < 2**(e+1) is 2**(e-p+1), p being the precision of the type, and at least
the smallest subnormal number. Source: Muller, "On the definition of ulp(x)", INRIA RR-5504, 2005 (Goldberg's).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Exact:
    """Results as `high`, the nearest float64, and what it lacks: `low`, in units of float64's last place. Equal shapes.

    An infinite `high` is a pole, or larger than float64 holds; NaN says that there is no result.
    """

    high: np.ndarray
    low: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> Exact:
        high = np.asarray(values, np.float64)
        return cls(high, np.zeros_like(high))

    def rounded(self, dtype: np.dtype) -> np.ndarray:
        """The nearest numbers of a type no wider than float64."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.high.astype(dtype)


def ulp_errors(got: np.ndarray, exact: Exact, *larger: np.ndarray) -> np.ndarray:
    """Distance of each result from the exact one; infinite where one of them is NaN, or an infinity has the wrong sign.

    An infinity counts as the number that would follow the largest one. larger: arrays whose numbers decide the last
    place where they are larger than the result.
    """
    info = np.finfo(got.dtype)
    with np.errstate(invalid="ignore"):
        place = _last_place(np.fmax.reduce([np.abs(x.astype(np.float64)) for x in (exact.high, *larger)]), info)
    beyond = 2.0 ** (info.nmant + 1)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        scaled_got = np.clip(np.ldexp(got.astype(np.float64), -place), -(2.0**1000), 2.0**1000)
        scaled_got = np.where(np.isinf(got), np.copysign(beyond, got), scaled_got)
        is_large = place == info.maxexp - 1 - info.nmant
        high = np.ldexp(exact.high, -place)
        high = np.where(is_large, np.clip(high, -beyond, beyond), high)
        low = np.ldexp(exact.low, _last_place(exact.high, np.finfo(np.float64)) - place)
        errors = np.abs((scaled_got - high) - low)
    agree = np.isnan(got) & np.isnan(exact.high)
    return np.where(agree, 0.0, np.where(np.isnan(errors), np.inf, errors))


def _last_place(x: np.ndarray, info: np.finfo) -> np.ndarray:
    """The exponent of the last place of float64 numbers in the type of `info`; infinities have that of the largest."""
    _, exponent = np.frexp(x)
    exponent = np.where(x == 0, info.minexp, np.where(np.isfinite(x), exponent - 1, info.maxexp))
    return np.clip(exponent, info.minexp, info.maxexp - 1) - info.nmant
