"""Streams of the CPU device: a thread each, work in order. Before: Device.open_queue. After: launches, copies."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numba_gpucore.cpu.channel import CpuChannel

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


class CpuQueue:
    """A base.backend.Queue. The thread starts with the first work and ends with the queue, or when Python ends.

    channel: where its launches report, which the device lends.
    """

    channel: CpuChannel

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0
        #: Works that were given, and how many of them have ended.
        self._given = self._ended = 0
        self._error: BaseException | None = None
        #: The thread that runs a work now.
        self._thread = 0

    def call(self, function: Callable[[], Any]) -> None:
        """Run `function` in order; what it raises is raised by the next `synchronize`."""
        with self._lock:
            try:
                if self._executor is None or self._process != os.getpid():
                    self._executor = _start_executor()
                    self._process = os.getpid()
                    self._given = self._ended = 0
                # Before `submit`: Ctrl-C may come behind it, and who waits must still know of the work.
                self._given += 1
                self._executor.submit(self._run, function)
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
        finally:
            self._thread = 0
            self._ended += 1

    def synchronize(self) -> None:
        """Wait until all work given so far has ended. Raises what the first failing function raised."""
        self.wait()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def wait(self) -> None:
        """Like `synchronize`, but leaves errors for it, and work that itself runs on this queue does not wait."""
        executor = self._executor
        if executor is None or self.is_idle() or self._thread == threading.get_ident():
            return
        try:
            end = executor.submit(_do_nothing)
        except RuntimeError:
            return  # Python is ending: its threads have done their work
        end.result()

    def is_idle(self) -> bool:
        return self._ended >= self._given or self._process != os.getpid()


def _start_executor() -> ThreadPoolExecutor:
    """Raises RuntimeError when Python is ending."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  1.5 ms, and most programs have no streams

    from numba_gpucore.base.interrupts import interrupts_held  # noqa: PLC0415 - `signal`: 0.5 ms, likewise

    # The thread starts here, where Ctrl-C cannot make the executor forget that it has one, and start another.
    with interrupts_held():
        executor = ThreadPoolExecutor(1, thread_name_prefix="gpu-stream")
        executor.submit(_do_nothing)
        return executor


def _do_nothing() -> None:
    pass
