"""Ctrl-C during a launch of many blocks on the CPU device: those that run are finished, the others are left."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import numpy as np
import pytest

from numba_gpucore.base.mailbox import read_mailbox
from numba_gpucore.cpu.device import CpuDevice
from numba_gpucore.cpu.work_off import SLICE_NS, chunk_blocks
from tests.unit.cpu_programs import compile_ir, launch
from tests.unit.test_cpu_device import ADD, ADD_TYPES, THROW

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")

THREADS = 64
#: About 1 ms a block, and 10 s for all.
ROUNDS, BLOCKS = 10_000, 10_000


@contextmanager
def ctrl_c_when_begun(out: np.ndarray) -> Iterator[None]:
    def interrupt() -> None:
        while not out.any():
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt, daemon=True)
    watcher.start()
    yield
    watcher.join()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_ctrl_c_ends_a_launch(workers: int) -> None:
    own = CpuDevice(0, workers)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    out = np.zeros(BLOCKS * THREADS, np.int32)
    launch(program, 64, THREADS, out, 1, ROUNDS, on=own)  # how long a block takes decides how many are taken at once
    out[:] = 0
    with pytest.raises(KeyboardInterrupt), ctrl_c_when_begun(out):
        launch(program, BLOCKS, THREADS, out, 1, ROUNDS, on=own)
    found = out.copy()
    assert set(found) == {0, ROUNDS}, "some blocks have run to their end, some have not begun"
    time.sleep(0.05)
    assert (out == found).all(), "nobody works on it any more"
    out[:] = 0
    launch(program, BLOCKS, THREADS, out, 1, 3, on=own)
    assert (out == 3).all()


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("rounds_before", [0, 1])
def test_ctrl_c_ends_a_launch_that_takes_longer_than_those_before(workers: int, rounds_before: int) -> None:
    """A worker that took as many at a time as of blocks that are quick would go on for seconds."""
    own = CpuDevice(0, workers)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    rounds, out = 100 * ROUNDS, np.zeros(BLOCKS * THREADS, np.int32)
    if rounds_before:
        launch(program, BLOCKS, THREADS, out, 1, rounds_before, on=own)
        out[:] = 0
    with pytest.raises(KeyboardInterrupt), ctrl_c_when_begun(out):
        launch(program, BLOCKS, THREADS, out, 1, rounds, on=own)
    assert set(out) == {0, rounds}
    assert np.count_nonzero(out) < chunk_blocks(BLOCKS, workers, 0.0) * THREADS


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_is_heard_of_threads_that_threw_before_ctrl_c(workers: int) -> None:
    """The next launch, of whatever kernel, would seem to have failed."""
    own = CpuDevice(0, workers)
    program = own.load(compile_ir(ADD.replace("  ret void\n", THROW), ADD_TYPES, sites=1).artifact)
    out = np.zeros(BLOCKS * THREADS, np.int32)
    with pytest.raises(KeyboardInterrupt), ctrl_c_when_begun(out):
        launch(program, BLOCKS, THREADS, out, 1, ROUNDS, on=own)
    assert read_mailbox(own.take_mailbox()) is None
    launch(program, 1, 1, out, 1, 1, on=own)
    assert read_mailbox(own.take_mailbox()).count == 1


def test_a_program_s_own_handler_does_not_end_a_launch() -> None:
    own = CpuDevice(0, 2)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    blocks, heard = BLOCKS // 16, []

    def hear(number: int, _frame: FrameType | None) -> None:
        heard.append(number)

    before = signal.signal(signal.SIGINT, hear)
    try:
        out = np.zeros(blocks * THREADS, np.int32)
        with ctrl_c_when_begun(out):
            while not heard:
                out[:] = 0
                launch(program, blocks, THREADS, out, 1, ROUNDS, on=own)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]
    assert (out == ROUNDS).all()


@pytest.mark.parametrize(
    ("blocks", "num_threads", "block_ns", "wanted"),
    [
        (10, 4, 1.0, 1),
        (6400, 4, 1.0, 100),
        (6400, 4, SLICE_NS / 7, 7),
        (6400, 4, SLICE_NS * 10.0, 1),
        (6400, 4, 0.0, 100),
    ],
)
def test_chunks_are_small_in_number_and_in_time(blocks: int, num_threads: int, block_ns: float, wanted: int) -> None:
    assert chunk_blocks(blocks, num_threads, block_ns) == wanted
