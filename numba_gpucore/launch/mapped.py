"""Host arrays that the device is told to work on in place. Before: mapped_array, managed_array. After: marshal.

An ordinary NumPy array with the methods of a device array, so that programs written for mapped or managed memory run.
Where the device can use no memory of the host, a launch copies it there and back.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from numba_gpucore.base.backend import HostMemory
from numba_gpucore.launch.staging import array_address, as_host_array


class MappedArray(np.ndarray):
    """`numba.cuda.mapped_array` and `managed_array`: memory that host and device share.

    A launch that takes one does not wait for the kernel on its account: synchronize before reading on the host.
    `memory`: what the device allocated for it, None for ordinary host memory.
    """

    memory: HostMemory | None = None

    def __array_finalize__(self, source: Any) -> None:
        """Views share the memory of what they look at; results of arithmetic have memory of their own."""
        memory = getattr(source, "memory", None)
        if memory is not None and 0 <= array_address(self) - memory.host_address < max(memory.nbytes, 1):
            self.memory = memory

    @property
    def device_address(self) -> int:
        """Where kernels find it; `memory` is not None."""
        assert self.memory is not None
        return self.memory.address + array_address(self) - self.memory.host_address

    @property
    def gpu_type_key(self) -> Hashable:
        return MappedArray, self.dtype, self.ndim, self.flags.num, self.memory is not None

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """A copy as an ordinary array, or into `ary`."""
        if ary is None:
            return np.array(self, subok=False)
        ary[...] = self
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        self[...] = as_host_array(ary)


class HostBlock:
    """Bytes of device-allocated host memory as NumPy takes them; arrays over it keep the memory alive."""

    def __init__(self, memory: HostMemory):
        self.memory = memory
        self.__array_interface__ = {
            "data": (memory.host_address, False),
            "shape": (memory.nbytes,),
            "typestr": "|u1",
            "version": 3,
        }
