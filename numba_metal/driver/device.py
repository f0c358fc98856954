"""One Apple GPU. Before: the session opens it. After: memory.py, program.py, queue.py.

Host arrays are copied to the device and back by the launch half, except those that `share_host_memory` takes in place.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Mapping
from typing import Any

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import Dim3, LaunchConfig, Limits, Memory, Program, Queue
from numba_gpucore.base.channels import Channels, MappedChannel
from numba_gpucore.base.errors import DeviceError, DeviceMemoryError, LaunchError, OptionError
from numba_gpucore.base.print_ring import CHANNEL_NBYTES, TakenPrints
from numba_metal.architectures import arch_of
from numba_metal.driver.bridge import Bridge, import_bridge
from numba_metal.driver.event import MetalEvent
from numba_metal.driver.memory import Allocator, MetalMemory
from numba_metal.driver.program import MetalProgram
from numba_metal.driver.queue import MetalQueue

#: Blocks in a dimension, as the kernel language counts them (compile.intrinsics.MAX_GRID).
_MAX_GRID = 2**31 - 1
#: Threads in a dimension of the grid: thread positions are 32-bit.
_MAX_THREADS_IN_DIMENSION = 2**32 - 1
_DEFAULT_TIMEOUT_S = 120.0


class MetalDevice:
    """base.backend.Device for an MTLDevice."""

    kind = "metal"
    uses_host_memory = False
    checks_bounds = False

    def __init__(self, bridge: Bridge, native: Any, index: int, timeout_s: float):
        self.index = index
        self.name = str(native.name())
        self.arch = _find_arch(bridge)
        self.limits = _read_limits(native)
        self._bridge = bridge
        self._native = native
        self._timeout_s = timeout_s
        self._allocator = Allocator(bridge, native, self.name)
        self._channels = Channels(self._open_channel)
        self._default_queue = MetalQueue(bridge, native, timeout_s)
        self._default_queue.channel = self._channels.default
        self._queues: weakref.WeakSet[MetalQueue] = weakref.WeakSet([self._default_queue])
        self._programs: dict[int, MetalProgram] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    # Memory ---------------------------------------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> MetalMemory:
        """Shared memory, zero at first. Raises DeviceMemoryError."""
        return self._allocator.allocate(nbytes)

    def share_host_memory(self, data: memoryview) -> MetalMemory | None:
        """Device memory that is these writable host bytes themselves, without a copy; None where that cannot be."""
        return self._allocator.share(data)

    def write(self, memory: Memory, offset_nbytes: int, data: memoryview, queue: Queue | None) -> None:
        """Copy host bytes in, once the queue's work on this memory has ended. Done when it returns."""
        target = self._host_bytes(memory, offset_nbytes, data.nbytes, queue)
        target[:] = data.cast("B")

    def read(self, memory: Memory, offset_nbytes: int, data: memoryview, queue: Queue | None) -> None:
        """Copy bytes out, once the queue's work on this memory has ended. Done when it returns."""
        source = self._host_bytes(memory, offset_nbytes, data.nbytes, queue)
        data.cast("B")[:] = source

    def _host_bytes(self, memory: Memory, offset_nbytes: int, nbytes: int, queue: Queue | None) -> memoryview:
        start = memory.address + offset_nbytes
        # Another package's view of memory of ours is known by its address.
        home = memory if isinstance(memory, MetalMemory) else self._allocator.memories.find(start)
        if home is None:
            raise DeviceMemoryError(
                f"{nbytes} bytes at {start:#x} are not memory of {self.name}, or no longer: keep the array alive whose "
                "memory it is"
            )
        self._in_order(queue).wait_for(home)
        return home.bytes_at(start - home.address, nbytes)

    # Kernels --------------------------------------------------------------------------------------------------------

    def load(self, artifact: Artifact) -> MetalProgram:
        """Have Metal compile the source. Raises ToolchainError, DeviceError."""
        program = MetalProgram(self._bridge, self._native, artifact, next(self._numbers))
        self._programs[program.number] = program
        return program

    def launch(self, program: Program, config: LaunchConfig, params: bytes, queue: Queue | None) -> None:
        """Start a kernel. Raises LaunchError for a shape that this kernel cannot have here, and for pointers to memory
        that is not this device's."""
        assert isinstance(program, MetalProgram)
        _check_extent(program, config)
        pipeline = program.pipeline_for(config.block, config.dynamic_shared_nbytes)
        memories = [self._memory_at(program, address) for address in program.addresses(params) if address]
        self._in_order(queue).launch(program, pipeline, config, params, memories)

    def _memory_at(self, program: MetalProgram, address: int) -> MetalMemory:
        memory = self._allocator.memories.find(address)
        if memory is None:
            raise LaunchError(
                f"kernel '{program.artifact.kernel_name}' was given the address {address:#x}, which is not memory of "
                f"{self.name}, or no longer; keep arrays alive, and copy those of other devices with to_device"
            )
        return memory

    def program_of(self, number: int) -> MetalProgram | None:
        return self._programs.get(number)

    # Order ----------------------------------------------------------------------------------------------------------

    def _queue(self, queue: Queue | None) -> MetalQueue:
        if queue is None:
            return self._default_queue
        assert isinstance(queue, MetalQueue)
        return queue

    def _in_order(self, queue: Queue | None) -> MetalQueue:
        """The queue, once it may be given work. As with CUDA's default stream, work on the default queue comes after
        what other queues were given before, and theirs after its. It is the host that waits: a batch that failed never
        signals its event, and whatever waited for that on the GPU would hang."""
        own = self._queue(queue)
        if own is not self._default_queue:
            self._default_queue.settle()
            return own
        with self._lock:
            others = [other for other in self._queues if other is not own]
        for other in others:
            other.settle()
        return own

    def open_queue(self) -> MetalQueue:
        queue = MetalQueue(self._bridge, self._native, self._timeout_s)
        queue.channel = self._channels.lend(queue)
        with self._lock:
            self._queues.add(queue)
        return queue

    def default_queue(self) -> MetalQueue:
        """The queue of work that is given without one, for events."""
        return self._default_queue

    def open_event(self, timing: bool = True) -> MetalEvent:
        """A mark; Metal tells its time at no cost."""
        return MetalEvent()

    def synchronize(self) -> None:
        """Wait for all queues. Raises DeviceError for launches that failed."""
        with self._lock:
            queues = list(self._queues)
        for queue in queues:
            queue.synchronize()

    def take_mailbox(self, queue: Queue | None = None) -> bytes:
        return self._channels.take_mailbox(None if queue is None else self._queue(queue).channel)

    def take_prints(self) -> TakenPrints:
        return self._channels.take_prints()

    def _open_channel(self) -> MappedChannel[MetalMemory]:
        memory = self._allocator.allocate(CHANNEL_NBYTES)
        return MappedChannel(memory, memory.host)


def _check_extent(program: MetalProgram, config: LaunchConfig) -> None:
    for axis, blocks, threads in zip("xyz", config.grid, config.block, strict=True):
        if blocks * threads > _MAX_THREADS_IN_DIMENSION:
            raise LaunchError(
                f"kernel '{program.artifact.kernel_name}': {blocks} blocks of {threads} threads in {axis} are "
                f"{blocks * threads} threads; Metal takes {_MAX_THREADS_IN_DIMENSION}. Let each thread do more"
            )


def _find_arch(bridge: Bridge) -> str:
    version = bridge.newest_msl_version()
    assert version is not None, "find_devices finds none then"
    return arch_of(version)


def _read_limits(native: Any) -> Limits:
    """Metal does not tell how many cores a GPU has, so multiprocessor_count stays 1."""
    size = native.maxThreadsPerThreadgroup()
    block: Dim3 = (size.width, size.height, size.depth)
    return Limits(
        max_threads_per_block=size.width,
        max_block=block,
        max_grid=(_MAX_GRID, _MAX_GRID, _MAX_GRID),
        max_shared_nbytes=native.maxThreadgroupMemoryLength(),
    )


def open_device(index: int) -> MetalDevice:
    """Open a GPU. Raises DeviceError, OptionError for a bad NUMBA_METAL_TIMEOUT_S."""
    timeout_s = read_timeout_s(os.environ)
    bridge = import_bridge()
    devices = [] if bridge is None else bridge.find_devices()
    if bridge is None or not 0 <= index < len(devices):
        raise DeviceError(
            f"there is no Metal device {index}: this machine has {len(devices)} "
            "(needed are macOS 14, an Apple GPU, M1 or later, and the package pyobjc-framework-Metal)"
        )
    return MetalDevice(bridge, devices[index], index, timeout_s)


def read_timeout_s(environ: Mapping[str, str]) -> float:
    """How long a batch of launches may run, from NUMBA_METAL_TIMEOUT_S. Raises OptionError."""
    text = environ.get("NUMBA_METAL_TIMEOUT_S", "").strip()
    if not text:
        return _DEFAULT_TIMEOUT_S
    try:
        timeout_s = float(text)
    except ValueError:
        timeout_s = 0.0
    if not 0 < timeout_s < float("inf"):
        raise OptionError(f"NUMBA_METAL_TIMEOUT_S must be a number of seconds above 0, not {text!r}")
    return timeout_s
