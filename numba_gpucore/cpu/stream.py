"""Streams of the CPU device: a thread each, work in order. Before: Device.open_queue. After: launches, copies.

Ctrl-C may come between any two steps of the main thread, and a garbage collection, which runs `__del__` of a program's
objects, within most. So what threads share here changes in one step of C's: deques, SimpleQueues, plain locks.
Executors, futures and threading.Event wait with conditions, which stay locked for good where Ctrl-C comes as they are
entered (bpo-29988): the thread of a stream stood still then.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from numba_gpucore.cpu.channel import CpuChannel


class CpuQueue:
    """A base.backend.Queue. The thread starts with the first work and ends with the queue, or when Python ends.

    channel: where its launches report, which the device lends.
    """

    channel: CpuChannel

    def __init__(self) -> None:
        #: By process: a forked child has no threads of its parent's, and leaves their work to them.
        self._workers: dict[int, _Worker] = {}
        self._error: BaseException | None = None

    def call(self, function: Callable[[], Any]) -> None:
        """Run `function` in order; what it raises is raised by the next `synchronize`."""
        # Handlers of atexit still run when Python ends; then it stops its threads, wherever they are. (What
        # threading.main_thread().is_alive() says when Ctrl-C comes in it is wrong for good: bpo-45274.)
        worker = None if sys.is_finalizing() else self._worker() or self._start_worker()
        if worker is None:
            self._run(function)
            return
        worker.give(functools.partial(self._run, function))  # which keeps this queue alive until then
        if not python_life().alive:
            worker.wait()

    def _run(self, function: Callable[[], Any]) -> None:
        try:
            function()
        except BaseException as error:
            self._error = self._error or error

    def _worker(self) -> _Worker | None:
        return self._workers.get(os.getpid())

    def _start_worker(self) -> _Worker | None:
        """None where the system starts no thread."""
        from numba_gpucore.base.interrupts import interrupts_held  # noqa: PLC0415 - `signal`: 0.5 ms, and for streams

        with interrupts_held():
            worker = _Worker()
            try:
                worker.start()
            except RuntimeError:
                return None
            first = self._workers.setdefault(worker.process, worker)
            if first is not worker:  # another thread was faster
                worker.calls.put(True)
                return first
            # One step of C's: Ctrl-C in a weak reference's callback is lost, and what it has not done by then with it.
            weakref.finalize(self, worker.calls.put, True).atexit = False
            weakref.finalize(self, worker.wait)  # when Python ends
            return worker

    def synchronize(self) -> None:
        """Wait until all work given so far has ended. Raises what the first failing function raised."""
        self.wait()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def wait(self) -> None:
        """Like `synchronize`, but leaves errors for it, and work that itself runs on this queue does not wait."""
        worker = self._worker()
        if worker is not None:
            worker.wait()

    def runs_here(self) -> bool:
        """Whether work of this queue is what asks."""
        worker = self._worker()
        return worker is not None and worker.runs_here()

    def is_idle(self) -> bool:
        worker = self._worker()
        return worker is None or not worker.works


@functools.cache
def python_life() -> weakref.finalize[..., Any]:
    """Of this process and of its forked children: `alive` until Python ends."""
    return weakref.finalize(CpuQueue, bool)


class _Worker:
    """A thread that does one work after another. `works`: what has not ended; the first one runs. Each has a lock that
    is released then, or None. `calls`: each lets the thread look for work, True: for the last time."""

    def __init__(self) -> None:
        from queue import SimpleQueue  # noqa: PLC0415  0.5 ms, and most programs have no streams

        self.works: deque[tuple[Callable[[], Any], threading.Lock | None]] = deque()
        self.calls: SimpleQueue[bool] = SimpleQueue()
        self.process = os.getpid()
        self._thread = 0

    def start(self) -> None:
        """Raises RuntimeError where the system starts no thread."""
        threading.Thread(target=self._serve, name="gpu-stream", daemon=True).start()

    def _serve(self) -> None:
        self._thread = threading.get_ident()
        is_last = False
        while not is_last:
            is_last = self.calls.get()
            while self.works:  # without a variable for the work: it would keep the queue alive
                self.works[0][0]()
                end = self.works.popleft()[1]
                if end is not None:
                    end.release()

    def give(self, work: Callable[[], Any], end: threading.Lock | None = None) -> None:
        self.works.append((work, end))  # if Ctrl-C comes behind this, the next call brings the thread to it
        self.calls.put(False)

    def runs_here(self) -> bool:
        return self._thread == threading.get_ident()

    def wait(self) -> None:
        """Return when all works given so far have ended; at once where there is no thread to do them, or it is this."""
        if not self.works or self.runs_here() or sys.is_finalizing() or self.process != os.getpid():
            return
        end = threading.Lock()
        end.acquire()
        self.give(bool, end)
        end.acquire()
