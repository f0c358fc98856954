"""The CPU as a device. Before: launch. After: native code in worker threads.

The default stream is the calling thread: a launch on it has ended when `launch` returns. As with CUDA's default
stream, it first waits for what other streams were given.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import weakref

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import LaunchConfig, Limits
from numba_gpucore.base.channels import Channels
from numba_gpucore.base.errors import DeviceMemoryError, LaunchError
from numba_gpucore.base.params import lay_out_params, params_nbytes, round_up
from numba_gpucore.base.print_ring import TakenPrints
from numba_gpucore.base.records import dataclass, field
from numba_gpucore.base.site import MAX_SITE_NUMBERS
from numba_gpucore.cpu.arch import cpu_name, host_arch
from numba_gpucore.cpu.channel import CpuChannel
from numba_gpucore.cpu.launch_record import BlockLayout, LaunchRecords, along_rows, lay_out_block
from numba_gpucore.cpu.loader import LoadedObject, load_object
from numba_gpucore.cpu.memory import CpuMemory, copy_in, copy_out
from numba_gpucore.cpu.pace import Pace
from numba_gpucore.cpu.stream import CpuQueue, python_life
from numba_gpucore.cpu.work_off import chunk_blocks, work_off
from numba_gpucore.cpu.workers import WorkerPool

#: Static and dynamic shared memory of a block: what the largest GPUs give on request (CUDA C++ Programming Guide,
#: table of compute capabilities, 9.0).
MAX_SHARED_NBYTES = 227 * 1024
#: All blocks of a launch that waits for its grid are in memory at once.
MAX_GRID_BARRIER_NBYTES = 2**30


@dataclass
class CpuProgram:
    """A base.backend.Program. `thread_ns`: time a thread took in the last launch, a guess before. `pace`: of programs
    with atomics, which helpers can slow down. `row_axis`: which axis the program takes for x."""

    artifact: Artifact
    number: int
    loaded: LoadedObject
    frame_nbytes: int
    uses_warps: bool
    uses_grid_barrier: bool
    row_axis: int
    records: LaunchRecords
    thread_ns: float = 10.0
    pace: Pace | None = None
    layouts: dict[tuple[int, int], BlockLayout] = field(default_factory=dict)

    def max_resident_blocks(self, threads: int, dynamic_nbytes: int) -> int:
        """Blocks of `threads` threads that a launch which waits for its grid can have: their memory is the limit."""
        return MAX_GRID_BARRIER_NBYTES // max(1, self.layout(threads, dynamic_nbytes).nbytes)

    def layout(self, threads: int, dynamic_nbytes: int) -> BlockLayout:
        """The layout of a block in memory; kept, since launches repeat."""
        key = (threads, dynamic_nbytes)
        found = self.layouts.get(key)
        if found is None:
            static_nbytes = round_up(self.artifact.shared_nbytes, 16)
            found = lay_out_block(static_nbytes + dynamic_nbytes, threads, self.frame_nbytes, self.uses_warps)
            if len(self.layouts) >= 64:
                self.layouts.clear()
            self.layouts[key] = found
        return found


class CpuDevice:
    """A base.backend.Device."""

    kind = "cpu"
    uses_host_memory = True
    checks_bounds = True

    def __init__(self, index: int, num_threads: int):
        self.index = index
        self.arch = host_arch()
        self.limits = Limits(
            max_threads_per_block=1024,
            max_block=(1024, 1024, 64),
            max_grid=(2**31 - 1, 65535, 65535),
            max_shared_nbytes=MAX_SHARED_NBYTES,
            multiprocessor_count=num_threads,
        )
        self._workers = WorkerPool(num_threads)
        self._queues: weakref.WeakValueDictionary[int, CpuQueue] = weakref.WeakValueDictionary()
        python_life()  # begins before it ends, when the first stream may be opened
        self._programs: dict[int, CpuProgram] = {}
        self._numbers = itertools.count(1)
        self._channels = Channels(CpuChannel, has_thread_streams=True)

    @functools.cached_property
    def name(self) -> str:
        return cpu_name()

    def allocate(self, nbytes: int) -> CpuMemory:
        return CpuMemory(nbytes)

    def share_host_memory(self, data: memoryview) -> None:
        """Never asked for: `uses_host_memory`."""

    def write(self, memory: CpuMemory, offset_nbytes: int, data: memoryview, queue: CpuQueue | None) -> None:
        self._do(functools.partial(copy_in, memory, offset_nbytes, data), queue)

    def read(self, memory: CpuMemory, offset_nbytes: int, data: memoryview, queue: CpuQueue | None) -> None:
        self._do(functools.partial(copy_out, memory, offset_nbytes, data), queue)

    def _do(self, work: functools.partial[None], queue: CpuQueue | None) -> None:
        if queue is not None:
            queue.call(work)
            return
        if self._queues:
            self.synchronize()
        work()

    def load(self, artifact: Artifact) -> CpuProgram:
        """Raises ToolchainError if the code cannot run in this process."""
        program = CpuProgram(
            artifact=artifact,
            number=next(self._numbers),
            loaded=load_object(artifact),
            frame_nbytes=artifact.fact("frame_nbytes"),
            uses_warps=bool(artifact.fact("warps")),
            uses_grid_barrier=bool(artifact.fact("grid_barrier")),
            row_axis=artifact.fact("row_axis"),
            records=LaunchRecords(params_nbytes(lay_out_params(artifact.arg_types))),
            pace=Pace() if artifact.fact("atomics") else None,
        )
        self._programs[program.number] = program
        return program

    def launch(self, program: CpuProgram, config: LaunchConfig, params: bytes, queue: CpuQueue | None) -> None:
        """Raises LaunchError if a block needs too much shared memory, or a grid that waits too much altogether."""
        block, grid = config.block, config.grid
        threads = block[0] * block[1] * block[2]
        blocks = grid[0] * grid[1] * grid[2]
        layout = program.layout(threads, config.dynamic_shared_nbytes)
        self._check_memory(program, config, layout, blocks)
        if queue is not None:
            queue.call(functools.partial(self._run, program, config, params, threads, blocks, layout, queue.channel))
            return
        if self._queues:
            self.synchronize()
        self._run(program, config, params, threads, blocks, layout, self._channels.default)

    def _check_memory(self, program: CpuProgram, config: LaunchConfig, layout: BlockLayout, blocks: int) -> None:
        static_nbytes, dynamic_nbytes = program.artifact.shared_nbytes, config.dynamic_shared_nbytes
        if static_nbytes + dynamic_nbytes > MAX_SHARED_NBYTES:
            raise LaunchError(
                f"cpu: a block of kernel '{program.artifact.kernel_name}' needs {static_nbytes + dynamic_nbytes} bytes "
                f"of shared memory ({static_nbytes} static, {dynamic_nbytes} dynamic); the limit is "
                f"{MAX_SHARED_NBYTES}. Use smaller shared arrays."
            )
        if program.uses_grid_barrier and blocks * layout.nbytes > MAX_GRID_BARRIER_NBYTES:
            raise LaunchError(
                f"cpu: kernel '{program.artifact.kernel_name}' waits for its whole grid, whose {blocks} blocks need "
                f"{blocks * layout.nbytes} bytes at once; the limit is {MAX_GRID_BARRIER_NBYTES}. Launch fewer blocks."
            )

    def _run(
        self,
        program: CpuProgram,
        config: LaunchConfig,
        params: bytes,
        threads: int,
        blocks: int,
        layout: BlockLayout,
        channel: CpuChannel,
    ) -> None:
        """Run a launch to its end."""
        workers = self._workers
        grid, block = config.grid, config.block
        if program.row_axis:
            grid, block = along_rows(grid, program.row_axis), along_rows(block, program.row_axis)
        chunk = blocks
        if not program.uses_grid_barrier:
            chunk = chunk_blocks(blocks, workers.num_threads, program.thread_ns * threads)
        scratch_nbytes = layout.nbytes * blocks if program.uses_grid_barrier else layout.nbytes
        record = program.records.borrow()
        scratch = workers.scratches.borrow()
        try:
            record.fill(
                *grid, *block, config.dynamic_shared_nbytes, record.params_address, channel.address,
                program.number, blocks, chunk, 0,
                layout.shared_offset, layout.warps_offset, layout.threads_offset, layout.nbytes, params,
            )  # fmt: skip
            address = scratch.reserve(scratch_nbytes)
            # Nobody has waited for an earlier launch of this stream yet: the report is not of this one.
            is_replayed = program.loaded.replay is not None and not channel.has_report()
            work_off(program, workers, record, address, scratch_nbytes, blocks, chunk, threads)
            if is_replayed and channel.has_report():
                self._complete_report(program, channel, record.address, address, block[0])
        except KeyboardInterrupt:
            channel.take_mailbox()  # else the next launch would raise what threads of this one threw
            raise
        except MemoryError as error:
            raise DeviceMemoryError(f"no {scratch_nbytes} bytes for blocks to run in: {error}") from error
        finally:
            workers.scratches.give_back(scratch)
            program.records.give_back(record)

    def _complete_report(
        self, program: CpuProgram, channel: CpuChannel, record: int, scratch: int, row_width: int
    ) -> None:
        """Add the numbers to a report of this launch that only tells site and thread, by running that thread again."""
        with channel.lock:
            report = channel.report()
            if report is None or report.has_details or report.program != program.number:
                return
            assert program.loaded.replay is not None
            block, thread = along_rows(report.block, program.row_axis), along_rows(report.thread, program.row_axis)
            x = block[0] * row_width + thread[0]
            found = (ctypes.c_uint64 * (1 + MAX_SITE_NUMBERS))()
            program.loaded.replay(
                record, scratch, x, *block[1:], *thread[1:], ctypes.addressof(found)
            )  # fmt: skip
            # Memory may have changed since, so that the thread fails elsewhere now or not at all.
            if found[0] == report.site + 1:
                channel.add_numbers(bytes(found)[8:])

    def open_queue(self) -> CpuQueue:
        queue = CpuQueue()
        queue.channel = self._channels.lend(queue)
        self._queues[id(queue)] = queue
        return queue

    def synchronize(self) -> None:
        # One step, unlike an iteration, in which other threads open streams and collections end them.
        for reference in self._queues.valuerefs():
            queue = reference()
            if queue is not None:
                queue.wait()

    def take_mailbox(self, queue: CpuQueue | None = None) -> bytes:
        return self._channels.take_mailbox(None if queue is None else queue.channel)

    def take_prints(self) -> TakenPrints:
        return self._channels.take_prints()

    def program_of(self, number: int) -> CpuProgram | None:
        return self._programs.get(number)
