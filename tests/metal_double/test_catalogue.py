"""Every kernel of the device catalogue through the Metal driver on the double: emitted text, checked and run.

Each runs on three GPUs: one that is as late as it may be, with threads in order; one that runs threads and threadgroups
in reverse; one that shuffles them, and where undefined behaviour is a fault.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest

import numba_metal
from numba_gpucore.base.errors import UnsupportedKernelError
from tests.device.catalogue import MISSING, Case, all_cases
from tests.levels import opened_level
from tests.metal_double import World

GPUS = (
    World(polls_until_done=10**6),
    World(order="reversed", is_eager=True),
    World(order="shuffled", seed=3, trap_undefined=True, all_threads_must_arrive=True),
)
CASES = [case for case in all_cases() if not case.needs & MISSING["metal"]]
REFUSED = [case for case in all_cases() if case.needs & MISSING["metal"]]


@pytest.fixture(autouse=True)
def _use_the_double():
    """A session of its own, whose Metal devices are GPUS."""
    with opened_level("metal double", *GPUS):
        yield


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernel(case: Case) -> None:
    """What must come out is stated by each case."""
    kernel = numba_metal.jit(case.kernel)
    for index in range(len(GPUS)):
        numba_metal.select_device(index)
        arguments = case.make_args(np.random.default_rng(case.seed))
        before = copy.deepcopy(arguments)
        kernel[case.grid, case.block, None, case.shared_nbytes](*arguments)
        case.check(before, arguments)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_refused_kernel(case: Case) -> None:
    """What Metal lacks is refused, with the reason."""
    with pytest.raises(UnsupportedKernelError) as caught:
        numba_metal.jit(case.kernel)[case.grid, case.block, None, case.shared_nbytes](
            *case.make_args(np.random.default_rng(case.seed))
        )
    case.check_refusal(MISSING["metal"], str(caught.value))
