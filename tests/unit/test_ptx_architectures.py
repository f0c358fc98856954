"""Compute capabilities, architectures and PTX versions. Source of the numbers: PTX ISA, "Release Notes"."""

from __future__ import annotations

import pytest

from numba_gpucore.base.errors import DeviceError, OptionError
from numba_ptxplus.architectures import ARCHITECTURES, arch_for_device, arch_of, ptx_version


@pytest.mark.parametrize("cc", [(9, 0), "9.0", "90", "sm_90", "compute_90"])
def test_names_of_one_architecture(cc):
    assert arch_of(cc) == "sm_90"


@pytest.mark.parametrize("cc, arch", [((12, 1), "sm_121"), ("90a", "sm_90a"), ("10.0f", "sm_100f"), ((7, 5), "sm_75")])
def test_names_of_others(cc, arch):
    assert arch_of(cc) == arch


@pytest.mark.parametrize("cc", [(7, 0), "nonsense", (99, 9), "75a"])
def test_an_unknown_one_lists_the_known(cc):
    with pytest.raises(OptionError, match=r"known are sm_75, .*sm_121f"):
        arch_of(cc)


@pytest.mark.parametrize(
    "capability, arch",
    [((7, 5), "sm_75"), ((8, 6), "sm_86"), ((9, 0), "sm_90"), ((10, 1), "sm_100"), ((13, 0), "sm_121")],
)
def test_a_device_runs_the_newest_architecture_that_it_knows(capability, arch):
    assert arch_for_device(*capability) == arch


def test_an_older_device_is_refused():
    with pytest.raises(DeviceError, match=r"capability 7\.0; kernels need 7\.5"):
        arch_for_device(7, 0)


@pytest.mark.parametrize("arch, version", [("sm_75", 70), ("sm_90", 78), ("sm_100", 86), ("sm_121", 88)])
def test_the_oldest_ptx_that_will_do(arch, version):
    assert ptx_version(arch, params_nbytes=4096) == version


def test_many_parameters_need_ptx_8_1():
    assert ptx_version("sm_75", params_nbytes=4097) == 81
    assert ptx_version("sm_75", params_nbytes=4, has_debug_information=True) == 75
    assert all(ptx_version(arch, params_nbytes=4097) >= 81 for arch in ARCHITECTURES)
