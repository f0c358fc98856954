"""A stream as Metal sees it: a command queue whose launches run in order. Before: device.py. After: batch.py."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from numba_gpucore.base.backend import LaunchConfig
from numba_gpucore.base.channels import MappedChannel
from numba_metal.driver.batch import Batch
from numba_metal.driver.bridge import Bridge
from numba_metal.driver.host_tasks import HostTasks
from numba_metal.driver.memory import MetalMemory
from numba_metal.driver.program import MetalProgram, Pipeline

#: A batch is committed when it has this many launches, or as soon as the GPU has nothing else of the queue to do.
_MAX_BATCH_LAUNCHES = 64
#: Metal gives out this many command buffers of a queue; more make commandBuffer wait without bound.
_MAX_BATCHES = 48


class MetalQueue:
    """base.backend.Queue. Thread-safe.

    timeout_s: how long a batch may run once those before it have ended. A launch may stay in the open batch until the
    next call on the queue that waits, looks or launches. channel: where its launches report, which the device lends.
    """

    channel: MappedChannel[MetalMemory]

    def __init__(self, bridge: Bridge, native_device: Any, timeout_s: float):
        self._bridge = bridge
        self._timeout_s = timeout_s
        self._native = native_device.newCommandQueue()
        self._event = native_device.newSharedEvent()
        self._lock = threading.RLock()
        self._open: Batch | None = None
        self._given: deque[Batch] = deque()
        self._tasks = HostTasks()
        self._last_value = 0
        self._errors: list[Exception] = []

    def launch(
        self,
        program: MetalProgram,
        pipeline: Pipeline,
        config: LaunchConfig,
        params: bytes,
        memories: list[MetalMemory],
    ) -> None:
        with self._lock, self._bridge.pool():
            if self._open is None:
                self._last_value += 1
                self._open = Batch(self._bridge, self._native, self._event, self._last_value)
            self._open.encode(program, pipeline, config, params, memories, self.channel.memory)
            self._drop_ended()
            if not self._given or self._open.launch_count >= _MAX_BATCH_LAUNCHES:
                self._commit_open()

    def _commit_open(self) -> None:
        batch, self._open = self._open, None
        if batch is None:
            return
        while len(self._given) >= _MAX_BATCHES:
            self.finish(self._given[0])
        with self._bridge.pool():
            batch.close()
            self._given.append(batch)
            if self._tasks.is_busy:  # a host function comes first
                self._tasks.post(batch.commit)
            else:
                batch.commit()

    def _drop_ended(self) -> None:
        while self._given and self._given[0].has_ended():
            self.finish(self._given[0])

    def finish(self, batch: Batch) -> None:
        """Wait for a batch, note how it ended. The time-out is raised, since nothing after it will end either."""
        try:
            batch.wait(self._timeout_s)
        except Exception as error:
            if not batch.is_done:
                raise
            self._errors.append(error)
        with self._lock:
            if batch in self._given:
                self._given.remove(batch)

    def synchronize(self) -> None:
        """Wait until all launches and functions given so far have ended. Raises DeviceError for those that failed."""
        with self._lock:
            self._commit_open()
            given = list(self._given)
        self._tasks.drain()
        for batch in given:
            self.finish(batch)
        with self._lock:
            errors, self._errors = self._errors, []
        if errors:
            raise errors[0]

    def settle(self) -> None:
        """Wait until all launches and functions given so far have ended; `synchronize` tells which failed. Raises
        DeviceError for those that do not end in time."""
        with self._lock:
            if self._open is None and not self._given and not self._tasks.is_busy:
                return
            self._commit_open()
            given = list(self._given)
        self._tasks.wait()
        for batch in given:
            self.finish(batch)

    def is_idle(self) -> bool:
        """Whether everything given so far has ended."""
        with self._lock, self._bridge.pool():
            self._commit_open()
            self._drop_ended()
            return not self._given and not self._tasks.is_busy

    def call(self, function: Callable[[], Any]) -> None:
        """Run a function in a thread after the work given so far; later work of this queue waits for it."""
        with self._lock:
            self._commit_open()
            before = list(self._given)

            def run() -> None:
                for batch in before:
                    self.finish(batch)
                function()

            self._tasks.post(run)

    def mark(self) -> tuple[Batch | None, threading.Event]:
        """The last batch given so far, if it has not been waited for, and what is set once the host functions given so
        far have run."""
        with self._lock:
            self._commit_open()
            host_mark = threading.Event()
            if self._tasks.is_busy:
                self._tasks.post(host_mark.set)
            else:
                host_mark.set()
            return (self._given[-1] if self._given else None), host_mark

    def wait_for(self, memory: MetalMemory) -> None:
        """Return when the host may touch the memory's bytes, in order with this queue's work."""
        if self._tasks.is_busy:
            self.synchronize()
        batch = memory.last_use
        if batch is None or batch.is_done:
            return
        with self._lock:
            if batch is self._open:
                self._commit_open()
            is_ours = batch in self._given
        if is_ours:
            self.finish(batch)
            memory.last_use = None
