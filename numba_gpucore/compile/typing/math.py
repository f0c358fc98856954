"""Typing of what Numba's own `math` leaves out. Before: Numba's mathdecl. After: lower.math."""

from __future__ import annotations

import math

from numba_gpucore.compile.numba_api import templates, types
from numba_gpucore.compile.typing.registry import declare_cases

FLOATS = (types.float32, types.float64)


def _cases(arity: int, result=None):
    """For floats of one type; integers are converted to float64, as in Numba's own typing."""
    cases = [templates.signature(result(t) if result else t, *[t] * arity) for t in FLOATS]
    real = result(types.float64) if result else types.float64
    return [templates.signature(real, *[t] * arity) for t in (types.int64, types.uint64)] + cases


declare_cases(math.fmod, *_cases(2))
declare_cases(math.remainder, *_cases(2))
declare_cases(math.log, *_cases(2))  # with a base
declare_cases(math.modf, *[templates.signature(types.UniTuple(t, 2), t) for t in FLOATS])
for _name, _arity in (("cbrt", 1), ("fma", 3)):  # Python 3.11, 3.13
    if hasattr(math, _name):
        declare_cases(getattr(math, _name), *_cases(_arity))
