"""One NVIDIA GPU. Before: session. After: everything that runs on it. Fills base.backend.Device."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any
from weakref import WeakValueDictionary

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import LaunchConfig, Limits, Memory, Queue
from numba_gpucore.base.channels import Channels, MappedChannel
from numba_gpucore.base.print_ring import CHANNEL_NBYTES, TakenPrints
from numba_ptxplus.architectures import arch_for_device
from numba_ptxplus.driver import memory as memories
from numba_ptxplus.driver.context import PrimaryContext, import_driver
from numba_ptxplus.driver.failures import check
from numba_ptxplus.driver.memory import CudaMemory, HostMemory, buffer_address
from numba_ptxplus.driver.program import CudaProgram
from numba_ptxplus.driver.stream import CudaEvent, CudaQueue

_AXES = "XYZ"


class CudaDevice:
    """Fills base.backend.Device. driver: the module `cuda.bindings.driver`."""

    kind = "cuda"
    uses_host_memory = False
    checks_bounds = False

    def __init__(self, driver: ModuleType, index: int):
        self.index = index
        self._driver = driver
        self.context = PrimaryContext(driver, index)
        self.name = self.context.name()
        major, minor = (self.context.attribute(f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
        self.arch = arch_for_device(major, minor)
        self.limits = _read_limits(self.context)
        self._default_stream = driver.CUstream(0)
        self._channels = Channels(self._open_channel)
        self._foreign: WeakValueDictionary[int, CudaQueue] = WeakValueDictionary()
        self._numbers = itertools.count(1)
        self._programs: dict[int, CudaProgram] = {}

    def __repr__(self) -> str:
        return f"<CUDA device {self.index}: {self.name}, {self.arch}>"

    def wrap_stream(self, handle: int) -> CudaQueue:
        """Another package's CUstream, which stays that package's; the same object while it is in use."""
        queue = self._foreign.get(handle)
        if queue is None:
            queue = CudaQueue(self.context, self._driver.CUstream(handle))
            queue.channel = self._channels.lend(queue)
            self._foreign[handle] = queue
        return queue

    # -- memory

    def allocate(self, nbytes: int) -> CudaMemory:
        return memories.allocate_device(self.context, nbytes)

    def allocate_pinned(self, nbytes: int, write_combined: bool = False) -> HostMemory:
        """Page-locked host memory: fast to copy, and usable by kernels in place."""
        return memories.allocate_pinned(self.context, nbytes, write_combined)

    def allocate_managed(self, nbytes: int) -> HostMemory:
        """Memory that host and device share; pages move on demand."""
        return memories.allocate_managed(self.context, nbytes)

    def page_lock(self, address: int, nbytes: int) -> Callable[[], None]:
        """Lock the pages of host memory, which makes copies faster; the result unlocks them."""
        return memories.page_lock(self.context, address, nbytes)

    def share_host_memory(self, data: memoryview) -> None:
        """Kernels would read pageable memory over the bus, if at all: a copy is faster."""

    def write(self, memory: Memory, offset_nbytes: int, data: memoryview, queue: Queue | None) -> None:
        if not data.nbytes:
            return
        target = self._driver.CUdeviceptr(memory.address + offset_nbytes)
        with self.context:
            answer = self._driver.cuMemcpyHtoDAsync(target, buffer_address(data), data.nbytes, self._stream(queue))
            check(answer, f"copying {data.nbytes} bytes to the device")

    def read(self, memory: Memory, offset_nbytes: int, data: memoryview, queue: Queue | None) -> None:
        if not data.nbytes:
            return
        source = self._driver.CUdeviceptr(memory.address + offset_nbytes)
        with self.context:
            answer = self._driver.cuMemcpyDtoHAsync(buffer_address(data), source, data.nbytes, self._stream(queue))
            check(answer, f"copying {data.nbytes} bytes from the device")

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes."""
        with self.context:
            free, total = check(self._driver.cuMemGetInfo(), "asking for free memory")
        return int(free), int(total)

    # -- programs

    def load(self, artifact: Artifact) -> CudaProgram:
        number = next(self._numbers)
        program = CudaProgram(self.context, artifact, number)
        self._programs[number] = program
        return program

    def launch(self, program: Any, config: LaunchConfig, params: bytes, queue: Queue | None) -> None:
        program.launch(config, params, self._stream(queue), self._channel(queue).memory.address)

    def program_of(self, number: int) -> CudaProgram | None:
        return self._programs.get(number)

    # -- order and waiting

    def _stream(self, queue: Queue | None) -> Any:
        return self._default_stream if queue is None else queue.native  # type: ignore[attr-defined]

    def _channel(self, queue: Queue | None) -> MappedChannel[HostMemory]:
        return self._channels.default if queue is None else queue.channel  # type: ignore[attr-defined]

    def open_queue(self) -> CudaQueue:
        queue = CudaQueue.open(self.context)
        queue.channel = self._channels.lend(queue)
        return queue

    def default_queue(self) -> CudaQueue:
        """CUDA's default stream, for events."""
        return CudaQueue(self.context, self._default_stream)

    def open_event(self, timing: bool = True) -> CudaEvent:
        return CudaEvent(self.context, timing)

    def synchronize(self) -> None:
        self.context.synchronize()

    # -- exceptions

    def take_mailbox(self, queue: Queue | None = None) -> bytes:
        return self._channels.take_mailbox(None if queue is None else self._channel(queue))

    def take_prints(self) -> TakenPrints:
        return self._channels.take_prints()

    def _open_channel(self) -> MappedChannel[HostMemory]:
        memory = memories.allocate_pinned(self.context, CHANNEL_NBYTES)
        ctypes.memset(memory.host_address, 0, CHANNEL_NBYTES)
        return MappedChannel(memory, memory.view)


def _read_limits(context: PrimaryContext) -> Limits:
    ask = context.attribute
    block = tuple(ask(f"MAX_BLOCK_DIM_{axis}") for axis in _AXES)
    grid = tuple(ask(f"MAX_GRID_DIM_{axis}") for axis in _AXES)
    return Limits(
        max_threads_per_block=ask("MAX_THREADS_PER_BLOCK"),
        max_block=(block[0], block[1], block[2]),
        max_grid=(grid[0], grid[1], grid[2]),
        max_shared_nbytes=ask("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        warp_size=ask("WARP_SIZE"),
        multiprocessor_count=ask("MULTIPROCESSOR_COUNT"),
    )


def open_device(index: int) -> CudaDevice:
    """Raises DeviceError without cuda-bindings, CudaError where the driver refuses."""
    return CudaDevice(import_driver(), index)
