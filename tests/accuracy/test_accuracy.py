"""Each function of reals keeps to its bound on every level, by samples of which a second suffices.

docs/generate_math.py measures the same by larger ones.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from numba_gpucore.compile.numba_api import mathdecl, types, ufunc_db
from tests.accuracy.exact import Exact
from tests.accuracy.functions import F16, F32, F64, FUNCTIONS, SPELLINGS, RealFunction
from tests.accuracy.levels import TYPES, Level, open_level
from tests.accuracy.measure import Sample, measure
from tests.accuracy.samples import arguments
from tests.accuracy.specials import special_answers, special_arguments, wrong_answers
from tests.accuracy.ulps import ulp_errors

COUNTS = {F16: 2**12, F32: 2**13, F64: 2**9}
#: Functions of reals that are arithmetic, or choose, or take numbers apart: tests/device holds their results exactly.
EXACT_ELSEWHERE = frozenset(
    """absolute add conjugate divide divmod floor_divide fmax fmin ldexp maximum minimum multiply negative positive
    reciprocal remainder sign spacing square subtract""".split()
)


@pytest.fixture(scope="module", params=TYPES)
def level(request: pytest.FixtureRequest) -> Iterator[Level]:
    with open_level(request.param) as opened:
        yield opened


@functools.cache
def sample_of(function: RealFunction, dtype: np.dtype) -> Sample:
    return Sample.of(function, arguments(dtype, function.arity, function.busy, COUNTS[dtype]))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_errors_are_within_bounds(level: Level, function: RealFunction) -> None:
    """Against SciPy, NumPy and mpmath; bounds and their sources are in tests/accuracy/functions.py."""
    for dtype in TYPES[level.name]:
        measured = measure(level, sample_of(function, dtype))
        bound = function.bound(level.name, dtype)
        assert measured.error <= bound, f"{function.name} of {dtype} on {level.name}: {measured}; bound {bound}"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_special_values_are_those_of_c(level: Level, function: RealFunction) -> None:
    """C17 annex F as NumPy follows it: zeros and their signs, infinities, NaN, domain errors and poles."""
    for dtype in TYPES[level.name]:
        x = special_arguments(function, dtype)
        assert not wrong_answers(function, x, special_answers(level, function, x))


@pytest.mark.parametrize("name", [name for name, spellings in SPELLINGS.items() if len(spellings) > 1])
def test_spellings_agree(name: str) -> None:
    """`math.sin` and `numpy.sin` are one function: the same bits on the CPU device."""
    function = next(function for function in FUNCTIONS if function.name == name)
    x = arguments(F32, function.arity, function.busy, 2**10)
    with open_level("cpu") as cpu:
        first, *others = [cpu.compute(spelling, *x) for spelling in function.spellings]
    for other in others:
        np.testing.assert_array_equal(other.view(np.uint32), first.view(np.uint32))


def _typed_by_numba() -> set[Any]:
    """Functions of `math` and ufuncs that take float32 and give one."""
    reals = {
        function
        for function, template in mathdecl.registry.globals
        if any(types.float32 == case.return_type for case in _cases(template))
    }
    loops = {ufunc for ufunc in ufunc_db.get_ufuncs() if {"f->f", "ff->f"} & set(ufunc.types)}
    return reals | loops


def _cases(template: object) -> list:
    """Of a function type's templates."""
    return [case for inner in getattr(template, "templates", ()) for case in getattr(inner, "cases", ())]


def test_every_function_that_numba_types_is_measured() -> None:
    measured = {spelling for function in FUNCTIONS for spelling in function.spellings}
    typed = _typed_by_numba()
    missing = {function.__name__ for function in typed - measured}
    assert missing <= EXACT_ELSEWHERE
    assert {math.erfc, np.logaddexp} <= typed  # both lists were found


def test_ulps_of_numbers_counted_by_hand() -> None:
    """Next to 1 the float32 above is 2**-23 away, the one below 2**-24; subnormals are 2**-149 apart."""
    one, largest = np.float32(1), np.finfo(np.float32).max
    got = np.array([1 + 2**-23, 1 - 2**-24, 2**-149, np.inf, np.inf, largest, np.nan, 1, np.inf], np.float32)
    exact = np.array([1, 1, 2**-150, largest, np.inf, np.inf, np.nan, np.nan, -np.inf])
    wanted = [1, 0.5, 0.5, 1, 0, 1, 0, np.inf, 2**25]
    np.testing.assert_array_equal(ulp_errors(got, Exact.of(exact)), wanted)
    thirds = Exact(np.array([1 / 3]), np.array([1 / 3]))
    assert ulp_errors(np.array([np.nextafter(1 / 3, 1)]), thirds)[0] == pytest.approx(2 / 3)
    assert ulp_errors(np.array([one]), Exact.of(np.array([0.0])))[0] == 2.0**149
