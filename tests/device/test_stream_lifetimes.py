"""What a launch on a stream works on lives until the launch has ended, whoever lets go of the stream or stops waiting.

The CPU device's streams write to memory of this process: freed too early, they would end it.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import weakref

import numpy as np
import pytest

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


def test_arguments_are_held_where_ctrl_c_comes_between_the_launch_and_holding_them(gpu, add_one, gate, monkeypatch):
    """The launch is in the stream by then, and reads and writes the array."""
    stream = gpu.stream()
    x = gpu.to_device(np.zeros(4, np.float32))
    calls = []

    def hold(objects):
        calls.append(objects)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return type(stream).hold(stream, objects)

    monkeypatch.setattr(stream, "hold", hold)
    stream.call(gate.wait)
    with pytest.raises(KeyboardInterrupt):
        add_one[1, 4, stream](x)
    assert any(one is x for held in stream.held.values() for one in held)
    gate.set()
    stream.synchronize()
    assert (x.copy_to_host() == 1).all()
    assert not stream.held
