"""Every case of the catalogue through compile → PTX → ptxas → the PTX machine, compared with what must come out."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from numba_gpucore.launch.jit import jit
from numba_ptxplus.codegen.assemble import newest_ptxas
from numba_ptxplus.driver.abi import DeviceCode
from numba_ptxplus.toolchain import PTXAS_PACKAGE
from tests.device.catalogue import Case, all_cases
from tests.ptx.device import PLATFORM


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_kernel(case: Case) -> None:
    """What must come out is stated by each case; ptxas takes every kernel."""
    assert newest_ptxas() is not None, f"no ptxas found; pip install {PTXAS_PACKAGE}"
    arguments = case.make_args(np.random.default_rng(case.seed))
    before = copy.deepcopy(arguments)
    kernel = jit(PLATFORM, case.kernel)
    kernel[case.grid, case.block, None, case.shared_nbytes](*arguments)
    case.check(before, arguments)
    (artifact,) = (kernel._programs.known_artifact(types) for types in kernel._programs.known_types())
    assert DeviceCode.unpack(artifact.code).cubin
