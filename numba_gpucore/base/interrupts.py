"""Ctrl-C, held until something has ended that must not be left half done. Before: nothing. After: launch.miss, cpu.

An interrupt in the middle of a compilation leaves Numba's registries half filled, for good: later kernels then fail
with errors that have nothing to do with them, `x[i]` on an array of floats among them. One in the middle of a launch on
the CPU device would free arrays that helping threads still write to.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class HeldInterrupts:
    """What Ctrl-C asked for meanwhile."""

    def __init__(self, handler: Any):
        self.handler = handler
        self.caught: list[tuple[int, FrameType | None]] = []

    def ends_work(self) -> bool:
        """True if KeyboardInterrupt is going to be raised. A program's own handlers may do without."""
        return bool(self.caught) and self.handler is signal.default_int_handler


@contextmanager
def interrupts_held() -> Iterator[HeldInterrupts]:
    """KeyboardInterrupt is raised when this ends, not inside. Other threads are never interrupted."""
    held = HeldInterrupts(signal.getsignal(signal.SIGINT))
    if threading.current_thread() is not threading.main_thread() or not callable(held.handler):
        yield held
        return
    signal.signal(signal.SIGINT, lambda *arguments: held.caught.append(arguments))
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, held.handler)
        if held.caught:
            held.handler(*held.caught[-1])
