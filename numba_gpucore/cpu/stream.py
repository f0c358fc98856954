"""Streams of the CPU device: a thread each, work in order. Before: Device.open_queue. After: launches, copies."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numba_gpucore.cpu.channel import CpuChannel

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


class CpuQueue:
    """A base.backend.Queue. The thread starts with the first work and ends with the queue, or when Python ends.

    channel: where its launches report, which the device lends.
    """

    channel: CpuChannel

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0
        self._last: Future[None] | None = None
        self._error: BaseException | None = None
        self._thread = 0

    def call(self, function: Callable[[], Any]) -> None:
        """Run `function` in order; what it raises is raised by the next `synchronize`."""
        with self._lock:
            try:
                if self._executor is None or self._process != os.getpid():
                    self._executor = _start_executor()
                    self._process = os.getpid()
                    self._last = None
                self._last = self._executor.submit(self._run, function)
            except RuntimeError:
                # Python is ending: its threads have done their work and take no more, but handlers of atexit still run.
                # Or the system starts no thread: then the executor, which has taken the work, must not do it later.
                self._executor = None
                self._run(function)

    def _run(self, function: Callable[[], Any]) -> None:
        self._thread = threading.get_ident()
        try:
            function()
        except BaseException as error:
            self._error = self._error or error

    def synchronize(self) -> None:
        """Wait until all work given so far has ended. Raises what the first failing function raised."""
        self.wait()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def wait(self) -> None:
        """Like `synchronize`, but leaves errors for it, and work that itself runs on this queue does not wait."""
        last = self._last
        if last is not None and self._process == os.getpid() and self._thread != threading.get_ident():
            last.result()

    def is_idle(self) -> bool:
        last = self._last
        return last is None or last.done() or self._process != os.getpid()


def _start_executor() -> ThreadPoolExecutor:
    """Raises RuntimeError when Python is ending."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  1.5 ms, and most programs have no streams

    return ThreadPoolExecutor(1, thread_name_prefix="gpu-stream")
