"""Memory that kernels can use: on the device, pinned on the host, or shared. Before: device. After: arrays, mailbox.

Each is released once, by `release` or when nothing refers to it any more, the end of the process included.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from numba_gpucore.base.errors import DeviceMemoryError
from numba_ptxplus.driver.abi import whole_vectors
from numba_ptxplus.driver.context import PrimaryContext
from numba_ptxplus.driver.failures import check


class CudaMemory:
    """Fills base.backend.Memory. `address` is what kernels see; 0 when it holds no byte."""

    def __init__(self, context: PrimaryContext, address: int, nbytes: int, free: Callable[[int], Any]):
        self._address = address
        self.nbytes = nbytes
        self._release = weakref.finalize(self, _release, context, free, address) if nbytes else None
        self._released = False

    @property
    def address(self) -> int:
        if self._released:
            raise DeviceMemoryError("this device memory has been released")
        return self._address

    def release(self) -> None:
        self._released = True
        if self._release is not None:
            self._release()


class HostMemory(CudaMemory):
    """Memory that the host sees too, at `host_address`. `view`: its bytes."""

    def __init__(
        self, context: PrimaryContext, address: int, host_address: int, nbytes: int, free: Callable[[int], Any]
    ):
        super().__init__(context, address, nbytes, lambda _address: free(host_address))
        self.host_address = host_address

    @property
    def view(self) -> memoryview:
        if self._released:
            raise DeviceMemoryError("this host memory has been released")
        return memoryview((ctypes.c_uint8 * self.nbytes).from_address(self.host_address)).cast("B")


def _release(context: PrimaryContext, free: Callable[[int], Any], address: int) -> None:
    with context:
        check(free(address), "releasing memory")


def allocate_device(context: PrimaryContext, nbytes: int) -> CudaMemory:
    """`nbytes` bytes on the device in whole vectors, aligned to 256. Raises CudaMemoryError."""
    driver = context.driver
    if nbytes == 0:
        return CudaMemory(context, 0, 0, driver.cuMemFree)
    with context:
        address = int(check(driver.cuMemAlloc(whole_vectors(nbytes)), f"allocating {nbytes} bytes on the device"))
    return CudaMemory(context, address, nbytes, driver.cuMemFree)


def allocate_pinned(context: PrimaryContext, nbytes: int, write_combined: bool = False) -> HostMemory:
    """Page-locked host memory that kernels can also use in place (mapped). Raises CudaMemoryError."""
    driver = context.driver
    flags = driver.CU_MEMHOSTALLOC_PORTABLE | driver.CU_MEMHOSTALLOC_DEVICEMAP
    if write_combined:
        flags |= driver.CU_MEMHOSTALLOC_WRITECOMBINED
    with context:
        doing = f"allocating {nbytes} bytes of pinned host memory"
        host_address = int(check(driver.cuMemHostAlloc(whole_vectors(max(nbytes, 1)), flags), doing))
        address = int(check(driver.cuMemHostGetDevicePointer(host_address, 0), doing))
    return HostMemory(context, address, host_address, max(nbytes, 1), driver.cuMemFreeHost)


def allocate_managed(context: PrimaryContext, nbytes: int) -> HostMemory:
    """Memory that moves between host and device on demand, at one address. Raises CudaMemoryError."""
    driver = context.driver
    attach = int(driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
    with context:
        answer = driver.cuMemAllocManaged(whole_vectors(max(nbytes, 1)), attach)
        address = int(check(answer, f"allocating {nbytes} managed bytes"))
    return HostMemory(context, address, address, max(nbytes, 1), driver.cuMemFree)


def buffer_address(data: memoryview) -> int:
    """Where the bytes of a contiguous buffer lie, read-only ones included."""
    address: int = np.frombuffer(data, dtype=np.uint8).__array_interface__["data"][0]
    return address


def page_lock(context: PrimaryContext, address: int, nbytes: int) -> Callable[[], None]:
    """Keep host memory in place for fast copies until the result is called.

    Source: CUDA Driver API, cuMemHostRegister.
    """
    driver = context.driver
    with context:
        answer = driver.cuMemHostRegister(address, nbytes, driver.CU_MEMHOSTREGISTER_PORTABLE)
        check(answer, f"locking the pages of {nbytes} bytes of host memory")

    def unlock() -> None:
        with context:
            check(driver.cuMemHostUnregister(address), "unlocking pages of host memory")

    return unlock
