"""Device memory: shared-storage buffers, which GPU and host see alike. Before: device.py. After: arrays, queue.py.

An Apple GPU works in the host's memory, so nothing is transferred: a write is a copy into the buffer's bytes.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from numba_gpucore.base.backend import whole_words
from numba_gpucore.base.errors import DeviceMemoryError
from numba_gpucore.base.params import round_up
from numba_metal.driver.bridge import Bridge

if TYPE_CHECKING:
    from numba_metal.driver.batch import Batch

#: Metal has no empty buffers.
_MIN_NBYTES = 16
#: Below this a copy is cheaper than making a buffer over the host's pages (estimate, to be measured on a Mac).
_MIN_SHARED_NBYTES = 64 * 1024


class MetalMemory:
    """base.backend.Memory. `address` is the GPU's; `host` the same bytes for the host; `buffer` the MTLBuffer.

    `last_use`: the last batch of launches that was given it. The host must not look at the bytes before that has ended.
    """

    __slots__ = ("__weakref__", "_memories", "_owner", "address", "buffer", "host", "last_use", "nbytes")

    def __init__(self, buffer: Any, nbytes: int, host: memoryview, memories: MemoryMap, owner: Any = None):
        self.address: int = buffer.gpuAddress()
        self.nbytes = nbytes
        self.buffer = buffer
        self.host = host
        self.last_use: Batch | None = None
        self._memories = memories
        self._owner = owner
        memories.add(self)

    def release(self) -> None:
        """Give the memory back; a command buffer that uses it holds on to it until it has ended. Harmless twice."""
        if self.buffer is not None:
            self._memories.remove(self)
            self.buffer = self._owner = None
            self.host = memoryview(b"")

    def __del__(self) -> None:
        if hasattr(self, "_memories"):
            self.release()

    def bytes_at(self, offset_nbytes: int, nbytes: int) -> memoryview:
        """A part of the host's view. Raises DeviceMemoryError for released memory and bytes outside it."""
        if self.buffer is None:
            raise DeviceMemoryError("device memory was used after its release; keep its array alive")
        if offset_nbytes < 0 or offset_nbytes + nbytes > self.nbytes:
            raise DeviceMemoryError(
                f"bytes {offset_nbytes} to {offset_nbytes + nbytes} are outside device memory of {self.nbytes} bytes"
            )
        return self.host[offset_nbytes : offset_nbytes + nbytes]


class MemoryMap:
    """Live memory of a device by GPU address, to find which buffers a launch's pointers lead to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # sorted (address, id); two buffers over the same host pages may have one address
        self._keys: list[tuple[int, int]] = []
        # no strong references: memory is released when its last array goes
        self._references: dict[tuple[int, int], weakref.ref[MetalMemory]] = {}
        # released since: the garbage collector may release memory while this thread holds the lock
        self._released: deque[tuple[int, int]] = deque()

    def add(self, memory: MetalMemory) -> None:
        key = (memory.address, id(memory))
        with self._lock:
            self._forget_released()
            bisect.insort(self._keys, key)
            self._references[key] = weakref.ref(memory)

    def remove(self, memory: MetalMemory) -> None:
        self._released.append((memory.address, id(memory)))

    def _forget_released(self) -> None:
        while self._released:
            key = self._released.popleft()
            del self._keys[bisect.bisect_left(self._keys, key)]
            del self._references[key]

    def find(self, address: int) -> MetalMemory | None:
        """The memory that holds a byte; its end counts too, for views that are empty."""
        with self._lock:
            self._forget_released()
            place = bisect.bisect_left(self._keys, (address + 1,)) - 1
            memory = self._references[self._keys[place]]() if place >= 0 else None
        if memory is None or address > memory.address + memory.nbytes:
            return None
        return memory


class Allocator:
    """Makes memory on one MTLDevice."""

    def __init__(self, bridge: Bridge, native: Any, name: str):
        self._bridge = bridge
        self._native = native
        self._name = name
        self.memories = MemoryMap()

    def allocate(self, nbytes: int) -> MetalMemory:
        """New memory, zero at first (Metal, MTLDevice newBufferWithLength:options:). Raises DeviceMemoryError."""
        limit = self._native.maxBufferLength()
        if nbytes > limit:
            raise DeviceMemoryError(f"{self._name} has no buffers of {nbytes} bytes, {limit} at most; split the array")
        with self._bridge.pool():
            options = self._bridge.metal.MTLResourceStorageModeShared
            length = max(whole_words(nbytes), _MIN_NBYTES)
            buffer = self._native.newBufferWithLength_options_(length, options)
            if buffer is None:
                in_use = self._native.currentAllocatedSize()
                raise DeviceMemoryError(
                    f"{self._name} cannot allocate {nbytes} bytes, {in_use} are in use; release some arrays"
                )
            # PyObjC does not say in which format it shows the bytes
            host = np.frombuffer(buffer.contents().as_buffer(length), np.uint8)[:nbytes]
            return MetalMemory(buffer, nbytes, host.data, self.memories)

    def share(self, data: memoryview) -> MetalMemory | None:
        """Memory that is these host bytes themselves, kept alive with it; None where Metal cannot take them in place.

        They must start at a page and be writable. Source: Metal, MTLDevice
        newBufferWithBytesNoCopy:length:options:deallocator: (start and length are whole pages).
        """
        if data.readonly or not data.c_contiguous or data.nbytes < _MIN_SHARED_NBYTES:
            return None
        address = ctypes.addressof(ctypes.c_char.from_buffer(data))
        if address % mmap.PAGESIZE:
            return None
        # the last page is mapped as a whole, whoever else uses its end
        length = round_up(data.nbytes, mmap.PAGESIZE)
        with self._bridge.pool():
            pages = (ctypes.c_char * length).from_address(address)
            options = self._bridge.metal.MTLResourceStorageModeShared
            buffer = self._native.newBufferWithBytesNoCopy_length_options_deallocator_(pages, length, options, None)
            if buffer is None:
                return None
            return MetalMemory(buffer, data.nbytes, data.cast("B"), self.memories, owner=data)
