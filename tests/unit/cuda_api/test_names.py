"""The public names of both packages, and what they say about devices."""

from __future__ import annotations

import re

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore import language
from numba_gpucore.base.errors import DeviceError, NotOfferedError, OptionError
from numba_gpucore.cuda_api.devices import DeviceNames, GpuDevice
from numba_gpucore.cuda_api.driver_only import PTX_COMPILERS
from numba_gpucore.launch import session
from numba_gpucore.launch.session import Session
from tests.unit.launch import fake_device

HOST = fake_device.platform("HOST")
REMOTE = fake_device.platform("REMOTE")
PACKAGES = [numba_metal, numba_ptxplus]


@pytest.fixture(autouse=True)
def own_session(monkeypatch: pytest.MonkeyPatch) -> Session:
    fresh = Session({"NUMBA_METAL_DEVICE": "cpu", "NUMBA_PTXPLUS_DEVICE": "cpu"})
    monkeypatch.setattr(session, "_default", fresh)
    return fresh


def test_both_packages_have_the_same_names() -> None:
    assert numba_metal.__all__ == numba_ptxplus.__all__


def test_the_kernel_language_is_shared() -> None:
    for name in (
        "grid",
        "threadIdx",
        "shared",
        "local",
        "const",
        "atomic",
        "syncthreads",
        "shfl_sync",
        "laneid",
        "popc",
    ):
        assert getattr(numba_metal, name) is getattr(numba_ptxplus, name) is getattr(language, name)
    assert numba_metal.float32 is numba_ptxplus.float32
    assert numba_metal.warpsize == 32


def test_compilers_to_ptx_are_refused_for_metal() -> None:
    """`from numba.cuda import compile_ptx` works; calling it says where to go."""
    for name in PTX_COMPILERS:
        with pytest.raises(
            NotOfferedError, match=f"numba.cuda.{name} is not offered: .* numba_metal.compile_msl gives"
        ):
            getattr(numba_metal, name)(len, "int64(int64)")
        assert callable(getattr(numba_ptxplus, name))


def test_nothing_private_or_foreign_is_exported() -> None:
    for name in numba_metal.__all__:
        assert not name.startswith("_")
    assert not {"np", "Any", "annotations", "functools", "dataclass", "KernelVector", "F"} & set(numba_metal.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_documented_names_of_numba_cuda(package: object) -> None:
    """The CUDA host API chapter of Numba's manual."""
    for name in """
        jit to_device device_array device_array_like pinned_array pinned_array_like mapped_array mapped_array_like
        managed_array pinned defer_cleanup as_cuda_array is_cuda_array from_cuda_array_interface synchronize stream
        default_stream legacy_default_stream per_thread_default_stream event event_elapsed_time is_available detect
        gpus select_device get_current_device list_devices current_context close profile_start profile_stop profiling
        In Out InOut install_as_cuda
    """.split():
        assert hasattr(package, name), name


@pytest.mark.parametrize("package", PACKAGES)
def test_current_device(package: object) -> None:
    device = package.current_device()  # type: ignore[attr-defined]
    assert device.kind == "cpu"
    assert device == package.get_current_device() == package.gpus[0]._device  # type: ignore[attr-defined]
    assert device.WARP_SIZE == 32 and device.MAX_THREADS_PER_BLOCK == device.limits.max_threads_per_block == 1024
    assert device.compute_capability == (7, 5)
    with pytest.raises(AttributeError, match="do not tell PCI_BUS_ID; known are COMPUTE_CAPABILITY_MAJOR, "):
        device.PCI_BUS_ID  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        device.colour  # noqa: B018


def test_gpus_and_contexts() -> None:
    names = DeviceNames(HOST)
    assert len(names.gpus) == 2
    assert names.current_device().id == 0
    with names.gpus[1]:
        assert names.current_device().id == names.gpus.current.id == 1
        assert names.current_context().device.id == 1
    assert names.current_device().id == 0
    assert names.select_device(1).id == 1
    names.close()
    assert names.current_device().id == 0
    with pytest.raises(IndexError, match="there is no device 2: this machine has 2"):
        names.gpus[2]
    with pytest.raises(DeviceError, match="there is no fake device 7: this machine has 2"):
        names.select_device(7)


def test_detect(capsys: pytest.CaptureFixture[str]) -> None:
    assert DeviceNames(HOST).detect()
    assert re.search(r"Found 2 devices\nid 0 +Fake Device", capsys.readouterr().out)


def test_memory_info() -> None:
    free, total = DeviceNames(HOST).current_context().get_memory_info()
    assert 0 < free <= total
    with pytest.raises(DeviceError, match="does not tell how much memory"):
        DeviceNames(REMOTE).current_context().get_memory_info()


def test_what_programs_ask_of_contexts_and_devices() -> None:
    """Idioms of programs for Numba's own numba.cuda, in which a name was bytes, and for NVIDIA's."""
    context = DeviceNames(HOST).current_context()
    context.deallocations.clear()
    context.memory_manager.deallocations.clear()
    with context.deallocations.disable():
        assert len(context.deallocations) == 0
    device = context.device
    assert device.name == device.name.decode("utf-8") == f"{device.name}" == "Fake Device"
    assert (device.COMPUTE_CAPABILITY_MAJOR, device.COMPUTE_CAPABILITY_MINOR) == device.compute_capability


def test_compute_capability_of_a_gpu() -> None:
    for arch, expected in [("sm_90", (9, 0)), ("sm_121", (12, 1)), ("sm_90a", (9, 0)), ("apple7", (7, 5))]:
        device = fake_device.FakeDevice(False, arch=arch)
        assert GpuDevice(device).compute_capability == expected  # type: ignore[arg-type]


def test_device_variable(own_session: Session) -> None:
    names = {"fake": "fake", "auto": "fake", "": "fake", "FAKE": "fake"}
    for value, kind in names.items():
        assert Session({"TESTS_DEVICE": value}).backend_kind(HOST) == kind
    with pytest.raises(OptionError, match="TESTS_DEVICE must be one of auto, fake, not 'gpu'"):
        Session({"TESTS_DEVICE": "gpu"}).backend_kind(HOST)


def test_streams_and_events() -> None:
    stream = numba_metal.stream()
    start, end = numba_metal.event(), numba_metal.event()
    start.record(stream)
    with stream.auto_synchronize():
        array = numba_metal.to_device(np.arange(3), stream=stream)
    end.record(stream)
    end.synchronize()
    assert numba_metal.event_elapsed_time(start, end) >= 0
    np.testing.assert_array_equal(array.copy_to_host(), [0, 1, 2])
    with numba_metal.profiling(), numba_metal.defer_cleanup():
        pass
