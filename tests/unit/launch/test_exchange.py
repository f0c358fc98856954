"""Device arrays as other packages see them: the CUDA Array Interface, DLPack, streams."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from numba_gpucore.base.errors import ArgumentError, DeviceMemoryError
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.arrays import DeviceArray
from numba_gpucore.launch.dlpack import make_capsule
from numba_gpucore.launch.session import default_session
from tests.unit.launch import fake_device

ARRAYS = Allocator(fake_device.platform("REMOTE"))
HOST_ARRAYS = Allocator(fake_device.platform("HOST"))


def test_interface_describes_the_memory() -> None:
    array = ARRAYS.to_device(np.zeros((4, 6), np.int32))[::2]
    interface = array.__cuda_array_interface__
    assert interface["shape"] == (2, 6)
    assert interface["strides"] == (48, 4)
    assert interface["data"] == (array.memory.address, False)
    assert (interface["typestr"], interface["version"]) == ("<i4", 3)
    assert ARRAYS.to_device(np.zeros(3)).__cuda_array_interface__["strides"] is None


def test_foreign_memory_is_wrapped_without_a_copy() -> None:
    class Foreign:
        def __init__(self, array: np.ndarray):
            self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3}

    array = np.arange(6).reshape(2, 3)
    wrapped = HOST_ARRAYS.to_device(Foreign(array))
    assert wrapped.address == array.ctypes.data
    array[0, 0] = 42
    assert wrapped.host_view()[0, 0] == 42
    with pytest.raises(TypeError, match="cuda array interface"):
        HOST_ARRAYS.as_cuda_array(np.zeros(3))


def test_empty_foreign_array_at_address_zero() -> None:
    description = {"shape": (0, 3), "typestr": "<f4", "data": (0, False), "version": 3}
    wrapped = HOST_ARRAYS.from_cuda_array_interface(description)
    assert wrapped.copy_to_host().shape == (0, 3)
    assert wrapped[:, 1:].shape == (0, 2)


def test_host_can_look_at_host_memory_only() -> None:
    array = HOST_ARRAYS.to_device(np.arange(4))[1:]
    array.host_view()[0] = 7
    assert array.copy_to_host().tolist() == [7, 2, 3]
    np.testing.assert_array_equal(np.from_dlpack(array), [7, 2, 3])
    remote_array = ARRAYS.to_device(np.arange(4))
    with pytest.raises(DeviceMemoryError, match="cannot be used on the host"):
        remote_array.host_view()
    with pytest.raises(BufferError, match="no addresses of fake memory"):
        np.from_dlpack(remote_array)


def test_capsules_name_the_memory_of_cuda_devices() -> None:
    """NumPy takes a capsule by what it says, so host memory stands in for a GPU's: shape, strides and dtype arrive, and
    the array lives as long as its consumer."""

    class Capsule:
        def __init__(self, array: DeviceArray):
            self._array = array

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **_options: object) -> object:
            array = self._array
            return make_capsule(array, array.address, array.shape, array.strides, array.dtype, array.device)

    for source in (np.arange(24.0).reshape(4, 6)[::2, 1:], np.arange(6, dtype=np.uint16), np.array(3j)):
        array = HOST_ARRAYS.to_device(np.zeros_like(source, subok=False))
        array.copy_to_device(source)
        alive = weakref.ref(array)
        taken = np.from_dlpack(Capsule(array))
        del array
        np.testing.assert_array_equal(taken, source)
        assert alive() is not None
        del taken
        assert alive() is None
    array = HOST_ARRAYS.to_device(np.zeros(3))
    alive, capsule = weakref.ref(array), Capsule(array).__dlpack__()
    del array
    assert alive() is not None
    del capsule
    assert alive() is None, "a capsule that nobody took lets go"
    with pytest.raises(BufferError, match="cannot describe"):
        Capsule(HOST_ARRAYS.to_device(np.zeros(3, "datetime64[s]"))).__dlpack__()


def test_foreign_arrays_bring_their_stream() -> None:
    stream = default_session().open_stream(HOST_ARRAYS.device_array(1).device)
    array = HOST_ARRAYS.device_array(10, stream=stream)
    assert array.__cuda_array_interface__["stream"] == stream.handle
    taken = HOST_ARRAYS.as_cuda_array(array)
    assert taken.stream.external and taken.stream.handle == stream.handle and not stream.external
    assert HOST_ARRAYS.as_cuda_array(HOST_ARRAYS.device_array(3)).stream == 0
    with pytest.raises(ArgumentError, match="is no stream of"):
        default_session().find_stream(array.device, 12345)
