"""Memory of the CPU device: plain host memory. Before: Device.allocate. After: kernels use it by address."""

from __future__ import annotations

import numpy as np

from numba_gpucore.base.errors import DeviceMemoryError
from numba_gpucore.base.params import round_up
from numba_gpucore.cpu.scratch import aligned_bytes

#: Kernels that go by addresses see no bounds checks. On GPUs they may step a little past an array's end unharmed, since
#: allocations are that far apart (CUDA C++ Programming Guide, "Device Memory Accesses"); here that would be the heap.
_GRANULE_NBYTES = 256


class CpuMemory:
    """A base.backend.Memory whose address is a multiple of 64 bytes."""

    def __init__(self, nbytes: int):
        """Uninitialised. Raises DeviceMemoryError."""
        try:
            self._bytes: np.ndarray | None = aligned_bytes(round_up(nbytes, _GRANULE_NBYTES))
        except MemoryError as error:
            raise DeviceMemoryError(f"cannot allocate {nbytes} bytes on the CPU device: {error}") from error
        self.nbytes = nbytes
        self._address = self._bytes.ctypes.data

    @property
    def address(self) -> int:
        """Raises DeviceMemoryError after `release`."""
        if self._bytes is None:
            raise DeviceMemoryError(f"memory of {self.nbytes} bytes was used after its release")
        return self._address

    def release(self) -> None:
        self._bytes = None

    def part(self, offset_nbytes: int, nbytes: int) -> np.ndarray:
        """View of some of the bytes. Raises DeviceMemoryError if released or if they reach beyond the end."""
        if self._bytes is None:
            raise DeviceMemoryError(f"memory of {self.nbytes} bytes was used after its release")
        if offset_nbytes < 0 or offset_nbytes + nbytes > self.nbytes:
            raise DeviceMemoryError(
                f"bytes {offset_nbytes} to {offset_nbytes + nbytes} do not lie in a memory of {self.nbytes} bytes"
            )
        return self._bytes[offset_nbytes : offset_nbytes + nbytes]


def copy_in(memory: CpuMemory, offset_nbytes: int, data: memoryview) -> None:
    """Copy host bytes into device memory, without the GIL."""
    memory.part(offset_nbytes, data.nbytes)[:] = np.frombuffer(data, np.uint8)


def copy_out(memory: CpuMemory, offset_nbytes: int, data: memoryview) -> None:
    """Copy device bytes into writable host memory, without the GIL."""
    np.frombuffer(data, np.uint8)[:] = memory.part(offset_nbytes, data.nbytes)
