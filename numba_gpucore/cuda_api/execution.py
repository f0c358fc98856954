"""Streams, events and profiling as numba.cuda names them. Before: session. After: the public names of both packages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.streams import Event, Stream


class ExecutionNames:
    """The public functions about streams and events, for one target."""

    def __init__(self, platform: Platform):
        self._platform = platform

    def stream(self) -> Stream:
        """A new stream on the current device: work in it runs in order, and beside that of other streams."""
        session = default_session()
        return session.open_stream(session.current_device(self._platform))

    def default_stream(self) -> Stream:
        """The stream that is used where none is given."""
        session = default_session()
        return session.default_stream(session.current_device(self._platform))

    def external_stream(self, ptr: int) -> Stream:
        """A stream of another package by its address (a CUstream), or one of ours by its `handle`. Raises ArgumentError
        where the device has no such stream."""
        session = default_session()
        return session.find_stream(session.current_device(self._platform), int(ptr))

    def event(self, timing: bool = True) -> Event:
        """A new event; timing=False for one that only orders work."""
        return Event(self.default_stream, timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two recorded events."""
    return evtstart.elapsed_time(evtend)


def profile_start() -> None:
    """Nothing to start: profilers see kernels without being told."""


def profile_stop() -> None:
    """Nothing to stop."""


@contextmanager
def profiling() -> Iterator[None]:
    """A `with` block that is profiled where a profiler looks on."""
    yield
