"""What this machine's devices make of other packages' arrays. Before: array_interface. After: puts, allocate."""

from __future__ import annotations

import ctypes
import os
import sys

from numba_gpucore.array_interface import ForeignView, span_nbytes
from numba_gpucore.base.errors import ArgumentError


def waits_for_streams() -> bool:
    """Whether the stream that a foreign array names is waited for.

    numba.cuda's CUDA_ARRAY_INTERFACE_SYNC, which programs set in numba.core.config and users in the environment.
    """
    value = getattr(sys.modules.get("numba.core.config"), "CUDA_ARRAY_INTERFACE_SYNC", None)
    return bool(value) if value is not None else os.environ.get("NUMBA_CUDA_ARRAY_INTERFACE_SYNC") != "0"


def require_host_reachable(view: ForeignView) -> None:
    """Raise ArgumentError unless the CPU can read the foreign memory.

    A system call given a bad address fails with EFAULT instead of killing the process (POSIX write(2)).
    """
    low, high = span_nbytes(view.shape, view.strides, view.dtype.itemsize)
    if low == high:
        return
    reader, writer = os.pipe()
    try:
        write = ctypes.CDLL(None, use_errno=True).write
        write.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        write.restype = ctypes.c_ssize_t
        if any(write(writer, view.address + offset, 1) != 1 for offset in (low, high - 1)):
            raise ArgumentError(
                f"the array at address {view.address:#x} lies in memory that the CPU device cannot reach; "
                "copy it to a NumPy array first (for CuPy: cupy.asnumpy)"
            )
    finally:
        os.close(reader)
        os.close(writer)
