"""Streams and events: work in order, and marks in it. Before: a device's queues. After: Kernel, arrays, cuda_api.

numba.cuda's classes and behaviour. Every wait also raises what threads of its kernels threw (see `raising`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from numba_gpucore.base.backend import Device, Mark, Queue
from numba_gpucore.base.errors import ArgumentError, DeviceError, LaunchError

if TYPE_CHECKING:
    import asyncio

#: Arguments kept alive for launches that may still run; a stream that holds more is made to finish first.
_MAX_HELD = 1024


class Held:
    """What work of a stream uses. is_given: the stream has the work, so that whoever waits for it waits for that."""

    __slots__ = ("is_given", "objects")

    def __init__(self, objects: Any, is_given: bool):
        self.objects = objects
        self.is_given = is_given


class Stream:
    """A queue of work on one device. `queue` None: the default stream. `external`: another package's or stream's queue,
    which this object only refers to."""

    def __init__(
        self,
        device: Device,
        queue: Queue | None,
        raise_pending: Callable[[Device, Queue | None], None],
        external: bool = False,
    ):
        self.device = device
        self.queue = queue
        self.external = external
        self._raise_pending = raise_pending
        #: By identity: several threads may hold and wait at once.
        self.held: dict[int, Held] = {}

    def __repr__(self) -> str:
        name = "default stream" if self.queue is None else f"stream at {id(self):#x}"
        return f"<{self.device.kind} {name} of {self.device.name}>"

    @property
    def handle(self) -> int:
        """What tells other packages this stream, as in `__cuda_array_interface__`: a CUstream on NVIDIA's GPUs, a
        number of ours elsewhere; 0 for the default stream."""
        return 0 if self.queue is None else int(getattr(self.queue, "native", id(self.queue)))

    @property
    def queue_of_events(self) -> Queue:
        """The queue in which a GPU's events are put. The default stream's is asked of the device."""
        queue: Queue = self.device.default_queue() if self.queue is None else self.queue  # type: ignore[attr-defined]
        return queue

    def hold(self, objects: Any, is_given: bool = True) -> Held:
        """Keep objects alive until the work given so far has ended. is_given False: until what is going to be given has
        ended, and the caller says when it is."""
        held = Held(objects, is_given)
        self.held[id(held)] = held
        if len(self.held) > _MAX_HELD:
            self.wait()
        return held

    def let_go(self, held: Held) -> None:
        self.held.pop(id(held), None)

    def let_go_if_idle(self) -> None:
        """Let go of what work has ended with. Never waits."""
        given = self._given()
        if given and self.queue is not None and self.queue.is_idle():
            for held in given:
                self.let_go(held)

    def _given(self) -> list[Held]:
        return [held for held in list(self.held.values()) if held.is_given]

    def wait(self) -> None:
        """Wait for all work given so far, without looking for exceptions. Raises DeviceError if the device failed."""
        given = self._given()
        try:
            if self.queue is None:
                self.device.synchronize()
            else:
                self.queue.synchronize()
        except DeviceError as failure:
            self.raise_failure(failure)
        if getattr(self.queue, "runs_here", bool)():
            return  # work of the queue cannot wait for what comes after it
        for held in given:  # not where Ctrl-C ended the wait: the work goes on
            self.let_go(held)

    def synchronize(self) -> None:
        """Wait for all work given so far; raise what kernel threads threw."""
        self.wait()
        self._raise_pending(self.device, self.queue)

    def raise_failure(self, failure: DeviceError) -> NoReturn:
        """Raise it from what kernel threads threw before the device failed, else the next wait would raise that."""
        try:
            self._raise_pending(self.device, self.queue)
        except Exception as thrown:
            raise failure from thrown
        raise failure

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronize at the end of a `with` block."""
        yield self
        self.synchronize()

    def call(self, function: Callable[[], Any]) -> None:
        """Run a Python function once the work given so far has ended."""
        if self.queue is None:
            self.wait()
            function()
        else:
            self.queue.call(function)

    def add_callback(self, callback: Callable[[Stream, int, Any], Any], arg: Any = None) -> None:
        """Call `callback(stream, status, arg)` after the work given so far; status is 0. It must not use the device."""
        if not callable(callback):
            raise TypeError(f"a callback is a function of stream, status and arg, not {callback!r}")
        self.call(lambda: callback(self, 0, arg))

    def async_done(self) -> asyncio.Future[Stream]:
        """An awaitable that resolves to this stream when the work given so far has ended."""
        import asyncio  # noqa: PLC0415 - takes 16 ms, and who awaits has it loaded

        loop = asyncio.get_running_loop()
        future: asyncio.Future[Stream] = loop.create_future()

        def resolve() -> None:
            if not future.done():
                future.set_result(self)

        self.call(lambda: loop.call_soon_threadsafe(resolve))
        return future


class _Passing:
    """One passing of a HostMark. A plain lock, since Ctrl-C can lock the condition of a threading.Event for good."""

    __slots__ = ("_lock", "is_over", "time_s")

    def __init__(self, is_over: bool = False) -> None:
        self._lock = threading.Lock()
        self.is_over = is_over
        if not is_over:
            self._lock.acquire()
        self.time_s = 0.0

    def end(self) -> None:
        self.time_s = time.perf_counter()
        self.is_over = True
        self._lock.release()

    def wait(self) -> None:
        with self._lock:
            pass


class HostMark:
    """A `base.backend.Mark` for devices without events of their own: functions called in order with the work of a
    stream."""

    def __init__(self) -> None:
        self._last = _Passing(is_over=True)

    @property
    def time_s(self) -> float:
        """When the work before it had ended, on the host's monotonic clock."""
        return self._last.time_s

    def record(self, on: Any) -> None:
        passing = _Passing()
        on.call(passing.end)
        self._last = passing  # not before: Ctrl-C may come before the stream has it, and who waited would wait for ever

    def is_over(self) -> bool:
        return self._last.is_over

    def synchronize(self) -> None:
        self._last.wait()

    def hold_back(self, on: Any) -> None:
        on.call(self._last.wait)

    def elapsed_ms(self, end: Any) -> float:
        elapsed_s: float = end.time_s - self.time_s
        return elapsed_s * 1e3


class Event:
    """A mark in a stream, kept by the GPU where there is one: neither it nor the host waits for another stream then."""

    def __init__(self, default_stream: Callable[[], Stream], timing: bool = True):
        self._default_stream = default_stream
        self._timing = timing
        self._stream: Stream | None = None
        self._mark: Mark = HostMark()

    def record(self, stream: Any = 0) -> None:
        """Put the mark behind the work given to `stream` (0: the default stream) so far."""
        on = check_stream(stream) or self._default_stream()
        if self._stream is None or self._stream.device is not on.device:
            open_mark = getattr(on.device, "open_event", None)
            self._mark = open_mark(self._timing) if open_mark else HostMark()
        self._mark.record(self._place(on))
        self._stream = on

    def _place(self, on: Stream) -> Any:
        return on if isinstance(self._mark, HostMark) else on.queue_of_events

    def query(self) -> bool:
        """True once the work before the mark has ended, and when nothing was recorded."""
        return self._stream is None or self._mark.is_over()

    def wait(self, stream: Any = 0) -> None:
        """Let later work of `stream` (0: the default stream) start only after the mark."""
        on = check_stream(stream) or self._default_stream()
        if self._stream is None:
            return
        if self._stream.device.kind == on.device.kind:
            self._mark.hold_back(self._place(on))
        else:
            on.call(self._mark.synchronize)

    def synchronize(self) -> None:
        """Wait on the host for the mark; raise what kernel threads threw."""
        if self._stream is not None:
            self._mark.synchronize()
            self._stream._raise_pending(self._stream.device, self._stream.queue)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this mark to `end`. Both must have been recorded and have passed."""
        for name, event in (("start", self), ("end", end)):
            if not (self._timing and end._timing):
                raise LaunchError("elapsed_time needs events made with timing=True")
            if event._stream is None or not event.query():
                raise LaunchError(f"the {name} event has not been recorded or not passed: synchronize it first")
        if type(self._mark) is not type(end._mark):
            raise LaunchError("elapsed_time needs two events of one kind of device")
        return self._mark.elapsed_ms(end._mark)


def check_stream(stream: Any) -> Stream | None:
    """What users pass as a stream: a Stream, or 0 or None for the default one (then None). Raises ArgumentError."""
    if stream is None or isinstance(stream, Stream):
        return stream
    if isinstance(stream, int) and stream == 0:
        return None
    raise ArgumentError(f"a stream must come from stream() or be 0, the default stream; got {stream!r}")
