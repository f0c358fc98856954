"""What users read when a kernel cannot be called, whole, on every level."""

from __future__ import annotations

import dataclasses
import pickle
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import numba_metal as gpu
from numba_gpucore.base.errors import ArgumentError, Fault, LaunchError, UnsupportedKernelError
from numba_gpucore.cuda_api.driver_errors import CudaAPIError
from numba_ptxplus.driver.failures import CudaMemoryError

X = np.zeros(4, np.float32)
Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass(frozen=True)
class Options:
    count: int
    names: Any


def fill(x):
    x[0] = 1


def fill_with(x, y):
    x[0] = 1


#: Bytes of shared memory that a block may have: of the target, of an H200 (tests.ptx.device).
SHARED_LIMITS = {"metal": 32 * 1024, "ptxplus": 227 * 1024}
SMALLER_BLOCKS = "use smaller blocks and more of them"

#: (what stands between the brackets, what is wrong with it)
LAUNCHES = [
    (
        (1, 2048),
        f"block.x is 2048; the limit is 1024: {SMALLER_BLOCKS}; "
        f"block (2048, 1, 1) has 2048 threads; the limit is 1024: {SMALLER_BLOCKS}",
    ),
    ((1, (1024, 2)), f"block (1024, 2, 1) has 2048 threads; the limit is 1024: {SMALLER_BLOCKS}"),
    ((0, 1), "grid.x is 0; it must be at least 1"),
    (((1, -3), (1, 0)), "grid.y is -3; it must be at least 1; block.y is 0; it must be at least 1"),
    (
        (1, 1, 0, 10**6),
        "a block needs 1000000 bytes of shared memory (0 static, 1000000 dynamic); the limit is {shared}: "
        "use smaller arrays",
    ),
    ((1, 1, 0, -1), "dynamic shared memory is -1 bytes; it cannot be negative"),
]


@pytest.mark.parametrize(
    ("configuration", "fault"), LAUNCHES, ids=[str(configuration) for configuration, _ in LAUNCHES]
)
def test_launch(level, configuration, fault):
    with pytest.raises(LaunchError) as caught:
        level.jit(fill)[configuration](X)
    fault = fault.format(shared=SHARED_LIMITS[level.target])
    assert str(caught.value) == f"kernel 'fill' cannot be launched on {level.device.name}: {fault}"


def test_launch_bounds(level):
    with pytest.raises(LaunchError, match=r"block \(128, 1, 1\) has 128 threads; the kernel's launch_bounds allow 64$"):
        level.jit(fill, launch_bounds=64)[1, 128](X)


def uses_shared_memory(x):
    a = gpu.shared.array(1024, np.float32)
    a[gpu.threadIdx.x] = 1
    gpu.syncthreads()
    x[0] = a[0]


def uses_much_shared_memory(x):
    small = gpu.shared.array(4, np.float32)
    large = gpu.shared.array((300, 200), np.float32)
    small[0] = large[0, gpu.threadIdx.x] = 1
    gpu.syncthreads()
    x[0] = small[0] + large[0, 0]


def test_static_and_dynamic_shared_memory_add_up(level):
    limit, kernel = SHARED_LIMITS[level.target], level.jit(uses_shared_memory)
    kernel[1, 1, 0, limit - 4096](X.copy())
    with pytest.raises(
        LaunchError, match=rf"needs {limit + 4} bytes of shared memory \(4096 static, {limit - 4092} dyn"
    ):
        kernel[1, 1, 0, limit - 4092](X.copy())


STATIC_FAULTS = {
    "metal": "metal has 32768 for them — use smaller arrays",
    "ptxplus": "ptxplus has 49152 for them — use smaller arrays, or shared.array(0, dtype) and give its size at "
    "launch, which allows more",
}


def test_too_much_static_shared_memory(level):
    """A target's limit holds on every device, so that what runs on the CPU device runs elsewhere too."""
    with pytest.raises(UnsupportedKernelError) as caught:
        level.jit(uses_much_shared_memory)[1, 1](X)
    line = uses_much_shared_memory.__code__.co_firstlineno + 2
    assert str(caught.value) == (
        f"kernel 'uses_much_shared_memory' cannot be compiled, 1 reason:\n  {__file__}:{line}: "
        f"the shared arrays of a block need 240016 bytes; {STATIC_FAULTS[level.target]}"
    )


VALUES = "NumPy arrays and scalars, device arrays, objects with __cuda_array_interface__, int, float, bool, complex, "
VALUES += "None, enum members, and tuples, named tuples and dataclasses of these"
DTYPES = "use bool, integers or floats of up to 64 bits, complex64, complex128, datetime64, timedelta64, fixed-size "
DTYPES += "strings, or records of these"
RECORD = np.dtype([("mass", np.float32), ("inner", [("tag", object)])])

#: (value, what is wrong with it)
ARGUMENTS = [
    ("text", f"a value of type str cannot be passed to a kernel; what can: {VALUES}"),
    ([1, 2], f"a value of type list cannot be passed to a kernel; what can: {VALUES}"),
    (2**70, f"the integer {2**70} fits neither int64 nor uint64, and kernels have no larger integers"),
    ((1, (2, {})), f"item '1': item '1': a value of type dict cannot be passed to a kernel; what can: {VALUES}"),
    (Pair(1, [2]), f"item 'right': a value of type list cannot be passed to a kernel; what can: {VALUES}"),
    (Options(1, ["a"]), f"item 'names': a value of type list cannot be passed to a kernel; what can: {VALUES}"),
    (np.zeros(2, object), f"NumPy dtype object cannot be used in a kernel; {DTYPES}"),
    (np.zeros(2, RECORD), f"field 'inner': field 'tag': NumPy dtype object cannot be used in a kernel; {DTYPES}"),
    (
        np.zeros(2, ">f4"),
        f"NumPy dtype >f4 cannot be used in a kernel: its byte order is not this machine's; {DTYPES}",
    ),
]


@pytest.mark.parametrize(("value", "fault"), ARGUMENTS, ids=[str(value)[:20] for value, _ in ARGUMENTS])
def test_argument(level, value, fault):
    with pytest.raises(ArgumentError) as caught:
        level.jit(fill_with)[1, 1](X, value)
    assert str(caught.value) == f"kernel 'fill_with': argument 1 ('y'): {fault}"


def test_all_arguments_are_named_at_once(level):
    with pytest.raises(ArgumentError, match=r"argument 0 \('x'\): .* type set .*; argument 1 \('y'\): .* type list "):
        level.jit(fill_with)[1, 1]({1}, [2])


@pytest.mark.parametrize(
    ("arguments", "fault"), [((X,), "missing a required argument: 'y'"), ((X, 1, 2), "too many positional arguments")]
)
def test_count_of_arguments(level, arguments, fault):
    with pytest.raises(ArgumentError) as caught:
        level.jit(fill_with)[1, 1](*arguments)
    assert str(caught.value) == f"kernel 'fill_with': {fault}"


def test_call_without_configuration(level):
    with pytest.raises(
        LaunchError, match=r"kernel 'fill': launch configuration was not specified; write kernel\[grid, "
    ):
        level.jit(fill)(X)


def test_the_device_stays_usable(level):
    x = X.copy()
    kernel = level.jit(fill)
    for configuration, _fault in LAUNCHES:
        with pytest.raises(LaunchError):
            kernel[configuration](x)
    kernel[1, 1](x)
    assert x[0] == 1


@pytest.mark.parametrize(
    "error",
    [
        LaunchError("too many threads"),
        UnsupportedKernelError("k", [Fault("k.py", 3, "what", "advice")]),
        CudaMemoryError(2, "CUDA_ERROR_OUT_OF_MEMORY", "allocating", "detail"),
        CudaAPIError(1, "invalid value"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_can_be_sent_to_other_processes(error: Exception) -> None:
    """Pools of processes pickle what their workers raise; those from a compilation are sent in test_messages.py."""
    sent = pickle.loads(pickle.dumps(error))
    assert (type(sent), str(sent), vars(sent)) == (type(error), str(error), vars(error))
