"""Streams and events of the driver. Before: device. After: launch.streams."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

from numba_gpucore.base.channels import MappedChannel
from numba_ptxplus.driver.context import PrimaryContext
from numba_ptxplus.driver.failures import check
from numba_ptxplus.driver.memory import HostMemory

_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class CudaQueue:
    """Fills base.backend.Queue: one CUstream, ordered after the default stream as CUDA's blocking streams are.

    channel: where its launches report, which the device lends.
    """

    channel: MappedChannel[HostMemory]

    def __init__(self, context: PrimaryContext, stream: Any):
        self._context = context
        self.native = stream

    @classmethod
    def open(cls, context: PrimaryContext) -> CudaQueue:
        with context:
            stream = check(context.driver.cuStreamCreate(0), "making a stream")
        queue = cls(context, stream)
        weakref.finalize(queue, _destroy, context, context.driver.cuStreamDestroy, stream, "destroying a stream")
        return queue

    def synchronize(self) -> None:
        with self._context:
            check(self._context.driver.cuStreamSynchronize(self.native), "waiting for a stream")

    def is_idle(self) -> bool:
        driver = self._context.driver
        with self._context:
            answer = driver.cuStreamQuery(self.native)
        if answer[0] == driver.CUresult.CUDA_ERROR_NOT_READY:
            return False
        check(answer, "asking a stream")
        return True

    def call(self, function: Callable[[], Any]) -> None:
        """Run `function` on a thread of the driver once earlier work has ended; it must not use the device."""
        pending = self._context.pending_calls

        def run(_data: Any) -> None:
            try:
                function()
            finally:
                del pending[address]

        native = _HOST_FUNCTION(run)
        address = ctypes.cast(native, ctypes.c_void_p).value or 0
        pending[address] = native
        driver = self._context.driver
        with self._context:
            check(driver.cuLaunchHostFunc(self.native, driver.CUhostFn(address), 0), "putting a call into a stream")


class CudaEvent:
    """A mark in a stream, timed by the device."""

    def __init__(self, context: PrimaryContext, timing: bool = True):
        self._context = context
        # An event without time costs the streams that it orders less. Source: CUDA Driver API, cuEventCreate.
        flags = 0 if timing else int(context.driver.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        with context:
            self._native = check(context.driver.cuEventCreate(flags), "making an event")
        destroy = context.driver.cuEventDestroy
        weakref.finalize(self, _destroy, context, destroy, self._native, "destroying an event")

    def record(self, queue: CudaQueue) -> None:
        with self._context:
            check(self._context.driver.cuEventRecord(self._native, queue.native), "recording an event")

    def synchronize(self) -> None:
        with self._context:
            check(self._context.driver.cuEventSynchronize(self._native), "waiting for an event")

    def is_over(self) -> bool:
        driver = self._context.driver
        with self._context:
            answer = driver.cuEventQuery(self._native)
        if answer[0] == driver.CUresult.CUDA_ERROR_NOT_READY:
            return False
        check(answer, "asking an event")
        return True

    def hold_back(self, queue: CudaQueue) -> None:
        """Let later work of `queue` start only after this mark."""
        with self._context:
            check(self._context.driver.cuStreamWaitEvent(queue.native, self._native, 0), "making a stream wait")

    def elapsed_ms(self, end: CudaEvent) -> float:
        """Milliseconds from this mark to `end`, with a resolution of about 0.5 µs."""
        with self._context:
            elapsed: float = check(
                self._context.driver.cuEventElapsedTime(self._native, end._native), "reading the time between events"
            )
        return elapsed


def _destroy(context: PrimaryContext, destroy: Callable[[Any], Any], native: Any, doing: str) -> None:
    with context:
        check(destroy(native), doing)
