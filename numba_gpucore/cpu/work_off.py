"""Runs a launch's blocks: alone as long as that is quick, else with helpers. Before: Device.launch. After: workers.

The launching thread comes back from native code now and then, so that Ctrl-C ends a launch of many blocks: blocks that
run are finished, the others are left. A single block cannot be interrupted, as no native code can.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from numba_gpucore.cpu.launch_record import LaunchRecord
from numba_gpucore.cpu.workers import ALL_BLOCKS, Team, WorkerPool

if TYPE_CHECKING:
    from numba_gpucore.cpu.device import CpuProgram

#: A launch shorter than this ends sooner without helpers, whose waking takes about 20 µs each.
SOLO_NS = 60_000
#: Pieces that a launch is cut into for each worker, so that uneven blocks even out.
CHUNKS_PER_WORKER = 16
#: How long the launching thread stays in native code; a return costs 1 µs.
SLICE_NS = 50_000_000


def chunk_blocks(blocks: int, num_threads: int, block_ns: float) -> int:
    """How many blocks a worker takes at a time: few enough that all end together, and soon after Ctrl-C."""
    return max(1, min(blocks // (num_threads * CHUNKS_PER_WORKER), int(SLICE_NS / max(1.0, block_ns))))


def work_off(
    program: CpuProgram,
    workers: WorkerPool,
    record: LaunchRecord,
    scratch: int,
    scratch_nbytes: int,
    blocks: int,
    chunk: int,
    threads: int,
) -> None:
    """Run all blocks. Raises KeyboardInterrupt in the main thread, when no thread runs any of them any more."""
    work = program.loaded.work
    if blocks <= chunk:
        work(record.address, scratch, ALL_BLOCKS)
        return
    started_ns = time.perf_counter_ns()
    is_quick = program.thread_ns * threads * blocks < SOLO_NS
    if is_quick or chunk > 1:
        # The guess may be wrong for these arguments: look at the clock after a part, of a long launch after one block.
        part = (blocks // 8 or 1) if is_quick else 1
        record.set_chunk(part)
        work(record.address, scratch, part)
        part_ns = max(1, time.perf_counter_ns() - started_ns)
        is_quick = is_quick and part_ns * blocks < SOLO_NS * part
        chunk = _fit_chunk(chunk, part, part_ns)
        record.set_chunk(chunk)
    alone = is_quick or workers.num_threads < 2 or (program.pace is not None and program.pace.goes_alone())
    if is_quick:
        work(record.address, scratch, ALL_BLOCKS)
    elif alone:
        _work_in_slices(work, record, scratch, blocks, chunk, lambda: False)
    else:
        helpers = min(workers.num_threads, -(-blocks // chunk)) - 1
        _work_together(Team(work, record.address, scratch_nbytes), workers, helpers, record, scratch, blocks, chunk)
    program.thread_ns = (time.perf_counter_ns() - started_ns) / (blocks * threads)
    if program.pace is not None and not is_quick:
        program.pace.note(program.thread_ns, alone)


def _work_together(
    team: Team, workers: WorkerPool, helpers: int, record: LaunchRecord, scratch: int, blocks: int, chunk: int
) -> None:
    from numba_gpucore.base.interrupts import interrupts_held  # noqa: PLC0415 - `signal`: 0.5 ms, and for long launches

    # Helpers use the record, and the arrays that it names, until the team is closed.
    with interrupts_held() as held:
        workers.share(team, helpers)
        try:
            _work_in_slices(team.work, record, scratch, blocks, chunk, held.ends_work)
        finally:
            team.close()


def _work_in_slices(
    work: Callable[[int, int, int], None],
    record: LaunchRecord,
    scratch: int,
    blocks: int,
    chunk: int,
    is_interrupted: Callable[[], bool],
) -> None:
    """Take blocks until none is left. The first slice is one chunk, whose time says how large the others may be."""
    limit, started_ns = chunk, time.perf_counter_ns()
    while record.next_block < blocks:
        work(record.address, scratch, limit)
        if is_interrupted():
            record.stop()
        now_ns = time.perf_counter_ns()
        slice_ns = max(1, now_ns - started_ns)
        record.set_chunk(_fit_chunk(chunk, limit, slice_ns))
        limit = max(1, min(blocks, limit * SLICE_NS // slice_ns))
        started_ns = now_ns


def _fit_chunk(chunk: int, blocks: int, blocks_ns: int) -> int:
    """At most `chunk` blocks, which take no longer than a slice if `blocks` of them took `blocks_ns`."""
    return max(1, min(chunk, blocks * SLICE_NS // blocks_ns))
