"""The error of one function on one level. Before: functions, samples, levels. After: the test, docs/math.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.accuracy.exact import Exact
from tests.accuracy.functions import RealFunction
from tests.accuracy.levels import Level
from tests.accuracy.ulps import ulp_errors


@dataclass(frozen=True)
class Sample:
    """Arguments with the exact results."""

    function: RealFunction
    arguments: tuple[np.ndarray, ...]
    exact: Exact

    @classmethod
    def of(cls, function: RealFunction, arguments: tuple[np.ndarray, ...]) -> Sample:
        return cls(function, arguments, function.reference.of(arguments[0].dtype, *arguments))


@dataclass(frozen=True)
class Measurement:
    """Largest errors in ulp. near_zeros: between the zeros that `RealFunction.near_zeros` names, 0 without any."""

    error: float
    near_zeros: float
    arguments: tuple[float, ...]
    got: float
    wanted: float

    def __str__(self) -> str:
        return f"{self.error:.4f} ulp at {self.arguments}: {self.got!r} instead of {self.wanted!r}"


def measure(level: Level, sample: Sample, **options: Any) -> Measurement:
    """The largest error of the function's first spelling in a kernel with these options."""
    function, arguments, exact = sample.function, sample.arguments, sample.exact
    got = level.compute(function.spellings[0], *arguments, **options)
    errors = ulp_errors(got, exact, *(function.terms(*arguments) if function.terms else ()))
    is_near = np.zeros(errors.shape, bool)
    if function.near_zeros and level.name != "cpu":
        low, high = function.near_zeros[got.dtype == np.float64]
        is_near = (arguments[0] > low) & (arguments[0] < high)
    far = np.where(is_near, 0.0, errors)
    worst = int(far.argmax())
    return Measurement(
        error=float(far[worst]),
        near_zeros=float(np.where(is_near, errors, 0.0).max()),
        arguments=tuple(float(column[worst]) for column in arguments),
        got=float(got[worst]),
        wanted=float(exact.high[worst]),
    )
