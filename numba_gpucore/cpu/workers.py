"""Threads that share a launch's blocks. Before: Device.launch. After: native code, without the GIL.

The launching thread always works itself. Helpers get a ticket; one that comes too late finds the team closed, so that
the launching thread only waits for helpers that have begun.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from numba_gpucore.cpu.scratch import ScratchPool

if TYPE_CHECKING:
    from queue import SimpleQueue

ALL_BLOCKS = 2**63


class Team:
    """One launch that helpers may join until it is closed."""

    def __init__(self, work: Callable[[int, int, int], None], record: int, scratch_nbytes: int):
        self.work = work
        self._record = record
        self._scratch_nbytes = scratch_nbytes
        self._lock = threading.Lock()
        self._is_closed = False
        self._running = 0
        self._idle = threading.Lock()

    def help(self, scratches: ScratchPool) -> None:
        """Work until no block is left; does nothing after `close`."""
        with self._lock:
            if self._is_closed:
                return
            self._running += 1
            if self._running == 1:
                self._idle.acquire()
        scratch = scratches.borrow()
        try:
            self.work(self._record, scratch.reserve(self._scratch_nbytes), ALL_BLOCKS)
        except MemoryError:
            pass  # the blocks are left to the others; the launching thread has its memory already
        finally:
            scratches.give_back(scratch)
            with self._lock:
                self._running -= 1
                if self._running == 0:
                    self._idle.release()

    def close(self) -> None:
        """Let nobody join any more and wait for those that did."""
        with self._lock:
            self._is_closed = True
        with self._idle:
            pass


class WorkerPool:
    """`num_threads` - 1 helpers, started when first needed and again in a forked child, which has none; fewer where the
    system starts no more threads."""

    def __init__(self, num_threads: int):
        self.num_threads = num_threads
        self._helpers = 0
        self._lock = threading.Lock()
        self._tickets: SimpleQueue[Team]
        self._process = 0
        self.scratches = ScratchPool()

    def share(self, team: Team, helpers: int) -> None:
        """Ask `helpers` threads to join, or as many as there are."""
        if self._process != os.getpid():
            self._start()
        for _ in range(min(helpers, self._helpers)):
            self._tickets.put(team)

    def _start(self) -> None:
        from queue import SimpleQueue  # noqa: PLC0415  0.5 ms, and small launches need no helpers

        with self._lock:
            if self._process == os.getpid():
                return
            self._tickets = SimpleQueue()
            self._helpers = 0
            while self._helpers < self.num_threads - 1:
                helper = threading.Thread(
                    target=_serve,
                    args=(self._tickets, self.scratches),
                    name=f"gpu-worker-{self._helpers}",
                    daemon=True,
                )
                try:
                    helper.start()
                except RuntimeError:  # a limit of the system's, or the interpreter is ending
                    break
                self._helpers += 1
            self._process = os.getpid()


def _serve(tickets: SimpleQueue[Team], scratches: ScratchPool) -> None:
    while True:
        tickets.get().help(scratches)
