"""Ctrl-C, held until a compilation has ended. Before: nothing. After: launch.miss.

An interrupt in the middle leaves Numba's registries half filled, for good: later kernels then fail with errors that
have nothing to do with them, `x[i]` on an array of floats among them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_held() -> Iterator[None]:
    """KeyboardInterrupt is raised when this ends, not inside. Other threads are never interrupted."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *arguments: caught.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if caught:
            handler(*caught[-1])
