"""Every case of the catalogue through compile → PTX → ptxas → the PTX machine, compared with what must come out."""

from __future__ import annotations

import copy
from importlib import import_module

import numpy as np
import pytest

from numba_gpucore.launch.jit import jit
from numba_ptxplus.codegen.assemble import newest_ptxas
from numba_ptxplus.driver.abi import DeviceCode
from numba_ptxplus.toolchain import PTXAS_PACKAGE
from tests.device.catalogue import Case, all_cases
from tests.device.kernels_numbers import WARNING_ABOUT_LITERALS
from tests.ptx.device import PLATFORM, PtxDevice, use_device

ARCH = "sm_90"
#: The oldest and the newest architecture, for the topics in which instructions differ: redux, scopes, wide
#: loads, packed floats, bfloat16.
OTHER_ARCHS = ("sm_75", "sm_120")
OTHER_TOPICS = ("barriers", "memory", "atomics", "warps", "bfloat", "vectors")


@pytest.fixture(scope="module")
def devices() -> dict[str, PtxDevice]:
    """One machine for each architecture; all kernels share its memory, and none may leave anything in another's way."""
    return {arch: PtxDevice(arch=arch) for arch in (ARCH, *OTHER_ARCHS)}


def run_case(case: Case, device: PtxDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    assert newest_ptxas() is not None, f"no ptxas found; pip install {PTXAS_PACKAGE}"
    use_device(monkeypatch, device)
    arguments = case.make_args(np.random.default_rng(case.seed))
    before = copy.deepcopy(arguments)
    jit(PLATFORM, case.kernel)[case.grid, case.block, None, case.shared_nbytes](*arguments)
    case.check(before, arguments)
    program = device.programs[max(device.programs)]
    assert f".target {device.arch}" in program.machine.text
    assert DeviceCode.unpack(program.artifact.code).cubin, "ptxas was not run"


@pytest.mark.filterwarnings(WARNING_ABOUT_LITERALS)
@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_kernel(case: Case, devices: dict[str, PtxDevice], monkeypatch: pytest.MonkeyPatch) -> None:
    """What must come out is stated by each case; ptxas takes every kernel, or compiling would have failed."""
    run_case(case, devices[ARCH], monkeypatch)


@pytest.mark.parametrize("arch", OTHER_ARCHS)
@pytest.mark.parametrize("topic", OTHER_TOPICS)
def test_kernels_of_other_architectures(
    topic: str, arch: str, devices: dict[str, PtxDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in import_module(f"tests.device.kernels_{topic}").CASES:
        run_case(case, devices[arch], monkeypatch)
