"""MTLBuffer of the double. Before: device.py. After: commands.py binds them.

Kernels see other addresses than the host, so that a driver that mixes them up faults.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

from tests.metal_double.gpu import Gpu
from tests.metal_double.objc_objects import ObjCObject, RuleError, VarList, selector
from tests.msl import DeviceBuffer
from tests.msl.memory import Runtime


class Buffer(ObjCObject):
    """Metal, MTLBuffer and MTLResource, storage mode shared."""

    def __init__(self, gpu: Gpu, runtime: Runtime, nbytes: int, label: str):
        self._macos = gpu.world.macos
        self._gpu = gpu
        self.memory = DeviceBuffer(runtime, nbytes, label)
        gpu.allocated_nbytes += nbytes

    def __del__(self) -> None:
        memory = self.__dict__.get("memory")
        if memory is not None:
            self._gpu.allocated_nbytes -= memory.nbytes

    def before_gpu(self) -> None:
        """The GPU is about to use it."""

    def after_gpu(self) -> None:
        """The GPU has used it."""

    @selector("length")
    def length(self) -> int:
        return self.memory.nbytes

    @selector("gpuAddress")
    def gpuAddress(self) -> int:
        return self.memory.address

    @selector("contents")
    def contents(self) -> VarList:
        return VarList(memoryview(self.memory.host))


class NoCopyBuffer(Buffer):
    """A buffer over pages of the host's. They have one address only, so that the GPU's view is made to agree before and
    after it runs; where the host wrote meanwhile, what the GPU did not change stays as the host wrote it."""

    def __init__(self, gpu: Gpu, runtime: Runtime, pages: Any, nbytes: int):
        super().__init__(gpu, runtime, nbytes, "memory of the host")
        self._pages = np.frombuffer(pages, np.uint8, nbytes)
        self._before = self._pages.copy()

    def before_gpu(self) -> None:
        self._before = self._pages.copy()
        self.memory.host[:] = self._before

    def after_gpu(self) -> None:
        changed = self.memory.host != self._before
        self._pages[changed] = self.memory.host[changed]

    @selector("contents")
    def contents(self) -> VarList:
        return VarList(memoryview(self._pages))


def make_no_copy_buffer(gpu: Gpu, runtime: Runtime, pages: Any, nbytes: int, deallocator: Any) -> NoCopyBuffer:
    """Metal, MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:."""
    view = memoryview(pages)
    if view.readonly:
        raise RuleError("newBufferWithBytesNoCopy: the memory is read-only")
    if view.nbytes < nbytes:
        raise RuleError(f"newBufferWithBytesNoCopy: {nbytes} bytes of an object that has {view.nbytes}")
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    if address % mmap.PAGESIZE or nbytes % mmap.PAGESIZE or not nbytes:
        raise RuleError(f"newBufferWithBytesNoCopy: address {address:#x} and length {nbytes} must be whole pages")
    if deallocator is not None:
        raise RuleError("newBufferWithBytesNoCopy: the double calls no deallocator")
    return NoCopyBuffer(gpu, runtime, pages, nbytes)
