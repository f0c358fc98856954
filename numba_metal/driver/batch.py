"""Launches that go to the GPU together: one command buffer with one compute encoder. Before: queue.py. After: Metal.

Making and committing a command buffer costs more than many a small kernel runs, so launches are gathered while the GPU
is busy. Dispatches in one serial encoder run in order, and Metal keeps command buffers that share resources apart.
"""

from __future__ import annotations

import time
from typing import Any

from numba_gpucore.base.backend import LaunchConfig
from numba_metal.driver.abi import ARGS_INDEX, DYNAMIC_SHARED_INDEX, LAUNCH_INDEX, LAUNCH_STRUCT, MAILBOX_INDEX
from numba_metal.driver.bridge import Bridge
from numba_metal.driver.failures import failed_batch, timed_out
from numba_metal.driver.memory import MetalMemory
from numba_metal.driver.program import MetalProgram, Pipeline

#: Metal, MTLComputeCommandEncoder setBytes:length:atIndex:, takes less than 4 KB.
_MAX_INLINE_NBYTES = 4096
#: Lengths of threadgroup memory are multiples of this (Metal, setThreadgroupMemoryLength:atIndex:).
_THREADGROUP_ALIGN_NBYTES = 16
#: How long to wait for the event before looking whether the command buffer failed, which signals nothing.
_POLL_S = 0.05


class Batch:
    """A command buffer in the making, on its way, or ended. Not thread-safe but for `wait`."""

    def __init__(self, bridge: Bridge, native_queue: Any, event: Any, value: int):
        self._bridge = bridge
        self._event = event
        self._value = value
        self._command_buffer = native_queue.commandBuffer()
        self._encoder = self._command_buffer.computeCommandEncoder()
        self._bound_mailbox = False
        # kept alive until the batch has ended; a dict keeps the order and no doubles
        self._memories: dict[int, MetalMemory] = {}
        self._kernel_names: dict[str, None] = {}
        self.launch_count = 0
        self.is_done = False
        self.end_time_s: float | None = None

    def encode(
        self,
        program: MetalProgram,
        pipeline: Pipeline,
        config: LaunchConfig,
        params: bytes,
        memories: list[MetalMemory],
        mailbox: MetalMemory,
    ) -> None:
        """Add a launch; `memories` is what its pointers lead to."""
        encoder, metal = self._encoder, self._bridge.metal
        encoder.setComputePipelineState_(pipeline.native)
        if params:
            self._bind_params(params)
        if program.throws and not self._bound_mailbox:
            encoder.setBuffer_offset_atIndex_(mailbox.buffer, 0, MAILBOX_INDEX)
            self._bound_mailbox = True
        if program.throws or program.uses_dynamic_shared:
            facts = LAUNCH_STRUCT.pack(program.number, config.dynamic_shared_nbytes)
            encoder.setBytes_length_atIndex_(facts, len(facts), LAUNCH_INDEX)
        if program.uses_dynamic_shared:
            length = max(1, -(-config.dynamic_shared_nbytes // _THREADGROUP_ALIGN_NBYTES)) * _THREADGROUP_ALIGN_NBYTES
            encoder.setThreadgroupMemoryLength_atIndex_(length, DYNAMIC_SHARED_INDEX)
        for memory in memories:
            memory.last_use = self
            if id(memory) not in self._memories:
                # pointers in the parameter block do not make their buffers resident
                encoder.useResource_usage_(memory.buffer, metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite)
                self._memories[id(memory)] = memory
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(
            metal.MTLSizeMake(*config.grid), metal.MTLSizeMake(*config.block)
        )
        self._kernel_names[program.artifact.kernel_name] = None
        self.launch_count += 1

    def _bind_params(self, params: bytes) -> None:
        if len(params) < _MAX_INLINE_NBYTES:
            self._encoder.setBytes_length_atIndex_(params, len(params), ARGS_INDEX)
            return
        device = self._command_buffer.device()
        options = self._bridge.metal.MTLResourceStorageModeShared
        buffer = device.newBufferWithBytes_length_options_(params, len(params), options)
        self._encoder.setBuffer_offset_atIndex_(buffer, 0, ARGS_INDEX)

    def close(self) -> None:
        """No more launches."""
        self._encoder.endEncoding()
        self._encoder = None
        self._command_buffer.encodeSignalEvent_value_(self._event, self._value)
        self._command_buffer.setLabel_(", ".join(self._kernel_names))

    def commit(self) -> None:
        """Hand the batch to the GPU."""
        self._command_buffer.commit()

    def has_ended(self) -> bool:
        """Whether the GPU is done with it, well or not. Never waits; `wait` tells which."""
        return self.is_done or self._command_buffer.status() >= self._bridge.metal.MTLCommandBufferStatusCompleted

    def wait(self, timeout_s: float) -> None:
        """Return when the batch has ended. Raises DeviceError if it failed, or did not end in time."""
        if self.is_done:
            return
        with self._bridge.pool():
            deadline_s = time.monotonic() + timeout_s
            while not self.has_ended():
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    raise timed_out(self._kernel_names, timeout_s)
                slice_ms = max(1, int(min(_POLL_S, left_s) * 1e3))
                if self._event.waitUntilSignaledValue_timeoutMS_(self._value, slice_ms):
                    # the GPU is past its last command: this waits only for the bookkeeping
                    self._command_buffer.waitUntilCompleted()
            self._finish()

    def _finish(self) -> None:
        self.is_done = True
        self._memories.clear()
        self.end_time_s = self._command_buffer.GPUEndTime()
        if self._command_buffer.status() == self._bridge.metal.MTLCommandBufferStatusError:
            raise failed_batch(self._bridge.metal, self._kernel_names, self._command_buffer.error())
