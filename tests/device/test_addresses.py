"""Kernels that know device memory by its address: device arrays as globals, pointers as arguments."""

from __future__ import annotations

import gc
import types as python_types

import numpy as np
import pytest
from numba import carray, farray, types
from numba.core.errors import TypingError

import numba_metal
import numba_ptxplus as gpu
from numba_gpucore.base.errors import ArgumentError

GLOBAL = gpu.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
MODULE = python_types.ModuleType("settings")
MODULE.table = gpu.to_device(np.arange(5))


class Foreign:
    """Another package's array."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@gpu.jit(device=True)
def read_global(row, column):
    return GLOBAL[row, column]


def test_a_global_device_array_is_read_and_written_where_it_lies() -> None:
    @gpu.jit
    def kernel(out):
        i = gpu.grid(1)
        out[i] = read_global(1, i)
        GLOBAL[0, i] = -1

    out = np.zeros(3, np.float32)
    kernel[1, 3](out)
    np.testing.assert_array_equal(out, [3, 4, 5])
    np.testing.assert_array_equal(GLOBAL.copy_to_host(), [[-1, -1, -1], [3, 4, 5]])
    assert "a device array, whose address is that of this process" in kernel.stats.misses[0][1]


@pytest.mark.parametrize("wrap", [lambda array: array, Foreign], ids=["ours", "foreign"])
@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_closures_capture_arrays_of_any_layout(wrap, order) -> None:
    source = np.arange(24, dtype=np.int32).reshape(4, 6)
    array = gpu.to_device(np.asfortranarray(source) if order == "F" else source)
    array, source = (array[::2, 1:], source[::2, 1:]) if order == "A" else (array, source)
    captured = wrap(array)

    @gpu.jit
    def kernel(out):
        row, column = gpu.grid(2)
        out[row, column] = captured[row, column]

    out = np.zeros_like(source)
    kernel[1, source.shape](out)
    np.testing.assert_array_equal(out, source)


def test_a_module_has_device_arrays_as_attributes() -> None:
    @gpu.jit
    def kernel(out):
        i = gpu.grid(1)
        out[i] = 2 * MODULE.table[i]

    out = np.zeros(5, np.int64)
    kernel[1, 5](out)
    np.testing.assert_array_equal(out, [0, 2, 4, 6, 8])


def test_a_compiled_kernel_keeps_its_array() -> None:
    """What the name stood for when the kernel was compiled is meant, as for NumPy arrays."""
    captured = gpu.to_device(np.full(1000, 7))

    @gpu.jit
    def kernel(out):
        out[0] = captured[999]

    out = np.zeros(1, np.int64)
    kernel[1, 1](out)
    captured = gpu.to_device(np.full(1000, 8))
    gc.collect()
    kernel[1, 1](out)
    assert out[0] == 7


def test_metal_takes_device_arrays_as_arguments_only() -> None:
    captured = numba_metal.to_device(np.zeros(3, np.float32))

    @numba_metal.jit
    def kernel():
        captured[0] = 1

    with pytest.raises(TypingError, match="pass them as arguments"):
        kernel[1, 1]()


def test_mapped_host_arrays_are_device_arrays() -> None:
    @gpu.jit
    def kernel(x, y):
        x[gpu.grid(1)] *= 2
        y[gpu.grid(1), 0] = 5

    x, y = np.arange(4), np.asfortranarray(np.zeros((4, 2)))
    with gpu.mapped(x, y) as (device_x, device_y):
        kernel[1, 4](device_x, device_y)
    np.testing.assert_array_equal(x, [0, 2, 4, 6])
    np.testing.assert_array_equal(y, [[5, 0]] * 4)


@pytest.mark.parametrize(("as_array", "expected"), [(carray, [1, 2, 3, 4]), (farray, [1, 3, 2, 4])])
def test_pointers_are_passed_as_integers_and_device_arrays(as_array, expected) -> None:
    @gpu.jit(types.void(types.CPointer(types.float32), types.int64[::1]))
    def kernel(pointer, out):
        array = as_array(pointer, (2, 2))
        for i in range(2):
            for j in range(2):
                out[2 * i + j] = array[i, j]
        pointer[3] = 0

    array, out = gpu.to_device(np.array([1, 2, 3, 4], np.float32)), np.zeros(4, np.int64)
    kernel[1, 1](array.gpu_data.device_pointer, out)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(array.copy_to_host(), [1, 2, 3, 0])
    kernel[1, 1](array, out)
    assert out[3] == 0
    with pytest.raises(ArgumentError, match="No matching definition"):
        kernel[1, 1](1.5, out)


def test_arrays_of_other_packages_are_copied_and_used_everywhere(level) -> None:
    """As they are described by __cuda_array_interface__: whole, in part, and read-only."""
    source = np.arange(12, dtype=np.float32).reshape(3, 4)
    array = level.to_device(source)
    view = level.as_cuda_array(Foreign(array))

    @level.jit
    def negate(x):
        i = gpu.grid(1)
        if i < x.shape[0]:
            x[i, 0] = -x[i, 0]

    negate[1, 4](Foreign(array))
    negate[1, 4](view[1:])
    want = source.copy()
    want[0, 0] *= -1
    np.testing.assert_array_equal(view.copy_to_host(), want)
    np.testing.assert_array_equal(view[1:, ::2].copy_to_host(), want[1:, ::2])
    view[2] = 5
    view[0].copy_to_device(np.full(4, 7, np.float32))
    np.testing.assert_array_equal(array.copy_to_host()[::2], [[7] * 4, [5] * 4])
    again = level.device_array_like(view)
    again.copy_to_device(view)
    np.testing.assert_array_equal(again.copy_to_host(), array.copy_to_host())
