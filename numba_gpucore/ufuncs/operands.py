"""Arguments of ufuncs as device arrays or scalars, and their results. Before: the user's call. After: kernels.

Host arrays are used in place where the device can (the CPU device), else copied. Results live where the inputs do: on
the device if any of them does, else on the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Union

import numpy as np
from numpy.lib.stride_tricks import as_strided

from numba_gpucore.array_interface import is_foreign_array, span_nbytes
from numba_gpucore.base.records import dataclass
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.arrays import DeviceArray
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.staging import array_address
from numba_gpucore.launch.streams import Stream

Array = Union[np.ndarray, DeviceArray]
_SCALARS = (bool, int, float, complex, np.number, np.bool_)


def is_scalar(value: Any) -> bool:
    """True for numbers that are passed by value and may take another type than their own."""
    return isinstance(value, _SCALARS)


def is_on_device(value: Any) -> bool:
    return isinstance(value, DeviceArray)


def shape_of(value: Any) -> tuple[int, ...]:
    return () if is_scalar(value) else tuple(value.shape)


def dtype_of_value(value: Any) -> np.dtype:
    return np.asarray(value).dtype if is_scalar(value) else value.dtype


@dataclass(frozen=True)
class Result:
    """`array` is what the kernel writes, settled: a host array in place, or one on the device. target: what the caller
    gets, the same array or one that it has to be copied to."""

    array: Array
    target: Array


class Operands:
    """Brings the arguments of one call to one device. `stream` None: the default stream."""

    def __init__(self, platform: Platform, stream: Stream | None):
        self._allocator = Allocator(platform)
        self._stream = stream
        session = default_session()
        self.device = session.current_device(platform) if stream is None else stream.device
        self._default_stream = session.default_stream(self.device)
        self._has_float64 = platform.target.rules.has_float64

    def take(self, value: Any) -> Any:
        """A number as it is, a DeviceArray for what lies on a device, else a NumPy array."""
        if is_scalar(value) or isinstance(value, DeviceArray):
            return value
        if not isinstance(value, np.ndarray) and is_foreign_array(value):
            return self._allocator.as_cuda_array(value)
        array = np.asarray(value)
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))

    def take_output(self, value: Any) -> Any:
        """The same for what results are written to. Raises TypeError for what would be written to in vain."""
        if not (isinstance(value, np.ndarray) or is_on_device(value) or is_foreign_array(value)):
            raise TypeError(f"results are written to arrays, not to {value!r}")
        if isinstance(value, np.ndarray) and not value.dtype.isnative:
            raise TypeError(f"results cannot be written to an array of {value.dtype}, whose bytes are in another order")
        return self.take(value)

    def settle(self, value: Any) -> Any:
        """A number, a DeviceArray, or a host array that kernels can use in place: others are copied to the device."""
        if not isinstance(value, np.ndarray) or (self._works_in_place() and value.flags.behaved):
            return value
        # A copy: the stream may get there after the caller has changed the array.
        return self._allocator.to_device(np.array(value), stream=self._stream)

    def view(self, settled: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
        """The memory of a settled array from its first element on, walked in the given way. Done with when the call
        returns, if it is of the host."""
        if isinstance(settled, DeviceArray):
            return restride(settled, shape, strides)
        if self._is_narrowed(settled.dtype):
            return as_strided(settled, shape, strides)  # for the launch to convert
        address = array_address(settled)
        memory = _HostMemory(address, settled)
        return DeviceArray(self.device, memory, shape, strides, settled.dtype, self._default_stream, address)

    def on_device(self, value: Array) -> Array:
        """An input where kernels can read it, walked as it is."""
        settled = self.settle(value)
        return self.view(settled, settled.shape, settled.strides)

    def open_result(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype, to_host: bool) -> Result:
        """Room for a result of unspecified content."""
        host = None
        if to_host:
            allocate = np.zeros if self._is_narrowed(dtype) else np.empty
            host = np.ndarray(shape, dtype, allocate(prod(shape) * dtype.itemsize, np.uint8).data, 0, strides)
            if self._works_in_place():
                return Result(host, host)
        array = self._allocator.device_array(shape, dtype, strides, stream=self._stream)
        if self._is_narrowed(dtype):
            array.copy_to_device(np.zeros(shape, dtype), stream=self._stream)
        return Result(array, array if host is None else host)

    def reuse(self, out: Array, inputs: Sequence[Any]) -> Result:
        """The caller's array as a result; a kernel writes to a copy of it where it shares memory with inputs that are
        walked otherwise."""
        is_entangled = any(_is_entangled(out, one) for one in inputs)
        if isinstance(out, DeviceArray):
            if not is_entangled:
                return Result(out, out)
            return Result(self._allocator.to_device(self._read(out), stream=self._stream), out)
        if self._works_in_place() and out.flags.behaved and not is_entangled:
            return Result(out, out)
        return Result(self._allocator.to_device(np.array(out), stream=self._stream), out)

    def finish(self, result: Result) -> Any:
        """The result for the caller, complete if it is on the host."""
        array, target = result.array, result.target
        if target is array:
            return target
        if isinstance(target, DeviceArray):
            target.copy_to_device(array, stream=self._stream)
        elif isinstance(array, DeviceArray):
            target[...] = self._read(array)
        return target

    def _read(self, array: DeviceArray) -> np.ndarray:
        host = array.copy_to_host(stream=self._stream)
        (self._stream or self._default_stream).synchronize()
        return host

    def _is_narrowed(self, dtype: np.dtype) -> bool:
        """Whether launches convert such arrays, and bring back only items that then differ."""
        return dtype.char in "dD" and not self._has_float64

    def _works_in_place(self) -> bool:
        """Whether kernels use host memory itself, and have ended when a launch returns."""
        return self._stream is None and self.device.uses_host_memory


class _HostMemory:
    """Host memory as a kernel's argument (base.backend.Memory), kept alive by the array that has it."""

    __slots__ = ("_owner", "address", "nbytes")

    def __init__(self, address: int, owner: np.ndarray):
        self.address = address
        self.nbytes = owner.nbytes
        self._owner: np.ndarray | None = owner

    def release(self) -> None:
        self._owner = None


def _is_entangled(out: Array, value: Any) -> bool:
    """True where a kernel could write an element of `out` before another thread has read it as one of `value`."""
    if isinstance(out, DeviceArray) and isinstance(value, DeviceArray):
        overlaps = _bounds(out)[0] < _bounds(value)[1] and _bounds(value)[0] < _bounds(out)[1]
        return overlaps and (out.address, out.shape, out.strides) != (value.address, value.shape, value.strides)
    if isinstance(out, np.ndarray) and isinstance(value, np.ndarray) and np.may_share_memory(out, value):
        mine, other = map(array_address, (out, value))
        return (mine, out.shape, out.strides) != (other, value.shape, value.strides)
    return False


def _bounds(array: DeviceArray) -> tuple[int, int]:
    low, high = span_nbytes(array.shape, array.strides, array.itemsize)
    return array.address + low, array.address + high


def restride(array: DeviceArray, shape: tuple[int, ...], strides: tuple[int, ...]) -> DeviceArray:
    """The same memory from the same first element on, walked otherwise."""
    if array.shape == shape and array.strides == strides:
        return array
    return DeviceArray(
        array.device, array.memory, shape, strides, array.dtype, array._session_stream, array.address, array.stream
    )
