"""Every case of the catalogue on every device of this machine, for both targets."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from tests.device.catalogue import Case, all_cases

#: What each target cannot express: the rest must run.
MISSING = {"ptxplus": frozenset(), "metal": frozenset({"float64", "atomic64", "recursion"})}
PACKAGES = {"ptxplus": numba_ptxplus, "metal": numba_metal}


@pytest.mark.parametrize("target", PACKAGES)
@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_kernel(case: Case, target: str) -> None:
    """What must come out is stated by each case."""
    if case.needs & MISSING[target]:
        pytest.skip(f"{target} has no {', '.join(sorted(case.needs & MISSING[target]))}")
    arguments = case.make_args(np.random.default_rng(case.seed))
    before = copy.deepcopy(arguments)
    kernel = PACKAGES[target].jit(case.kernel)
    kernel[case.grid, case.block, None, case.shared_nbytes](*arguments)
    case.check(before, arguments)
