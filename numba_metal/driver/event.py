"""Marks in a queue, timed by the GPU. Before: device.py. After: whoever measures or orders queues."""

from __future__ import annotations

import threading
import time

from numba_gpucore.base.errors import LaunchError
from numba_metal.driver.batch import Batch
from numba_metal.driver.queue import MetalQueue


class MetalEvent:
    """A mark behind the work of a queue; not recorded, it counts as passed."""

    def __init__(self) -> None:
        self._queue: MetalQueue | None = None
        self._batch: Batch | None = None
        self._host_mark = threading.Event()
        self._recorded_s: float | None = None

    def record(self, queue: MetalQueue) -> None:
        """Put the mark behind the launches and host functions given to `queue` so far."""
        self._queue = queue
        self._batch, self._host_mark = queue.mark()
        # where nothing is left to wait for, the mark passes now
        self._recorded_s = time.perf_counter()

    def is_over(self) -> bool:
        """Whether the work before the mark has ended. Never waits."""
        return self._queue is None or (self._host_mark.is_set() and (self._batch is None or self._batch.has_ended()))

    def synchronize(self) -> None:
        """Wait for the mark. Raises DeviceError for a batch that does not end in time."""
        if self._queue is not None:
            self._host_mark.wait()
            if self._batch is not None:
                self._queue.finish(self._batch)

    def hold_back(self, queue: MetalQueue) -> None:
        """Let later work of `queue` start only after this mark."""
        queue.call(self.synchronize)

    def time_s(self) -> float:
        """When the mark passed, on the clock of time.perf_counter: Metal, MTLCommandBuffer GPUEndTime, gives the host's
        time, and both count mach_absolute_time. Waits for it. Raises LaunchError if nothing was recorded."""
        if self._recorded_s is None:
            raise LaunchError("the time of an event was asked for, which has not been recorded: record it first")
        self.synchronize()
        if self._batch is None or self._batch.end_time_s is None:
            return self._recorded_s
        return self._batch.end_time_s

    def elapsed_ms(self, end: MetalEvent) -> float:
        """Milliseconds of GPU time from this mark to `end`."""
        return (end.time_s() - self.time_s()) * 1e3
