"""What a launch on a stream works on lives until the launch has ended, whoever lets go of the stream or stops waiting.

The CPU device's streams write to memory of this process: freed too early, they would end it.
"""

from __future__ import annotations

import gc
import itertools
import os
import signal
import struct
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from numba_gpucore.cpu.device import CpuDevice
from numba_gpucore.language import grid
from tests.levels import opened_level

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")


@pytest.fixture(scope="module", params=["ptxplus on cpu", "metal on cpu"])
def gpu(request):
    with opened_level(request.param) as level:
        yield level


@pytest.fixture(scope="module")
def add_one(gpu):
    @gpu.jit
    def add_one(x):
        x[grid(1)] += 1

    add_one[1, 4](np.zeros(4, np.float32))  # compiled now
    return add_one


@pytest.fixture
def gate():
    """Work of a stream that lasts until it is set."""
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.mark.parametrize("is_external", [False, True])
def test_arguments_outlive_their_stream(is_external: bool, gpu, add_one, gate) -> None:
    stream = owner = gpu.stream()
    if is_external:
        stream = gpu.external_stream(owner.handle)
    x = gpu.to_device(np.zeros(4, np.float32))
    stream.queue.call(gate.wait)
    add_one[1, 4, stream](x)
    is_alive = weakref.ref(x)
    del stream, owner, x
    gc.collect()
    assert is_alive()
    gate.set()
    gpu.synchronize()
    gc.collect()
    assert not is_alive()


@pytest.mark.parametrize("is_copied", [False, True])
def test_arguments_outlive_a_wait_that_ctrl_c_ends(is_copied: bool, gpu, add_one, gate, monkeypatch) -> None:
    stream, x = gpu.stream(), np.zeros(4, np.float32)
    stream.queue.call(gate.wait)
    wait = stream.queue.synchronize

    def wait_for_ctrl_c() -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        wait()

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(stream.queue, "synchronize", wait_for_ctrl_c)
        add_one[1, 4, stream](gpu.In(x) if is_copied else x)
    assert stream.held
    gate.set()
    stream.synchronize()
    assert not stream.held


def test_a_stream_without_owner_goes_with_its_arrays_and_its_thread(gpu, add_one) -> None:
    """Also where its arrays, which it holds for the launch, keep it: copies of theirs take place on it."""
    stream, threads = gpu.stream(), []
    x = gpu.to_device(np.zeros(4, np.float32), stream=stream)
    stream.add_callback(lambda *_: threads.append(threading.current_thread()))
    add_one[1, 4, stream](x)
    are_alive = weakref.ref(stream), weakref.ref(x), weakref.ref(x.memory)
    del stream, x
    gpu.synchronize()
    assert [one() for one in are_alive] == [None] * 3
    threads[0].join(60)
    assert not threads[0].is_alive()


def test_streams_without_owner_go_when_others_are_opened(gpu, add_one) -> None:
    are_alive = []
    for _ in range(20):
        stream = gpu.stream()
        x = gpu.to_device(np.zeros(4, np.float32), stream=stream)
        add_one[1, 4, stream](x)
        end = gpu.event()
        end.record(stream)
        end.synchronize()
        while not stream.queue.is_idle():
            pass
        are_alive.append(weakref.ref(stream))
        del stream, x, end
    assert sum(one() is not None for one in are_alive) <= 1


def test_work_that_waits_for_its_own_stream_lets_go_of_nothing_that_comes_later(gpu, add_one, gate) -> None:
    stream, x = gpu.stream(), gpu.to_device(np.zeros(4, np.float32))
    waited = threading.Event()

    def wait(own, *_) -> None:
        gate.wait()
        own.synchronize()
        waited.set()
        gate.clear()
        gate.wait()

    stream.add_callback(wait)
    add_one[1, 4, stream](x)
    gate.set()
    assert waited.wait(60)
    assert [held.objects for held in stream.held.values()] == [(x,)]
    while gate.is_set():
        pass
    gate.set()
    stream.synchronize()
    assert x.copy_to_host().tolist() == [1] * 4


@contextmanager
def ctrl_c_at(step: int) -> Iterator[list[int]]:
    """Ctrl-C at the `step`-th call, line or return of what Python runs here; the list gets how many there were."""
    steps = [0]

    def trace(*_: object) -> Any:
        steps[0] += 1
        if steps[0] == step:
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield steps
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("is_bound", [False, True])
def test_ctrl_c_at_any_step_of_work_on_a_stream_stops_no_stream_and_frees_nothing_too_early(
    is_bound: bool, gpu, add_one, monkeypatch
) -> None:
    """Launches find their memory alive when they begin, and streams can be waited for afterwards."""
    run, memories, missing = CpuDevice._run, {}, []

    def checked_run(device, program, config, params, *rest) -> None:
        if memories[struct.unpack_from("<Q", params)[0]]() is None:
            missing.append(step)
        else:
            run(device, program, config, params, *rest)

    monkeypatch.setattr(CpuDevice, "_run", checked_run)
    for step in itertools.count(1):
        gate: SimpleQueue[None] = SimpleQueue()  # an Event could stay locked itself
        stream = gpu.stream()
        stream.queue.call(gate.get)
        x = gpu.device_array(4, np.float32, stream=stream if is_bound else 0)
        memories[x.memory.address] = weakref.ref(x.memory)
        other, end = gpu.stream(), gpu.event()
        try:
            with ctrl_c_at(step) as steps:
                add_one[1, 4, stream](x)
                end.record(stream)
                end.wait(other)
                gate.put(None)
                other.synchronize()
                stream.synchronize()
        except KeyboardInterrupt:
            pass
        queues = stream.queue, other.queue
        del stream, other, end, x
        gate.put(None)
        waits = [threading.Thread(target=queue.synchronize, daemon=True) for queue in queues]
        for wait in waits:
            wait.start()
        for wait in waits:
            wait.join(60)
            assert not wait.is_alive(), f"a stream stands still after Ctrl-C at step {step}"
        del queues
        if steps[0] < step:
            break
    assert not missing
    assert step > 50
