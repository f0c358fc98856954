"""The functions of reals that are measured, and how exact each must be. Before: Numba's lists. After: tests, docs.

Bounds are in ulp of the exact result. libdevice's are the CUDA C++ Programming Guide's, "Mathematical Functions", of
maximum errors, which count from the correctly rounded result, and so allow half an ulp more. Metal's are the MSL
specification's, "Relative Error as ULPs"; functions that MSL lacks are ours, with bounds as measured on emitted text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from numba_gpucore import language
from numba_gpucore.compile.lower import math as lower_math
from numba_gpucore.compile.lower import ufuncs as lower_ufuncs
from tests.accuracy.exact import REFERENCES, Reference

LevelName = Literal["cpu", "ptx", "msl"]
Interval = tuple[float, float]
F16, F32, F64 = map(np.dtype, (np.float16, np.float32, np.float64))
#: Halves are computed in float32 and rounded once more.
HALF_BOUND = 0.51
#: A result that is the nearest number.
ROUNDED = 0.5


@dataclass(frozen=True)
class RealFunction:
    """name: C's, or NumPy's where C has none.

    busy: for each argument an interval in which results are neither trivial nor infinite. cpu: bounds of float32 and
    float64 on the CPU device. nvidia: libdevice's documented errors likewise. ours: bound of float32 on emitted Metal
    text for functions that MSL lacks. apple: the specification's bounds for the others, in precise and in fast form.
    nvidia_fast: libdevice's error under fastmath, where it has another form.
    """

    name: str
    busy: tuple[Interval, ...]
    cpu: tuple[float, float] = (2, 2)
    nvidia: tuple[float, float] = (0, 0)
    ours: float = ROUNDED
    apple: tuple[str, str] | None = None
    nvidia_fast: str = ""
    half: float = HALF_BOUND
    near_zeros: tuple[Interval, Interval] | None = None
    terms: Callable[..., tuple[np.ndarray, ...]] | None = None

    @property
    def spellings(self) -> tuple[Callable[..., Any], ...]:
        """Python's functions that give the same bits; the first one is measured."""
        return SPELLINGS[self.name]

    @property
    def reference(self) -> Reference:
        return REFERENCES[self.name]

    @property
    def arity(self) -> int:
        return len(self.busy)

    def bound(self, level: LevelName, dtype: np.dtype) -> float:
        """Largest error that is allowed, in ulp."""
        if dtype == F16 or self.cpu == (ROUNDED, ROUNDED):
            return self.half
        if level == "cpu":
            return self.cpu[dtype == F64]
        if level == "ptx":
            return ROUNDED + self.nvidia[dtype == F64]
        return CLANG_BOUND if self.apple else self.ours


#: Functions of MSL run on the C library here, which says nothing about Apple's GPUs.
CLANG_BOUND = 3.0


def _spellings() -> dict[str, tuple[Callable[..., Any], ...]]:
    """The functions that lowering knows by these names."""
    found: dict[str, list[Callable[..., Any]]] = {}
    tables = (lower_math.UNARY, lower_math.BINARY, lower_math.TERNARY, lower_ufuncs.REALS)
    for table in tables:
        for function, name in table.items():
            found.setdefault(name, []).append(function)
    for function in (language.cbrt, language.rsqrt):
        found.setdefault(function.__name__, []).append(function)
    for function in lower_math.SCALES:
        found.setdefault(function.__name__, []).append(function)
    found["degrees"] += [np.degrees, np.rad2deg]
    found["radians"] += [np.radians, np.deg2rad]
    for ufunc in (np.logaddexp, np.logaddexp2):
        found[ufunc.__name__] = [ufunc]
    return {name: tuple(functions) for name, functions in found.items()}


SPELLINGS = _spellings()


def _terms(log_add: Callable[..., np.ndarray]) -> Callable[..., tuple[np.ndarray, ...]]:
    """log(exp(x) + exp(y)) is the larger one and log(1 + exp(-|x - y|))."""

    def terms(x, y):
        with np.errstate(all="ignore"):
            return np.maximum(x, y), log_add(0.0, -np.abs(x - y))

    return terms


_EXACT: dict[str, Any] = {"cpu": (ROUNDED, ROUNDED), "half": ROUNDED}
_WIDE, _UNIT, _TURNS = (-30, 30), (-1, 1), (-1000, 1000)

FUNCTIONS: tuple[RealFunction, ...] = (
    RealFunction("exp", ((-104, 89),), nvidia=(2, 1), apple=("4", "3 + ⌊|2x|⌋"), nvidia_fast="2 + ⌊|1.173 x|⌋"),
    RealFunction("exp2", ((-150, 128),), nvidia=(2, 1), apple=("4", "3 + ⌊|2x|⌋")),
    RealFunction("expm1", ((-18, 89),), nvidia=(1, 1), ours=2),
    RealFunction(
        "log", ((0, 100),), nvidia=(1, 1), apple=("4", "3, 2⁻²¹ absolute on [0.5, 2]"),
        nvidia_fast="3, 2⁻²¹·⁴¹ absolute on [0.5, 2]",
    ),
    RealFunction(
        "log2", ((0, 100),), nvidia=(1, 1), apple=("4", "3, 2⁻²² absolute on [0.5, 2]"),
        nvidia_fast="2, 2⁻²² absolute on [0.5, 2]",
    ),
    RealFunction(
        "log10", ((0, 100),), nvidia=(2, 1), apple=("4", "as log2(x) · log10(2)"),
        nvidia_fast="3, 2⁻²⁴ absolute on [0.5, 2]",
    ),
    RealFunction("log1p", ((-1, 20),), nvidia=(1, 1), ours=2),
    RealFunction("pow", ((0, 20), (-30, 30)), nvidia=(4, 2), apple=("16", "as exp2(y · log2(x))"),
                 nvidia_fast="as exp2(y · log2(x))"),
    RealFunction("sqrt", ((0, 100),), **_EXACT, apple=("0.5", "0.5"), nvidia_fast="1"),
    RealFunction("rsqrt", ((0, 100),), nvidia=(2, 1), ours=2),
    RealFunction("cbrt", ((-100, 100),), nvidia=(1, 1), ours=2),
    RealFunction("hypot", ((-100, 100), (-100, 100)), nvidia=(3, 2), ours=2),
    RealFunction("sin", (_TURNS,), nvidia=(2, 2), apple=("4", "2⁻¹³ absolute on [−π, π]"),
                 nvidia_fast="2⁻²¹·⁴¹ absolute on [−π, π]"),
    RealFunction("cos", (_TURNS,), nvidia=(2, 2), apple=("4", "2⁻¹³ absolute on [−π, π]"),
                 nvidia_fast="2⁻²¹·¹⁹ absolute on [−π, π]"),
    RealFunction("tan", (_TURNS,), nvidia=(4, 2), apple=("6", "as sin(x) / cos(x)"), nvidia_fast="as sin(x) / cos(x)"),
    RealFunction("asin", (_UNIT,), nvidia=(2, 2), apple=("4", "5")),
    RealFunction("acos", (_UNIT,), nvidia=(2, 2), apple=("4", "5")),
    RealFunction("atan", (_WIDE,), nvidia=(2, 2), apple=("5", "5")),
    RealFunction("atan2", (_WIDE, _WIDE), nvidia=(3, 2), apple=("6", "as atan(y / x)")),
    RealFunction("sinh", ((-90, 90),), nvidia=(3, 2), apple=("4", "as (exp(x) − exp(−x)) / 2")),
    RealFunction("cosh", ((-90, 90),), nvidia=(2, 1), apple=("4", "as (exp(x) + exp(−x)) / 2")),
    RealFunction("tanh", ((-10, 10),), nvidia=(2, 1), apple=("5", "as (t − 1) / (t + 1), t = exp(2x)")),
    RealFunction("asinh", (_WIDE,), nvidia=(3, 3), apple=("4", "as log(x + sqrt(x² + 1))")),
    RealFunction("acosh", ((1, 30),), nvidia=(4, 3), apple=("4", "as log(x + sqrt(x² − 1))")),
    RealFunction("atanh", (_UNIT,), nvidia=(3, 2), apple=("5", "as log((1 + x) / (1 − x)) / 2")),
    RealFunction("erf", ((-6, 6),), nvidia=(2, 2), ours=2),
    RealFunction("erfc", ((-6, 27),), cpu=(2, 6), nvidia=(4, 5), ours=5),
    RealFunction("tgamma", ((-40, 36),), cpu=(2, 10), nvidia=(5, 10), ours=5),
    RealFunction(
        "lgamma", ((-20, 40),), cpu=(2, 10), nvidia=(6, 4), ours=6,
        near_zeros=((-10.001, -2.264), (-23.0001, -2.2637)),
    ),
    RealFunction("degrees", (_WIDE,), nvidia=(1, 1), ours=2),
    RealFunction("radians", ((-360, 360),), nvidia=(1, 1), ours=2),
    RealFunction("logaddexp", (_WIDE, _WIDE), cpu=(3, 3), nvidia=(3, 3), ours=3.5, terms=_terms(np.logaddexp)),
    RealFunction("logaddexp2", (_WIDE, _WIDE), cpu=(3, 3), nvidia=(3, 3), ours=3.5, terms=_terms(np.logaddexp2)),
    RealFunction("fmod", (_WIDE, _WIDE), **_EXACT, apple=("0", "0")),
    RealFunction("remainder", (_WIDE, _WIDE), **_EXACT),
    RealFunction("nextafter", (_WIDE, _WIDE), **_EXACT),
    RealFunction("copysign", (_WIDE, _WIDE), **_EXACT, apple=("0", "0")),
    RealFunction("fabs", (_WIDE,), **_EXACT, apple=("0", "0")),
    RealFunction("ceil", (_WIDE,), **_EXACT, apple=("0", "0")),
    RealFunction("floor", (_WIDE,), **_EXACT, apple=("0", "0")),
    RealFunction("rint", (_WIDE,), **_EXACT, apple=("0", "0")),
    RealFunction("trunc", (_WIDE,), **_EXACT, apple=("0", "0")),
)  # fmt: skip
