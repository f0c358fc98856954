"""Command queues, command buffers and events of the double. Before: device.py. After: gpu.py decides when they run."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.metal_double.encoder import ComputeCommandEncoder
from tests.metal_double.gpu import Gpu
from tests.metal_double.objc_objects import NSError, ObjCObject, RuleError, load_facts, selector
from tests.msl import KernelFault
from tests.msl.memory import Runtime

#: Metal, MTLDevice newCommandQueue: how many command buffers of a queue may be on their way.
_MAX_COMMAND_BUFFERS = 64


def _enum(name: str) -> int:
    return load_facts()["enums"][name]


class SharedEvent(ObjCObject):
    """Metal, MTLSharedEvent."""

    def __init__(self, gpu: Gpu):
        self._macos = gpu.world.macos
        self._gpu = gpu
        self.value = 0

    @selector("signaledValue")
    def signaledValue(self) -> int:
        return self.value

    @selector("waitUntilSignaledValue:timeoutMS:")
    def waitUntilSignaledValue_timeoutMS_(self, value: int, timeout_ms: int) -> bool:
        if self._gpu.run_until_signaled(self, value):
            return True
        time.sleep(timeout_ms / 1e3)
        return False


class CommandQueue(ObjCObject):
    """Metal, MTLCommandQueue."""

    def __init__(self, gpu: Gpu, runtime: Runtime, device: ObjCObject):
        self._macos = gpu.world.macos
        self.gpu = gpu
        self.runtime = runtime
        self.native_device = device
        self.unfinished = 0

    @selector("commandBuffer")
    def commandBuffer(self) -> CommandBuffer:
        if not getattr(self.gpu.pool_depth, "value", 0):
            raise RuleError("commandBuffer outside an autorelease pool: it would never be freed")
        if self.unfinished >= _MAX_COMMAND_BUFFERS:
            raise RuleError(f"commandBuffer: more than {_MAX_COMMAND_BUFFERS} unfinished, would wait without bound")
        self.unfinished += 1
        return CommandBuffer(self)


class CommandBuffer(ObjCObject):
    """Metal, MTLCommandBuffer with retained references."""

    def __init__(self, queue: CommandQueue):
        self._macos = queue.gpu.world.macos
        self.queue = queue
        self.polls = 0
        self._status = _enum("MTLCommandBufferStatusNotEnqueued")
        self._commands: list[tuple[Callable[[], bool], Callable[[], None]]] = []
        self._encoder: ComputeCommandEncoder | None = None
        self._error: NSError | None = None
        self._times = (0.0, 0.0)

    @property
    def has_ended(self) -> bool:
        return self._status >= _enum("MTLCommandBufferStatusCompleted")

    def can_run(self) -> bool:
        """Whether the first command that may have to wait need not."""
        return not self._commands or self._commands[0][0]()

    def run(self) -> None:
        """Run all commands; the GPU holds its lock."""
        start_s = time.perf_counter()
        self._status = _enum("MTLCommandBufferStatusCompleted")
        try:
            for can_run, command in self._commands:
                if not can_run():
                    raise RuleError("a wait for an event in the middle of a command buffer: the double has none")
                command()
        except KernelFault as fault:
            self._fail(fault)
        self._times = start_s, time.perf_counter()
        self.queue.unfinished -= 1
        self._commands.clear()

    def _fail(self, fault: KernelFault) -> None:
        """Nothing after a fault runs, so no event is signaled."""
        text = str(fault)
        name = "PageFault" if "SIGSEGV" in text else "Timeout" if "time-out" in text else "Internal"
        self._status = _enum("MTLCommandBufferStatusError")
        self._error = NSError("MTLCommandBufferErrorDomain", _enum(f"MTLCommandBufferError{name}"), text)

    def _require_encodable(self, what: str) -> None:
        if self._status != _enum("MTLCommandBufferStatusNotEnqueued"):
            raise RuleError(f"{what}: the command buffer was committed")
        if self._encoder is not None and not self._encoder.has_ended:
            raise RuleError(f"{what}: an encoder of the command buffer has not ended")

    @selector("device")
    def device(self) -> ObjCObject:
        return self.queue.native_device

    @selector("setLabel:")
    def setLabel_(self, label: str) -> None:
        pass

    @selector("computeCommandEncoder")
    def computeCommandEncoder(self) -> ComputeCommandEncoder:
        self._require_encodable("computeCommandEncoder")
        encoder = self._encoder = ComputeCommandEncoder(self.queue.gpu, self.queue.runtime)
        hangs = self.queue.gpu.world.hangs

        def can_run() -> bool:
            return not any(dispatch.pipeline.name in hangs for dispatch in encoder.dispatches)

        def run() -> None:
            for buffer in encoder.buffers:
                buffer.before_gpu()
            try:
                for dispatch in encoder.dispatches:
                    dispatch.run(self.queue.gpu)
            finally:
                for buffer in encoder.buffers:
                    buffer.after_gpu()

        self._commands.append((can_run, run))
        return encoder

    @selector("encodeSignalEvent:value:")
    def encodeSignalEvent_value_(self, event: SharedEvent, value: int) -> None:
        self._require_encodable("encodeSignalEvent")

        def signal() -> None:
            event.value = max(event.value, value)

        self._commands.append((lambda: True, signal))

    @selector("commit")
    def commit(self) -> None:
        self._require_encodable("commit")
        self._status = _enum("MTLCommandBufferStatusCommitted")
        self.queue.gpu.submit(self)

    @selector("status")
    def status(self) -> int:
        self.queue.gpu.poll(self)
        return self._status

    @selector("waitUntilCompleted")
    def waitUntilCompleted(self) -> None:
        if not self.queue.gpu.run_until_done(self):
            raise RuleError("waitUntilCompleted: this command buffer never ends, so this would wait for ever")

    @selector("error")
    def error(self) -> NSError | None:
        return self._error

    @selector("GPUStartTime")
    def GPUStartTime(self) -> float:
        return self._times[0]

    @selector("GPUEndTime")
    def GPUEndTime(self) -> float:
        return self._times[1]
