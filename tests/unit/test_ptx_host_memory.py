"""Pinned, mapped and managed arrays, events and forall of the public API on the stand-in for the CUDA driver."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pytest

from numba_gpucore import language as gpu
from numba_gpucore.base.errors import LaunchError
from numba_gpucore.cuda_api.execution import ExecutionNames
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.jit import jit
from numba_ptxplus.driver.device import CudaDevice
from tests.ptx.device import PLATFORM, use_device

if sys.platform == "darwin":
    pytest.skip("NVIDIA offers no cuda-bindings for macOS", allow_module_level=True)

from tests.unit.fake_cuda import FakeCuda, real

ARRAYS = Allocator(PLATFORM)
NAMES = ExecutionNames(PLATFORM)


@pytest.fixture
def cuda(monkeypatch):
    driver = FakeCuda()
    # numba.cuda's advice is on where another test has installed us as numba.cuda.
    quiet = {"NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": "0", "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"}
    use_device(monkeypatch, CudaDevice(driver, 0), **quiet)
    return driver


def kernel(x, y):
    i = gpu.grid(1)
    if i < x.size:
        y[i] = x[i] + 1


# -- memory


@pytest.mark.parametrize(
    ("make", "called"),
    [
        (ARRAYS.pinned_array, "cuMemHostAlloc"),
        (ARRAYS.mapped_array, "cuMemHostAlloc"),
        (ARRAYS.managed_array, "cuMemAllocManaged"),
    ],
)
def test_memory_comes_from_the_driver_and_goes_back(make, called, cuda):
    before = len(cuda.named(called)), len(cuda.memory)
    array = make((2, 3), np.float32, order="F")
    assert (array.shape, array.dtype, array.strides) == ((2, 3), np.float32, (4, 8))
    assert len(cuda.named(called)) == before[0] + 1
    array[...] = 1.5
    view = array[1:]
    del array
    assert (view == 1.5).all() and len(cuda.memory) == before[1] + 1
    del view
    assert len(cuda.memory) == before[1]


def test_write_combined_memory_is_asked_for(cuda):
    ARRAYS.mapped_array(4, wc=True)
    assert cuda.named("cuMemHostAlloc")[-1][1] & real.CU_MEMHOSTALLOC_WRITECOMBINED


def test_kernels_work_on_mapped_and_managed_arrays_in_place(cuda):
    x, y = ARRAYS.mapped_array(8, np.int32), ARRAYS.managed_array(8, np.int32)
    jit(PLATFORM, kernel)[1, 8](x[2:], y)
    (_config, params) = cuda.launches[-1]
    assert struct.unpack("<QqQq", params) == (x.ctypes.data + 8, 6, y.ctypes.data, 8)
    assert not cuda.named("cuMemcpyHtoDAsync") and not cuda.named("cuMemcpyDtoHAsync")


def test_results_of_arithmetic_are_ordinary_arrays_which_are_copied(cuda):
    x = ARRAYS.mapped_array(8, np.int32)
    x[...] = 3
    total = x + x
    assert total.memory is None and x[1:].memory is x.memory
    jit(PLATFORM, kernel)[1, 8](total, x)
    assert len(cuda.named("cuMemcpyHtoDAsync")) == 1


def test_pinned_locks_the_span_of_each_array(cuda):
    x = np.zeros((4, 4))
    with ARRAYS.pinned(x[1:3], np.zeros(0)):
        assert cuda.named("cuMemHostRegister") == [(x.ctypes.data + 32, 64, real.CU_MEMHOSTREGISTER_PORTABLE)]
        assert not cuda.named("cuMemHostUnregister")
    assert cuda.named("cuMemHostUnregister") == [(x.ctypes.data + 32,)]


def test_pages_are_unlocked_after_an_exception(cuda):
    with pytest.raises(ZeroDivisionError), ARRAYS.pinned(np.zeros(4)):
        raise ZeroDivisionError
    assert len(cuda.named("cuMemHostUnregister")) == 1


# -- events


def test_a_stream_waits_for_an_event_on_the_device(cuda):
    """No function of the host is put into a stream, which would stop the driver's own thread."""
    stream, other, event = NAMES.stream(), NAMES.stream(), NAMES.event(timing=False)
    event.record(stream)
    event.wait(other)
    assert cuda.named("cuEventCreate") == [(int(real.CUevent_flags.CU_EVENT_DISABLE_TIMING),)]
    ((recorded, _stream),) = cuda.named("cuEventRecord")
    ((_other, awaited, _flags),) = cuda.named("cuStreamWaitEvent")
    assert int(recorded) == int(awaited)
    assert not cuda.named("cuLaunchHostFunc")


def test_events_are_timed_by_the_gpu(cuda):
    """The stand-in answers 1.5 ms."""
    start, end = NAMES.event(), NAMES.event()
    start.record()
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) == 1.5
    start.record()
    assert len(cuda.named("cuEventCreate")) == 2, "a recorded event is used again"


def test_a_pending_event_has_no_time(cuda):
    start, end = NAMES.event(), NAMES.event()
    start.record()
    end.record()
    cuda.failures["cuEventQuery"] = real.CUresult.CUDA_ERROR_NOT_READY
    assert not end.query()
    cuda.failures["cuEventQuery"] = real.CUresult.CUDA_ERROR_NOT_READY
    with pytest.raises(LaunchError, match="the start event has not been recorded or not passed"):
        start.elapsed_time(end)


def test_an_event_that_was_never_recorded_holds_nobody_back(cuda):
    event = NAMES.event()
    event.wait(NAMES.stream())
    event.synchronize()
    assert event.query() and not cuda.named("cuStreamWaitEvent")


# -- forall


def test_forall_asks_the_driver_for_a_block(cuda):
    """The stand-in suggests 768 threads: 2000 tasks take 3 blocks."""
    x = ARRAYS.device_array(2000, np.int32)
    jit(PLATFORM, kernel).forall(2000, sharedmem=16)(x, x)
    (config, _params) = cuda.launches[-1]
    assert (config.gridDimX, config.blockDimX, config.sharedMemBytes) == (3, 768, 16)
    assert cuda.named("cuOccupancyMaxPotentialBlockSize")[-1][2] == 16
