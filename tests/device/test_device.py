"""Every case of the catalogue on every device of this machine, for both targets."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.base.errors import UnsupportedKernelError
from tests.device.catalogue import MISSING, Case, all_cases
from tests.device.kernels_numbers import WARNING_ABOUT_LITERALS

PACKAGES = {"ptxplus": numba_ptxplus, "metal": numba_metal}


@pytest.mark.filterwarnings(WARNING_ABOUT_LITERALS)
@pytest.mark.parametrize("target", PACKAGES)
@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_kernel(case: Case, target: str) -> None:
    """What must come out is stated by each case."""
    arguments = case.make_args(np.random.default_rng(case.seed))
    before = copy.deepcopy(arguments)
    kernel = PACKAGES[target].jit(case.kernel)
    if case.needs & MISSING[target]:
        with pytest.raises(UnsupportedKernelError) as caught:
            kernel[case.grid, case.block, None, case.shared_nbytes](*arguments)
        case.check_refusal(MISSING[target], str(caught.value))
        return
    kernel[case.grid, case.block, None, case.shared_nbytes](*arguments)
    case.check(before, arguments)
