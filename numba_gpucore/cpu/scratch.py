"""Memory that running blocks work in: shared memory, thread records, frames. Before: nothing. After: workers.

Each running worker borrows one piece and gives it back, so that as many exist as ever ran at once.
"""

from __future__ import annotations

import numpy as np

ALIGN_NBYTES = 64


def aligned_bytes(nbytes: int, align_nbytes: int = ALIGN_NBYTES) -> np.ndarray:
    """Uninitialised uint8 array of shape (nbytes,) that starts at a multiple of `align_nbytes`. Raises MemoryError.

    One byte is the least: NumPy does not tell where an array without items lies.
    """
    try:
        raw = np.empty(nbytes + align_nbytes, np.uint8)
    except ValueError as error:  # NumPy's answer to sizes beyond the address space
        raise MemoryError(str(error)) from error
    start = -raw.ctypes.data % align_nbytes
    return raw[start : start + max(nbytes, 1)]


class Scratch:
    """Grows to the largest size asked for, and stays there."""

    def __init__(self) -> None:
        self._array = aligned_bytes(0)
        self.address = 0

    def reserve(self, nbytes: int) -> int:
        """Have at least `nbytes` bytes; returns their address. Raises MemoryError."""
        if nbytes > self._array.size:
            self._array = aligned_bytes(nbytes)
            self.address = self._array.ctypes.data
        return self.address


class ScratchPool:
    """Free pieces; `pop` and `append` of a list are atomic, so that no lock is needed."""

    def __init__(self) -> None:
        self._free: list[Scratch] = []

    def borrow(self) -> Scratch:
        try:
            return self._free.pop()
        except IndexError:
            return Scratch()

    def give_back(self, scratch: Scratch) -> None:
        self._free.append(scratch)
