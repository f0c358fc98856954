"""Python functions that run in order with a queue's launches. Before: queue.py. After: a thread of the queue's own."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any


class HostTasks:
    """Runs functions one after another in a thread, which starts with the first. Errors are kept for `drain`."""

    def __init__(self) -> None:
        self._todo: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._count = 0
        self._running_thread: int | None = None
        self._errors: list[BaseException] = []
        self._has_thread = False

    @property
    def is_busy(self) -> bool:
        return self._count > 0

    def post(self, function: Callable[[], Any]) -> None:
        with self._lock:
            self._count += 1
            if not self._has_thread:
                self._has_thread = True
                thread = threading.Thread(target=_work, args=(self._todo,), name="numba-metal queue", daemon=True)
                thread.start()
                # the thread knows the list only, so that this object can go, which ends the thread
                weakref.finalize(self, self._todo.put, None)
        self._todo.put(lambda: self._run(function))

    def _run(self, function: Callable[[], Any]) -> None:
        error: BaseException | None = None
        self._running_thread = threading.get_ident()
        try:
            function()
        except BaseException as raised:
            error = raised
        with self._lock:
            self._running_thread = None
            self._count -= 1
            if error is not None:
                self._errors.append(error)
            if self._count == 0:
                self._idle.notify_all()

    def wait(self) -> None:
        """Return when all functions have run; at once if one of them asks, which cannot wait for itself."""
        with self._lock:
            while self._count and self._running_thread != threading.get_ident():
                self._idle.wait()

    def drain(self) -> None:
        """Wait until all functions have run. Raises the first error that one of them raised."""
        self.wait()
        with self._lock:
            errors, self._errors = self._errors, []
        if errors:
            raise errors[0]


def _work(todo: queue.SimpleQueue[Callable[[], Any] | None]) -> None:
    while (function := todo.get()) is not None:
        function()
