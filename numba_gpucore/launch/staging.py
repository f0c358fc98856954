"""Host data that a device cannot use where it is: copied there and back. Before: marshal. After: Device.launch."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from numba_gpucore.base.backend import Device, Memory, Queue


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


class Staging:
    """What one launch borrows: objects to keep alive, device copies, and arrays to copy back when it has ended."""

    def __init__(self, device: Device, queue: Queue | None):
        self._device = device
        self._queue = queue
        self._held: list[Any] = []
        self._copies: list[Memory] = []
        self._returns: list[tuple[Memory, np.ndarray]] = []

    def hold(self, obj: Any) -> None:
        """Keep an object alive until the launch has ended."""
        self._held.append(obj)

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
        for memory in self._copies:
            memory.release()
