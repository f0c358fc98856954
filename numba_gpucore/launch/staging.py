"""Host data that a device cannot use where it is: copied there and back. Before: marshal. After: Device.launch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from numba_gpucore.base.backend import Device, Memory, Queue
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.base.records import dataclass


def require_unmasked(array: np.ndarray) -> None:
    """Raise ArgumentError for a masked array, whose mask a device would not see."""
    # numpy.ma takes 7 ms to import, and a plain array is none of its.
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
        raise ArgumentError("a masked array has no place on a device; pass its .data and .mask as two arrays")


def as_host_array(value: Any) -> np.ndarray:
    """`value` as NumPy takes it. Raises ArgumentError for a masked array."""
    if isinstance(value, np.ndarray):
        require_unmasked(value)
    return np.asarray(value)


def byte_view(array: np.ndarray) -> memoryview:
    """The bytes of a C- or F-contiguous array in the order of memory, without a copy."""
    dense = array if array.flags.c_contiguous else array.T
    return memoryview(dense.reshape(-1).view(np.uint8))


def array_address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def record_address(record: np.void) -> int:
    """Where the bytes of a structured scalar lie: in its array for an element of one, else in the scalar itself."""
    return array_address(np.frombuffer(record, dtype=np.uint8))


def bytes_at(address: int, nbytes: int) -> np.ndarray:
    """Writable uint8 array over `nbytes` bytes of host memory, which the caller keeps alive."""
    return np.frombuffer((ctypes.c_uint8 * nbytes).from_address(address), dtype=np.uint8)


@dataclass(frozen=True)
class NarrowCopy:
    """A copy in narrower numbers that a kernel works on: `before` is its content at the start."""

    original: np.ndarray
    before: np.ndarray
    copy: np.ndarray

    def write_back(self) -> None:
        """Bring back the items that the kernel changed; the others keep their digits."""
        is_changed = _items_as_bits(self.copy) != _items_as_bits(self.before)
        if is_changed.ndim > self.copy.ndim:
            is_changed = is_changed.any(axis=-1)
        self.original[is_changed] = self.copy[is_changed]


def _items_as_bits(array: np.ndarray) -> np.ndarray:
    """Numbers as integers of their size, so that NaNs are comparable; records as one more axis of bytes."""
    if array.dtype.names is None:
        return array.view(np.dtype(f"u{array.itemsize}"))
    return np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, array.itemsize)


class Staging:
    """What one launch borrows: objects to keep alive, device copies, and arrays to copy back when it has ended."""

    def __init__(self, device: Device, queue: Queue | None):
        self._device = device
        self._queue = queue
        self._held: list[Any] = []
        self._copies: list[Memory] = []
        self._returns: list[tuple[Memory, np.ndarray]] = []
        self._narrow: dict[Any, NarrowCopy] = {}
        self._after: list[Callable[[], None]] = []

    def hold(self, obj: Any) -> None:
        """Keep an object alive until the launch has ended."""
        self._held.append(obj)

    def narrow(self, array: np.ndarray, dtype: np.dtype, order: Literal["C", "F"], copy_back: bool) -> np.ndarray:
        """A copy of an array in the narrower numbers of `dtype`; the same one for the same array.

        copy_back: what the kernel changes in it is written to `array` when the launch has ended."""
        key = array_address(array), array.shape, array.strides, array.dtype, order, copy_back
        if key not in self._narrow:
            with np.errstate(over="ignore"):
                copy = np.array(array, dtype, order=order)
            self._narrow[key] = NarrowCopy(array, copy.copy() if copy_back else copy, copy)
        return self._narrow[key].copy

    def run_after(self, function: Callable[[], None]) -> None:
        """Call a function when the launch has ended and its results are in their arrays."""
        self._after.append(function)

    def upload(self, array: np.ndarray, copy_in: bool, copy_back: bool) -> int:
        """Give the address of a dense device copy: in the array's order if it is contiguous, else in C order.

        Where the device can work on the array itself, nothing is copied."""
        if copy_in and copy_back and array.flags.forc:
            shared = self._device.share_host_memory(byte_view(array))
            if shared is not None:
                self._copies.append(shared)
                return shared.address
        memory = self._device.allocate(array.nbytes)
        self._copies.append(memory)
        if copy_in and array.nbytes:
            dense = array if array.flags.forc else np.ascontiguousarray(array)
            self._held.append(dense)
            self._device.write(memory, 0, byte_view(dense), self._queue)
        if copy_back and array.nbytes:
            self._returns.append((memory, array))
        return memory.address

    def download(self) -> None:
        """Copy results back to their arrays; returns when they are there and the launch has ended."""
        targets = [array if array.flags.forc else np.empty(array.shape, array.dtype) for _, array in self._returns]
        for (memory, _), target in zip(self._returns, targets, strict=True):
            self._device.read(memory, 0, byte_view(target), self._queue)
        if self._queue is None:
            self._device.synchronize()
        else:
            self._queue.synchronize()
        for (_, array), target in zip(self._returns, targets, strict=True):
            if target is not array:
                array[...] = target
        for narrow in self._narrow.values():
            if narrow.before is not narrow.copy:
                narrow.write_back()
        for function in self._after:
            function()
        for memory in self._copies:
            memory.release()
