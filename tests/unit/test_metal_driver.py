"""The Metal driver on the double: devices and memory."""

import mmap
import sys

import numpy as np
import pytest

from numba_gpucore.base.errors import DeviceError, DeviceMemoryError, OptionError
from numba_metal.driver import BACKEND
from numba_metal.driver.device import read_timeout_s
from tests.metal_double import World, installed
from tests.metal_double.launching import (
    launch_count,
    to_device,
    to_host,
)

pytest_plugins = ["tests.metal_double.fixtures"]


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has a device")
def test_no_device_without_metal():
    """PyObjC is a package for macOS."""
    assert BACKEND.count_devices() == 0
    with pytest.raises(DeviceError, match="there is no Metal device 0: this machine has 0"):
        BACKEND.open_device(0)


def test_device_facts(metal_device):
    assert BACKEND.count_devices() == 1
    facts = (metal_device.kind, metal_device.index, metal_device.name, metal_device.arch)
    assert facts == ("metal", 0, "Metal double", "apple-msl3.2")
    assert metal_device.limits.max_threads_per_block == 1024
    assert metal_device.limits.max_shared_nbytes == 32 * 1024
    assert metal_device.limits.warp_size == 32
    with pytest.raises(DeviceError, match="there is no Metal device 1: this machine has 1"):
        BACKEND.open_device(1)


@pytest.mark.parametrize(
    "world",
    [
        World(gpu_families=frozenset({"MTLGPUFamilyMac2"})),
        World(gpu_families=frozenset({"MTLGPUFamilyMac2", "MTLGPUFamilyMetal3"})),
        World(macos=(13, 6)),
    ],
    ids=["no Metal 3", "Intel Mac", "macOS 13"],
)
def test_machines_that_cannot_run_kernels_have_no_device(world):
    with installed(world):
        assert BACKEND.count_devices() == 0


def test_architecture_is_the_language_version(open_double):
    """One text serves all GPUs, so that a cached kernel does too."""
    assert open_double(macos=(14, 5)).arch == "apple-msl3.1"
    assert open_double(macos=(26, 0)).arch == "apple-msl3.2"


@pytest.mark.parametrize("text", ["0", "-1", "soon", "inf", "nan"])
def test_time_out_must_be_a_positive_number(text):
    with pytest.raises(OptionError, match=f"NUMBA_METAL_TIMEOUT_S must be a number of seconds above 0, not '{text}'"):
        read_timeout_s({"NUMBA_METAL_TIMEOUT_S": text})
    assert read_timeout_s({"NUMBA_METAL_TIMEOUT_S": " 2.5 "}) == 2.5


def test_memory_round_trip(metal_device):
    data = np.arange(1000, dtype=np.int32)
    memory = to_device(metal_device, data)
    np.testing.assert_array_equal(to_host(metal_device, memory, np.int32), data)
    part = np.array([-1, -2], np.int32)
    metal_device.write(memory, 40, memoryview(part).cast("B"), None)
    data[10:12] = part
    np.testing.assert_array_equal(to_host(metal_device, memory, np.int32), data)


def test_empty_memory(metal_device):
    memory = metal_device.allocate(0)
    assert memory.nbytes == 0
    assert memory.address != 0
    assert to_host(metal_device, memory, np.int32).size == 0


def test_use_of_released_memory(metal_device):
    memory = metal_device.allocate(64)
    memory.release()
    memory.release()
    with pytest.raises(DeviceMemoryError, match="used after its release"):
        to_host(metal_device, memory, np.uint8)


def test_access_outside_memory(metal_device):
    memory = metal_device.allocate(64)
    with pytest.raises(DeviceMemoryError, match="bytes 60 to 68 are outside device memory of 64 bytes"):
        metal_device.write(memory, 60, memoryview(bytes(8)), None)


def test_allocation_limits(open_double):
    device = open_double(max_buffer_nbytes=1 << 20, memory_nbytes=3 << 20)
    with pytest.raises(DeviceMemoryError, match="no buffers of 1048577 bytes, 1048576 at most; split the array"):
        device.allocate((1 << 20) + 1)
    kept = [device.allocate(1 << 20), device.allocate(1 << 20)]
    with pytest.raises(DeviceMemoryError, match=r"cannot allocate 1048576 bytes, .* are in use; release some arrays"):
        device.allocate(1 << 20)
    kept.pop().release()
    device.allocate(1 << 20)


def page_aligned(nbytes):
    return np.frombuffer(mmap.mmap(-1, nbytes), np.uint8)


def test_host_pages_are_used_in_place(metal_device):
    host = page_aligned(1 << 17).view(np.int32)
    memory = metal_device.share_host_memory(memoryview(host.view(np.uint8)))
    launch_count(metal_device, memory, times=3)
    metal_device.synchronize()
    assert host[:64].tolist() == [3] * 64
    assert not host[64:].any()
    memory.release()
    host[0] = 7


def test_host_memory_that_cannot_be_shared(metal_device):
    pages = page_aligned(1 << 17)
    assert metal_device.share_host_memory(memoryview(pages)[8:]) is None
    assert metal_device.share_host_memory(memoryview(pages)[: 1 << 12]) is None  # a copy is cheaper
    assert metal_device.share_host_memory(memoryview(bytes(1 << 17))) is None  # read-only
