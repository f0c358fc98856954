"""Device memory for kernels that run on the CPU. Before: NumPy arrays. After: library.py binds it to kernels.

The same bytes have two addresses, see runtime/memory.c: kernels' pointers hold `address`, which faults unless the
buffer is open, that is: bound to the dispatch or resident in it; the host reads and writes through `host`.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

import numpy as np

from tests.msl.toolchain import Toolchain

ACCESS_NONE, ACCESS_READ, ACCESS_READ_WRITE = range(3)
_SLACK_BYTE = 0xA5


class _Region(ctypes.Structure):
    """region_t of runtime/memory.c."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in ("device_address", "host_address", "device_base", "host_base", "body_nbytes")
    ]


class Runtime:
    """The loaded shared object of runtime/. `lock`: it runs one dispatch at a time."""

    def __init__(self, toolchain: Toolchain):
        # kernels' calls of libm resolve against the global scope
        ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
        self.dll = ctypes.CDLL(str(toolchain.build_runtime()), mode=ctypes.RTLD_GLOBAL)
        self.lock = threading.Lock()
        self.dll.msl_allocate.argtypes = [ctypes.c_uint64, ctypes.POINTER(_Region)]
        self.dll.msl_release.argtypes = [ctypes.POINTER(_Region)]
        self.dll.msl_protect.argtypes = [ctypes.POINTER(_Region), ctypes.c_int]


@functools.cache
def load_runtime(toolchain: Toolchain) -> Runtime:
    """One a process and toolchain, since what it holds is global in C."""
    return Runtime(toolchain)


class _Mapping:
    """Both mappings of a region; unmapped when the last array over them goes."""

    def __init__(self, runtime: Runtime, nbytes: int):
        self._dll = runtime.dll
        self.region = _Region()
        if not self._dll.msl_allocate(nbytes, self.region):
            raise MemoryError(f"cannot map {nbytes} bytes")

    def protect(self, access: int) -> None:
        if not self._dll.msl_protect(self.region, access):
            raise MemoryError("cannot protect device memory")

    def __del__(self) -> None:
        if self.region.body_nbytes:
            self._dll.msl_release(self.region)


class DeviceBuffer:
    """`nbytes` of device memory, zero at first. `address` is what kernels see, `host` the same bytes as a uint8 array.

    Both are aligned to 16 bytes, Metal's largest alignment of a type; an access that starts at or beyond the end,
    rounded up to 16, faults. `label` names it in faults.
    """

    def __init__(self, runtime: Runtime, nbytes: int, label: str):
        self.nbytes = nbytes
        self.label = label
        self._mapping = _Mapping(runtime, nbytes)
        self.address: int = self._mapping.region.device_address
        slack = -nbytes % 16
        whole = (ctypes.c_uint8 * (nbytes + slack)).from_address(self._mapping.region.host_address)
        whole.mapping = self._mapping  # arrays over it keep the mapping alive
        array = np.frombuffer(whole, np.uint8) if nbytes else np.zeros(0, np.uint8)
        self.host = array[:nbytes]
        self._slack = array[nbytes:]
        self._slack[:] = _SLACK_BYTE

    @classmethod
    def holding(cls, runtime: Runtime, data: Any, label: str) -> DeviceBuffer:
        """A buffer with the bytes of an array or scalar."""
        array = np.ascontiguousarray(data)
        buffer = cls(runtime, array.nbytes, label)
        buffer.host[:] = np.frombuffer(array.tobytes(), np.uint8)
        return buffer

    def protect(self, access: int) -> None:
        """Allow kernels ACCESS_NONE, ACCESS_READ or ACCESS_READ_WRITE."""
        self._mapping.protect(access)

    @property
    def is_overrun(self) -> bool:
        """Whether the bytes between the end and the next multiple of 16, which no guard page covers, were written."""
        return bool((self._slack != _SLACK_BYTE).any())

    def describe_fault(self, address: int) -> str | None:
        """Where in or near this buffer the kernel's address is; None if it is far."""
        offset = address - self.address
        page = 4096
        if -page <= offset < self.nbytes + 2 * page:
            return f"byte {offset} of {self.label} ({self.nbytes} bytes)"
        return None
