"""Exact results. Before: functions names a reference. After: ulps compares with it.

Results of float16 and float32 are held against NumPy's and SciPy's functions in float64, whose error of a few 2**-53 is
a few 2**-29 ulp of float32; results of float64 against mpmath with 200 bits, which leaves 53 where 147 cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from scipy import special

from tests.accuracy.ulps import Exact

PRECISION_BITS = 200
#: Below this, SciPy's gammaln of negative numbers has lost too many bits.
_SMALL_LGAMMA = 1e-3

Vectorised = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Reference:
    """vectorised: of float64 arrays. multiprecision: of mpmath's numbers; None if `vectorised` is exact in float64.
    depends_on_type: `vectorised` is of arrays of the type itself."""

    vectorised: Vectorised
    multiprecision: Callable[..., Any] | None = None
    depends_on_type: bool = False

    def of(self, dtype: np.dtype, *arguments: np.ndarray) -> Exact:
        """The results for arguments of this type."""
        if self.depends_on_type:
            with np.errstate(all="ignore"):
                return Exact.of(self.vectorised(*arguments))
        with np.errstate(invalid="ignore"):
            wide = [argument.astype(np.float64) for argument in arguments]
        with np.errstate(all="ignore"):
            values = np.asarray(self.vectorised(*wide), np.float64)
        if self.multiprecision is None:
            return Exact.of(values)
        # mpmath has one zero; at zeros NumPy's results are exact, or rounded to float64
        is_regular = np.isfinite(values) & np.logical_and.reduce([np.isfinite(x) & (x != 0) for x in wide])
        if dtype == np.float64:
            # SciPy flushes subnormal results to 0
            may_be_subnormal = np.logical_and.reduce([np.abs(x) < 2000 for x in wide])
            return self._refine(values, wide, is_regular & ((values != 0) | may_be_subnormal))
        if self.vectorised is lgamma:
            return self._refine(values, wide, is_regular & (np.abs(values) < _SMALL_LGAMMA))
        return Exact.of(values)

    def _refine(self, values: np.ndarray, arguments: list[np.ndarray], where: np.ndarray) -> Exact:
        """`values` with those at `where` computed anew."""
        assert self.multiprecision is not None
        high, low = values.copy(), np.zeros_like(values)
        with mpmath.workprec(PRECISION_BITS):
            for i in np.flatnonzero(where):
                result = mpmath.mpf(self.multiprecision(*(mpmath.mpf(float(column[i])) for column in arguments)))
                high[i] = float(result)
                if math.isfinite(high[i]):
                    low[i] = float((result - mpmath.mpf(high[i])) / mpmath.mpf(math.ulp(high[i])))
        return Exact(high, low)


def gamma(x: np.ndarray) -> np.ndarray:
    """C17 F.10.5.4: NaN at negative whole numbers and -inf."""
    return np.where((x < 0) & (x == np.floor(x)), np.nan, special.gamma(x))


def lgamma(x: np.ndarray) -> np.ndarray:
    """C17 F.10.5.3: infinite at both infinities."""
    tiny = np.abs(x) < 1e-300  # SciPy gives infinity there
    return np.where(np.isinf(x), np.inf, np.where(tiny & (x != 0), -np.log(np.abs(x)), special.gammaln(x)))


def remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """IEEE remainder; `math.remainder` raises where C gives NaN."""
    is_valid = np.isfinite(x) & ~np.isnan(y) & (y != 0)
    result = np.full(x.shape, np.nan)
    result[is_valid] = list(map(math.remainder, x[is_valid].tolist(), y[is_valid].tolist()))
    return result


def _log_add_exp(x, y):
    larger, smaller = max(x, y), min(x, y)
    return larger + (mpmath.log1p(mpmath.exp(smaller - larger)) if larger - smaller < 1000 else 0)


def _log_add_exp2(x, y):
    larger, smaller = max(x, y), min(x, y)
    if larger - smaller > 1000:
        return larger
    return larger + mpmath.log1p(mpmath.power(2, smaller - larger)) / mpmath.log(2)


def _rsqrt(x: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt(x)


#: By C's names, and NumPy's where C has none.
REFERENCES: dict[str, Reference] = {
    "acos": Reference(np.arccos, mpmath.acos),
    "acosh": Reference(np.arccosh, mpmath.acosh),
    "asin": Reference(np.arcsin, mpmath.asin),
    "asinh": Reference(np.arcsinh, mpmath.asinh),
    "atan": Reference(np.arctan, mpmath.atan),
    "atan2": Reference(np.arctan2, mpmath.atan2),
    "atanh": Reference(np.arctanh, mpmath.atanh),
    "cbrt": Reference(np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
    "ceil": Reference(np.ceil),
    "copysign": Reference(np.copysign),
    "cos": Reference(np.cos, mpmath.cos),
    "cosh": Reference(np.cosh, mpmath.cosh),
    "degrees": Reference(np.degrees, mpmath.degrees),
    "erf": Reference(special.erf, mpmath.erf),
    "erfc": Reference(special.erfc, mpmath.erfc),
    "exp": Reference(np.exp, mpmath.exp),
    "exp2": Reference(np.exp2, lambda x: mpmath.power(2, x)),
    "expm1": Reference(np.expm1, mpmath.expm1),
    "fabs": Reference(np.fabs),
    "floor": Reference(np.floor),
    "fmod": Reference(np.fmod),
    "hypot": Reference(np.hypot, mpmath.hypot),
    "lgamma": Reference(lgamma, lambda x: mpmath.re(mpmath.loggamma(x))),
    "log": Reference(np.log, mpmath.log),
    "log10": Reference(np.log10, mpmath.log10),
    "log1p": Reference(np.log1p, mpmath.log1p),
    "log2": Reference(np.log2, lambda x: mpmath.log(x, 2)),
    "logaddexp": Reference(np.logaddexp, _log_add_exp),
    "logaddexp2": Reference(np.logaddexp2, _log_add_exp2),
    "nextafter": Reference(np.nextafter, depends_on_type=True),
    "pow": Reference(np.power, mpmath.power),
    "radians": Reference(np.radians, mpmath.radians),
    "remainder": Reference(remainder),
    "rint": Reference(np.rint),
    "rsqrt": Reference(_rsqrt, lambda x: 1 / mpmath.sqrt(x)),
    "sin": Reference(np.sin, mpmath.sin),
    "sinh": Reference(np.sinh, mpmath.sinh),
    "sqrt": Reference(np.sqrt, mpmath.sqrt),
    "tan": Reference(np.tan, mpmath.tan),
    "tanh": Reference(np.tanh, mpmath.tanh),
    "tgamma": Reference(gamma, mpmath.gamma),
    "trunc": Reference(np.trunc),
}
