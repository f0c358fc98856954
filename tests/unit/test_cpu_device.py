"""The CPU device: memory, streams, workers, mailbox, launches from several threads and after a fork."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from numba_gpucore.base.backend import LaunchConfig
from numba_gpucore.base.errors import DeviceMemoryError
from numba_gpucore.base.mailbox import MAILBOX_NBYTES, read_mailbox
from numba_gpucore.cpu import BACKEND
from numba_gpucore.cpu.arch import x86_64_level
from numba_gpucore.cpu.device import CpuDevice
from tests.unit.cpu_programs import array, compile_ir, device, launch, load_ir, pack_params, scalar
from tests.unit.test_cpu_coroutines import SCAN

INT32 = array("int32")
#: Add %p2 to every item, %p3 times.
ADD = """
  %i = call i64 @gpu.global_id.x(ptr %c)
  %at = getelementptr i32, ptr %p0, i64 %i
  br label %loop
loop:
  %k = phi i32 [ 0, %0 ], [ %k.next, %loop ]
  %old = load volatile i32, ptr %at
  %new = add i32 %old, %p2
  store volatile i32 %new, ptr %at
  %k.next = add i32 %k, 1
  %more = icmp slt i32 %k.next, %p3
  br i1 %more, label %loop, label %end
end:
  ret void
"""
ADD_TYPES = (INT32, scalar("int32"), scalar("int32"))
THROW = """
  %site = call i32 @site.0()
  call void @gpu.throw(ptr %c, i32 %site, i64 0, i64 0, i64 0, i64 0)
  ret void
"""


def test_backend_record() -> None:
    assert (BACKEND.kind, BACKEND.launch_abi, BACKEND.count_devices()) == ("cpu", 3, 1)
    assert "llvmlite" in BACKEND.toolchain_id()
    opened = BACKEND.open_device(0)
    assert opened.name
    assert opened.limits.max_threads_per_block == 1024


@pytest.mark.parametrize("nbytes", [0, 1, 64, 12345])
def test_memory_is_aligned_and_copies(nbytes: int) -> None:
    memory = device().allocate(nbytes)
    assert memory.address % 64 == 0
    data = bytes(i % 251 for i in range(nbytes))
    back = bytearray(nbytes)
    device().write(memory, 0, memoryview(data), None)
    device().read(memory, 0, memoryview(back), None)
    assert bytes(back) == data


def test_memory_errors() -> None:
    memory = device().allocate(8)
    with pytest.raises(DeviceMemoryError, match="bytes 4 to 12 do not lie in a memory of 8 bytes"):
        device().write(memory, 4, memoryview(bytes(8)), None)
    memory.release()
    with pytest.raises(DeviceMemoryError, match="memory of 8 bytes was used after its release"):
        _ = memory.address
    with pytest.raises(DeviceMemoryError, match="cannot allocate"):
        device().allocate(2**60)


def test_queue_keeps_order_and_reports_errors() -> None:
    queue = device().open_queue()
    seen: list[int] = []
    may_go = threading.Event()
    queue.call(may_go.wait)
    for i in range(50):
        queue.call(lambda i=i: seen.append(i))
    assert not queue.is_idle()
    may_go.set()
    queue.synchronize()
    assert seen == list(range(50))
    assert queue.is_idle()
    queue.call(lambda: 1 / 0)
    queue.call(lambda: seen.append(50))
    with pytest.raises(ZeroDivisionError):
        queue.synchronize()
    assert seen[-1] == 50
    queue.synchronize()


def test_launches_and_copies_keep_the_queues_order() -> None:
    own = CpuDevice(0, 2)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    memory = own.allocate(4 * 4096)
    start, back = np.zeros(4096, np.int32), np.zeros(4096, np.int32)
    queue = own.open_queue()
    own.write(memory, 0, memoryview(start).cast("B"), queue)
    config = LaunchConfig((16, 1, 1), (256, 1, 1))
    for _ in range(10):
        params = pack_params(ADD_TYPES, (start, 3, 1))
        params = memory.address.to_bytes(8, "little") + params[8:]
        own.launch(program, config, params, queue)
    own.read(memory, 0, memoryview(back).cast("B"), queue)
    queue.synchronize()
    assert (back == 30).all()


def test_default_stream_waits_for_other_streams() -> None:
    own = CpuDevice(0, 2)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    out = np.zeros(32, np.int32)
    queue = own.open_queue()

    def set_late() -> None:
        time.sleep(0.05)
        out[:] = 100

    queue.call(set_late)
    launch(program, 1, 32, out, 1, 1, on=own)
    assert (out == 101).all()


def test_work_given_from_a_queue_does_not_wait_for_itself() -> None:
    own = CpuDevice(0, 2)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    out = np.zeros(32, np.int32)
    queue = own.open_queue()
    queue.call(lambda: time.sleep(0.01))
    queue.call(lambda: launch(program, 1, 32, out, 1, 1, on=own))
    queue.call(lambda: None)
    queue.synchronize()
    assert (out == 1).all()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_blocks_spread_over_workers_run_once(workers: int) -> None:
    own = CpuDevice(0, workers)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    out = np.zeros(1_000_000, np.int32)
    for _ in range(3):
        launch(program, 10_000, 100, out, 1, 3, on=own)
    assert (out == 9).all()


def test_a_wrong_guess_of_the_cost_still_runs_every_block() -> None:
    program = load_ir(ADD, ADD_TYPES)
    for thread_ns in (1e-9, 1e9):
        program.thread_ns = thread_ns
        out = np.zeros(64 * 100, np.int32)
        launch(program, 100, 64, out, 1, 1000)
        assert (out == 1000).all()


def test_several_python_threads_launch_at_once() -> None:
    flat, coroutine = load_ir(ADD, ADD_TYPES), load_ir(SCAN, (INT32,))
    failures: list[str] = []

    def work(seed: int) -> None:
        for k in range(30):
            out = np.full(256 * 50, seed, np.int32)
            launch(flat, 50, 256, out, 1, 1)
            launch(coroutine, 50, 256, out)
            if not (out.reshape(50, 256) == (seed + 1) * np.arange(1, 257)).all():
                failures.append(f"thread {seed}, launch {k}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_many_launches_do_not_grow() -> None:
    """10^5 launches; 2 MiB allow for what the system's allocator keeps."""
    program = load_ir(SCAN, (INT32,))
    out = np.zeros(32, np.int32)
    config = LaunchConfig((1, 1, 1), (32, 1, 1))
    params = pack_params((INT32,), (out,))
    own = device()

    def run(count: int) -> None:
        for _ in range(count):
            own.launch(program, config, params, None)

    run(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(100_000)
    grown_nbytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown_nbytes < 2 * 2**20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_workers_and_streams_start_again_in_a_forked_child() -> None:
    own = CpuDevice(0, 3)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    out = np.zeros(100_000, np.int32)
    launch(program, 1000, 100, out, 1, 50, on=own)
    queue = own.open_queue()
    queue.call(lambda: None)
    queue.synchronize()
    child = os.fork()
    if child == 0:
        try:
            launch(program, 1000, 100, out, 1, 50, on=own)
            queue.call(lambda: None)
            queue.synchronize()
            os._exit(0 if (out == 100).all() else 1)
        finally:
            os._exit(2)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    pytest.fail("the forked child hung")


@pytest.mark.parametrize("startable", [0, 1])
def test_launches_do_with_the_threads_that_the_system_starts(startable: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start, started = threading.Thread.start, []

    def start_some(thread: threading.Thread) -> None:
        if len(started) == startable:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    own = CpuDevice(0, 4)
    program = own.load(compile_ir(ADD, ADD_TYPES).artifact)
    out = np.zeros(100_000, np.int32)
    monkeypatch.setattr(threading.Thread, "start", start_some)
    for _ in range(3):
        launch(program, 1000, 100, out, 1, 50, on=own)
    assert (out == 150).all()
    assert len(started) == startable


def test_work_of_a_stream_whose_thread_cannot_be_started_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    queue, runs = CpuDevice(0, 1).open_queue(), []
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        queue.call(lambda: runs.append("first"))
    queue.call(lambda: runs.append("second"))
    queue.synchronize()
    assert runs == ["first", "second"]


def test_streams_are_opened_and_dropped_while_the_device_is_waited_for() -> None:
    """By other threads: here at each line that the wait takes."""
    own = CpuDevice(0, 1)
    kept = [own.open_queue() for _ in range(3)]
    for queue in kept:
        queue.call(lambda: None)

    def open_one(*_: object) -> Any:
        kept.append(own.open_queue())
        own.open_queue()
        return open_one

    before = sys.gettrace()
    sys.settrace(open_one)
    try:
        own.synchronize()
    finally:
        sys.settrace(before)
    assert len(kept) > 3


def test_a_stream_that_was_waited_for_is_idle() -> None:
    queue = CpuDevice(0, 1).open_queue()
    for _ in range(1000):
        queue.call(lambda: None)
        queue.synchronize()
        assert queue.is_idle()


def test_the_thread_of_a_stream_ends_with_it() -> None:
    queue, threads = CpuDevice(0, 1).open_queue(), []
    queue.call(lambda: threads.append(threading.current_thread()))
    queue.synchronize()
    del queue
    threads[0].join(60)
    assert not threads[0].is_alive()


def test_work_of_a_dropped_stream_is_done() -> None:
    gate, done = threading.Event(), threading.Event()
    queue = CpuDevice(0, 1).open_queue()
    queue.call(gate.wait)
    queue.call(done.set)
    is_alive = weakref.ref(queue)
    del queue
    assert is_alive()  # who waits for the device waits for it
    gate.set()
    assert done.wait(60)


def test_mailbox_is_empty_until_a_thread_throws() -> None:
    own = CpuDevice(0, 1)
    assert own.take_mailbox() == bytes(MAILBOX_NBYTES)
    program = own.load(compile_ir(THROW, (), sites=1).artifact)
    assert own.program_of(program.number) is program
    assert own.program_of(program.number + 1) is None
    launch(program, (2, 3, 4), (4, 3, 2), on=own)
    report = read_mailbox(own.take_mailbox())
    assert report.count >= 1
    assert (report.block, report.thread) == ((0, 0, 0), (0, 0, 0))
    assert own.take_mailbox() == bytes(MAILBOX_NBYTES)


def test_every_report_taken_while_others_throw_is_whole() -> None:
    """Site 0 throws with numbers that tell their block: a torn report would mix two of them."""
    body = """
      call void @gpu.barrier(ptr %c)
      %b = call i32 @gpu.block_id.x(ptr %c)
      %wide = zext i32 %b to i64
      %site = call i32 @site.0()
      call void @gpu.throw(ptr %c, i32 %site, i64 %wide, i64 %wide, i64 %wide, i64 %wide)
      ret void
    """
    own = CpuDevice(0, 2)
    program = own.load(compile_ir(body, (), sites=1).artifact)
    queue = own.open_queue()
    for _ in range(10):
        own.launch(program, LaunchConfig((20_000, 1, 1), (4, 1, 1), 0), b"", queue)
    taken, has_ended = 0, False
    while not has_ended:
        has_ended = queue.is_idle()
        report = read_mailbox(own.take_mailbox(queue))
        if report is not None:
            taken += 1
            assert report.numbers == (report.block[0],) * 4
    assert taken > 0


def test_the_default_stream_of_each_thread_is_its_own() -> None:
    """What a thread's launches threw is not for others that launch meanwhile."""
    own = CpuDevice(0, 1)
    program = own.load(compile_ir(THROW, (), sites=1).artifact)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(launch, program, 1, 1, on=own).result()
        assert own.take_mailbox() == bytes(MAILBOX_NBYTES)
        assert read_mailbox(pool.submit(own.take_mailbox).result()) is not None


def test_levels_of_x86_64() -> None:
    v2 = set("cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3".split())
    v3 = v2 | set("avx avx2 bmi1 bmi2 f16c fma abm movbe xsave".split())
    v4 = v3 | set("avx512f avx512bw avx512cd avx512dq avx512vl".split())
    flags = [set(), v2 - {"popcnt"}, v2, v3 - {"fma"}, v3, v4, v4 - {"avx2"}]
    levels = ["x86-64", "x86-64", "x86-64-v2", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v2"]
    assert [x86_64_level(found) for found in flags] == levels


def test_hot_half_loads_no_compiler() -> None:
    """In a child process: opening the device and loading a ready object import neither numba nor our compiler."""
    artifact = compile_ir(ADD, ADD_TYPES).artifact
    code = """
import pickle, sys
from numba_gpucore.cpu import BACKEND
BACKEND.open_device(0).load(pickle.load(sys.stdin.buffer))
print(sorted(name for name in sys.modules if name == "numba" or name.startswith("numba_gpucore.compile")))
"""
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(artifact), capture_output=True, check=True)
    assert done.stdout.strip() == b"[]", done.stderr
