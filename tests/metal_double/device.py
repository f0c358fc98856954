"""MTLDevice of the double: makes everything else. Before: modules.py. After: buffers.py, programs.py, commands.py."""

from __future__ import annotations

from typing import Any

from tests.metal_double.buffers import Buffer, make_no_copy_buffer
from tests.metal_double.commands import CommandQueue, SharedEvent
from tests.metal_double.gpu import Gpu
from tests.metal_double.objc_objects import NSError, ObjCObject, RuleError, load_facts, selector
from tests.metal_double.programs import (
    CompileOptions,
    ComputePipelineDescriptor,
    ComputePipelineState,
    MetalLibrary,
    compile_library,
    make_pipeline,
)
from tests.msl.library import MAX_THREADGROUP_NBYTES, MAX_THREADS
from tests.msl.memory import load_runtime
from tests.msl.toolchain import find_toolchain

_STORAGE_MODE_SHARED = 0


class Device(ObjCObject):
    """Metal, MTLDevice. `make_size`: the module's MTLSizeMake."""

    def __init__(self, gpu: Gpu, make_size: Any):
        self._macos = gpu.world.macos
        self._gpu = gpu
        self._make_size = make_size
        self._runtime = load_runtime(find_toolchain())
        enums = load_facts()["enums"]
        self._families = {enums[name] for name in gpu.world.gpu_families}

    @selector("name")
    def name(self) -> str:
        return "Metal double"

    @selector("supportsFamily:")
    def supportsFamily_(self, family: int) -> bool:
        return family in self._families

    @selector("maxThreadsPerThreadgroup")
    def maxThreadsPerThreadgroup(self) -> Any:
        return self._make_size(MAX_THREADS, MAX_THREADS, MAX_THREADS)

    @selector("maxThreadgroupMemoryLength")
    def maxThreadgroupMemoryLength(self) -> int:
        return MAX_THREADGROUP_NBYTES

    @selector("maxBufferLength")
    def maxBufferLength(self) -> int:
        return self._gpu.world.max_buffer_nbytes

    @selector("currentAllocatedSize")
    def currentAllocatedSize(self) -> int:
        return self._gpu.allocated_nbytes

    @selector("newBufferWithLength:options:")
    def newBufferWithLength_options_(self, length: int, options: int) -> Buffer | None:
        if options != _STORAGE_MODE_SHARED or not 0 < length <= self.maxBufferLength():
            raise RuleError(f"newBufferWithLength: length {length}, options {options}")
        if self._gpu.allocated_nbytes + length > self._gpu.world.memory_nbytes:
            return None
        return Buffer(self._gpu, self._runtime, length, "a Metal buffer")

    @selector("newBufferWithBytes:length:options:")
    def newBufferWithBytes_length_options_(self, data: Any, length: int, options: int) -> Buffer | None:
        view = memoryview(data).cast("B")
        if length > view.nbytes:
            raise RuleError(f"newBufferWithBytes: {length} bytes of {view.nbytes}")
        buffer = self.newBufferWithLength_options_(length, options)
        if buffer is not None:
            buffer.memory.host[:] = view[:length]
        return buffer

    @selector("newBufferWithBytesNoCopy:length:options:deallocator:")
    def newBufferWithBytesNoCopy_length_options_deallocator_(
        self, pages: Any, length: int, options: int, deallocator: Any
    ) -> Buffer:
        if options != _STORAGE_MODE_SHARED:
            raise RuleError(f"newBufferWithBytesNoCopy: options {options}")
        return make_no_copy_buffer(self._gpu, self._runtime, pages, length, deallocator)

    @selector("newCommandQueue")
    def newCommandQueue(self) -> CommandQueue:
        return CommandQueue(self._gpu, self._runtime, self)

    @selector("newSharedEvent")
    def newSharedEvent(self) -> SharedEvent:
        return SharedEvent(self._gpu)

    @selector("newLibraryWithSource:options:error:")
    def newLibraryWithSource_options_error_(
        self, source: str, options: CompileOptions, _error: None
    ) -> tuple[MetalLibrary | None, NSError | None]:
        return compile_library(self._gpu, source, options)

    @selector("newComputePipelineStateWithDescriptor:options:reflection:error:")
    def newComputePipelineStateWithDescriptor_options_reflection_error_(
        self, descriptor: ComputePipelineDescriptor, _options: int, _reflection: None, _error: None
    ) -> tuple[ComputePipelineState | None, NSError | None]:
        return make_pipeline(self._gpu, descriptor), None
