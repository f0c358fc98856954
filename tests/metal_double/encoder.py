"""MTLComputeCommandEncoder of the double: bindings, residency, dispatches. Before: commands.py. After: gpu.py.

Rules are those of Metal's documentation of each selector, and of the Metal Feature Set Tables for limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.metal_double.buffers import Buffer
from tests.metal_double.gpu import Gpu
from tests.metal_double.objc_objects import ObjCObject, RuleError, selector
from tests.metal_double.programs import ComputePipelineState
from tests.msl.library import MAX_THREADGROUP_NBYTES, RunOptions
from tests.msl.memory import ACCESS_READ, ACCESS_READ_WRITE, DeviceBuffer, Runtime

MAX_BUFFER_INDEX = 30
MAX_INLINE_NBYTES = 4096
_USAGE_READ, _USAGE_WRITE = 1, 2  # MTLResourceUsage
_STACK_NBYTES = 256 * 1024


@dataclass(frozen=True)
class Dispatch:
    """A kernel launch as encoded: later changes of bindings do not matter to it."""

    pipeline: ComputePipelineState
    threads: tuple[int, int, int]
    block: tuple[int, int, int]
    addresses: dict[int, int]
    threadgroup_nbytes: dict[int, int]
    access: dict[DeviceBuffer, int]

    def run(self, gpu: Gpu) -> None:
        """Raises KernelFault."""
        world = gpu.world
        options = RunOptions(
            order=world.order,
            seed=world.seed,
            ended_threads_arrive=not world.all_threads_must_arrive,
            force_fibers=False,
            stack_nbytes=_STACK_NBYTES,
            timeout_s=world.timeout_s,
        )
        self.pipeline.library.dispatch(
            self.pipeline.name,
            self.threads,
            self.block,
            self.addresses,
            self.threadgroup_nbytes,
            self.access,
            options,
        )


class ComputeCommandEncoder(ObjCObject):
    """Metal, MTLComputeCommandEncoder with serial dispatch."""

    def __init__(self, gpu: Gpu, runtime: Runtime):
        self._macos = gpu.world.macos
        self._runtime = runtime
        self.dispatches: list[Dispatch] = []
        self.buffers: list[Buffer] = []
        self.has_ended = False
        self._pipeline: ComputePipelineState | None = None
        self._bound: dict[int, tuple[DeviceBuffer, int]] = {}
        self._resident: dict[DeviceBuffer, int] = {}
        self._threadgroup_nbytes: dict[int, int] = {}

    def _require_open(self, what: str) -> None:
        if self.has_ended:
            raise RuleError(f"{what}: the encoder has ended")

    @selector("setComputePipelineState:")
    def setComputePipelineState_(self, pipeline: ComputePipelineState) -> None:
        self._require_open("setComputePipelineState")
        self._pipeline = pipeline

    @selector("setBuffer:offset:atIndex:")
    def setBuffer_offset_atIndex_(self, buffer: Buffer, offset: int, index: int) -> None:
        self._require_open("setBuffer")
        _check_index("setBuffer", index)
        if buffer is None or offset >= buffer.length() or offset % 4:
            raise RuleError(f"setBuffer at index {index}: offset {offset} is not in the buffer or not a multiple of 4")
        self.buffers.append(buffer)
        self._bound[index] = buffer.memory, offset

    @selector("setBytes:length:atIndex:")
    def setBytes_length_atIndex_(self, data: Any, length: int, index: int) -> None:
        self._require_open("setBytes")
        _check_index("setBytes", index)
        view = memoryview(data)
        if not 0 < length <= MAX_INLINE_NBYTES or length > view.nbytes:
            raise RuleError(f"setBytes at index {index}: {length} bytes of {view.nbytes}, limit {MAX_INLINE_NBYTES}")
        memory = DeviceBuffer(self._runtime, length, f"bytes at index {index}")
        memory.host[:] = view.cast("B")[:length]
        self._bound[index] = memory, 0

    @selector("setThreadgroupMemoryLength:atIndex:")
    def setThreadgroupMemoryLength_atIndex_(self, length: int, index: int) -> None:
        self._require_open("setThreadgroupMemoryLength")
        _check_index("setThreadgroupMemoryLength", index)
        if length % 16:
            raise RuleError(f"setThreadgroupMemoryLength: {length} is not a multiple of 16")
        self._threadgroup_nbytes[index] = length

    @selector("useResource:usage:")
    def useResource_usage_(self, resource: Buffer, usage: int) -> None:
        self._require_open("useResource")
        if resource is None or not usage & (_USAGE_READ | _USAGE_WRITE):
            raise RuleError("useResource: a resource and a usage of read or write are needed")
        self.buffers.append(resource)
        access = ACCESS_READ_WRITE if usage & _USAGE_WRITE else ACCESS_READ
        self._resident[resource.memory] = max(access, self._resident.get(resource.memory, 0))

    @selector("dispatchThreadgroups:threadsPerThreadgroup:")
    def dispatchThreadgroups_threadsPerThreadgroup_(self, groups: Any, group: Any) -> None:
        self._require_open("dispatchThreadgroups")
        pipeline = self._pipeline
        if pipeline is None:
            raise RuleError("dispatchThreadgroups: no pipeline state was set")
        grid, block = (tuple(int(n) for n in (s.width, s.height, s.depth)) for s in (groups, group))
        _check_shape(pipeline, grid, block)
        signature = pipeline.library.kernels[pipeline.name]
        access: dict[DeviceBuffer, int] = dict(self._resident)
        addresses: dict[int, int] = {}
        threadgroup_nbytes: dict[int, int] = {}
        for param in signature.params:
            index = param.index or 0
            if param.attribute == "buffer":
                if index not in self._bound:
                    raise RuleError(f"dispatchThreadgroups: nothing is bound to buffer {index} of {pipeline.name}")
                memory, offset = self._bound[index]
                addresses[index] = memory.address + offset
                allowed = ACCESS_READ if param.space == "constant" else ACCESS_READ_WRITE
                access[memory] = max(allowed, access.get(memory, 0))
            elif param.attribute == "threadgroup":
                if not self._threadgroup_nbytes.get(index):
                    raise RuleError(f"dispatchThreadgroups: no length for threadgroup memory {index}")
                threadgroup_nbytes[index] = self._threadgroup_nbytes[index]
        total = pipeline.library.static_nbytes + sum(threadgroup_nbytes.values())
        if total > MAX_THREADGROUP_NBYTES:
            raise RuleError(
                f"dispatchThreadgroups: {total} bytes of threadgroup memory, {MAX_THREADGROUP_NBYTES} at most"
            )
        threads = tuple(n * size for n, size in zip(grid, block, strict=True))
        self.dispatches.append(Dispatch(pipeline, threads, block, addresses, threadgroup_nbytes, access))

    @selector("endEncoding")
    def endEncoding(self) -> None:
        self._require_open("endEncoding")
        self.has_ended = True


def _check_index(what: str, index: int) -> None:
    if index > MAX_BUFFER_INDEX:
        raise RuleError(f"{what}: index {index}, the last is {MAX_BUFFER_INDEX}")


def _check_shape(pipeline: ComputePipelineState, grid: tuple[int, ...], block: tuple[int, ...]) -> None:
    if 0 in grid or 0 in block:
        raise RuleError(f"dispatchThreadgroups: {grid} threadgroups of {block} threads")
    threads, limit = block[0] * block[1] * block[2], pipeline.maxTotalThreadsPerThreadgroup()
    if threads > limit:
        raise RuleError(f"dispatchThreadgroups: {threads} threads a threadgroup, the pipeline allows {limit}")
    if any(n * size >= 2**32 for n, size in zip(grid, block, strict=True)):
        raise RuleError(f"dispatchThreadgroups: {grid} of {block} are 2**32 threads or more in a dimension")
