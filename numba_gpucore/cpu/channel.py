"""A stream's mailbox and print ring in the process's memory. Before: a launch. After: base.channels."""

from __future__ import annotations

import ctypes
import threading

from numba_gpucore.base.channels import NO_THROWS
from numba_gpucore.base.mailbox import DETAILS_OFFSET, MAILBOX_NBYTES, NUMBERS_OFFSET, ThrowReport, read_mailbox
from numba_gpucore.base.print_ring import CHANNEL_NBYTES, TakenPrints, take_prints

#: The lock of a complete report.
_WRITTEN = 2
#: Details of a report whose numbers were found later: others may have thrown, too.
_COMPLETED = b"\3"


class CpuChannel:
    """A base.channels.Channel. lock: held while the report is read and changed."""

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(CHANNEL_NBYTES)
        self.address = ctypes.addressof(self._buffer)
        self.lock = threading.Lock()

    def has_report(self) -> bool:
        return self._buffer[4][0] == _WRITTEN

    def report(self) -> ThrowReport | None:
        return read_mailbox(self._bytes())

    def add_numbers(self, numbers: bytes) -> None:
        """Complete a report that only tells site and thread."""
        ctypes.memmove(self.address + NUMBERS_OFFSET, numbers, len(numbers))
        ctypes.memmove(self.address + DETAILS_OFFSET, _COMPLETED, len(_COMPLETED))

    def take_mailbox(self) -> bytes:
        with self.lock:
            data = self._bytes()
            if data[4] != _WRITTEN:
                return NO_THROWS
            # The lock goes last: a thread that takes it finds the rest in order.
            ctypes.memset(self.address + 8, 0, MAILBOX_NBYTES - 8)
            ctypes.memset(self.address, 0, 4)
            ctypes.memset(self.address + 4, 0, 4)
            return data

    def take_prints(self) -> TakenPrints:
        return take_prints(memoryview(self._buffer))

    def _bytes(self) -> bytes:
        return ctypes.string_at(self.address, MAILBOX_NBYTES)
