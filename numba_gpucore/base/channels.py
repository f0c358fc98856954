"""Where a launch reports: each stream has a mailbox and a print ring of its own. Before: open_queue. After: launch.

So an exception is raised by who waits for the stream of its kernel. Who waits for the default stream waits for all
streams, and hears of all.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from numba_gpucore.base.mailbox import MAILBOX_NBYTES
from numba_gpucore.base.print_ring import TakenPrints, take_prints

NO_THROWS = bytes(MAILBOX_NBYTES)


class Channel(Protocol):
    """A mailbox and the ring behind it, CHANNEL_NBYTES of memory that the device and the host share."""

    def has_report(self) -> bool:
        """Whether threads threw and the host was not told. Cheap."""

    def take_mailbox(self) -> bytes:
        """The mailbox's bytes, which are zero then."""

    def take_prints(self) -> TakenPrints: ...


MemoryT = TypeVar("MemoryT")


class MappedChannel(Generic[MemoryT]):
    """A channel in memory of a GPU that the host sees as `host`, writable."""

    def __init__(self, memory: MemoryT, host: memoryview):
        self.memory = memory
        self._host = host

    def has_report(self) -> bool:
        return self._host[:4] != NO_THROWS[:4]

    def take_mailbox(self) -> bytes:
        taken = bytes(self._host[:MAILBOX_NBYTES])
        self._host[:MAILBOX_NBYTES] = NO_THROWS
        return taken

    def take_prints(self) -> TakenPrints:
        return take_prints(self._host)


ChannelT = TypeVar("ChannelT", bound=Channel)


class Channels(Generic[ChannelT]):
    """The channels of one device. has_thread_streams: the default stream is the calling thread's own."""

    def __init__(self, open_channel: Callable[[], ChannelT], has_thread_streams: bool = False):
        self._open = open_channel
        self._lock = threading.Lock()
        self._shared = None if has_thread_streams else open_channel()
        self._own = threading.local()
        self._lent: list[ChannelT] = []
        self._unused: list[ChannelT] = []

    @property
    def default(self) -> ChannelT:
        """The default stream's."""
        if self._shared is not None:
            return self._shared
        try:
            return self._own.channel  # type: ignore[no-any-return]
        except AttributeError:
            self._own.channel = self._open()
            return self._own.channel  # type: ignore[no-any-return]

    def lend(self, queue: object) -> ChannelT:
        """A channel for as long as the queue lives. One whose last queue left a report waits until that is taken."""
        with self._lock:
            channel = next((one for one in self._unused if not one.has_report()), None)
            if channel is None:
                channel = self._open()
                self._lent.append(channel)
            else:
                self._unused.remove(channel)
        weakref.finalize(queue, self._unused.append, channel).atexit = False
        return channel

    def take_mailbox(self, channel: ChannelT | None) -> bytes:
        """The report of a channel, None: of any that the calling thread may hear of; zeros where none has one."""
        for one in (self.default, *self._lent) if channel is None else (channel,):
            if one.has_report():
                return one.take_mailbox()
        return NO_THROWS

    def take_prints(self) -> TakenPrints:
        """What threads printed, whichever stream their kernels are in."""
        taken = [channel.take_prints() for channel in (self.default, *self._lent)]
        records = tuple(record for one in taken for record in one.records)
        return TakenPrints(records, sum(one.lost for one in taken))
