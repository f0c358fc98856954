"""Programs as users write them, through the whole of numba_metal, on the Metal double."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numba_metal
from numba_gpucore.base.errors import DeviceError
from numba_gpucore.launch import session
from tests.levels import opened_level
from tests.metal_double import World


@pytest.fixture(autouse=True)
def _use_the_double():
    """A session of its own on a Mac that is as late as it may be."""
    with opened_level("metal double", World(polls_until_done=10**6)):
        yield


@numba_metal.jit
def add_one(x):
    i = numba_metal.grid(1)
    if i < x.size:
        x[i] += 1


@numba_metal.jit(boundscheck=True)
def read_at(x, index, out):
    i = numba_metal.grid(1)
    out[i] = x[index[i]]


@numba_metal.jit
def refuse_negative(x):
    i = numba_metal.grid(1)
    if x[i] < 0:
        raise ValueError("negative", i, x[i])


def test_host_array_round_trip():
    x = np.arange(100, dtype=np.int32)
    add_one[4, 32](x)
    np.testing.assert_array_equal(x, np.arange(1, 101))


def test_strided_host_array():
    whole = np.zeros((20, 10), np.int32)
    add_one[1, 32](whole[::2, 3])
    want = np.zeros((20, 10), np.int32)
    want[::2, 3] = 1
    np.testing.assert_array_equal(whole, want)


def test_device_array_keeps_its_place():
    x = numba_metal.to_device(np.zeros(100, np.int32))
    for _ in range(100):
        add_one[4, 32](x)
    part = x[10:20]
    add_one[1, 32](part)
    want = np.full(100, 100)
    want[10:20] += 1
    np.testing.assert_array_equal(x.copy_to_host(), want)


def test_host_pages_are_used_in_place(monkeypatch):
    """1 MiB at a page's start: nothing is allocated on the device."""
    x = np.frombuffer(mmap.mmap(-1, 1 << 20), np.int32)
    device = session.default_session().current_device(numba_metal.target.PLATFORM)
    allocated = []
    monkeypatch.setattr(device, "allocate", lambda nbytes: allocated.append(nbytes))
    add_one[-(-x.size // 256), 256](x)
    assert allocated == []
    assert (x == 1).all()


def test_streams_run_in_their_own_order():
    streams = [numba_metal.stream() for _ in range(3)]
    arrays = [numba_metal.to_device(np.zeros(64, np.int32)) for _ in streams]
    for step in range(1, 4):
        for stream, x in zip(streams, arrays, strict=True):
            for _ in range(step):
                add_one[1, 64, stream](x)
    for stream, x in zip(streams, arrays, strict=True):
        assert x.copy_to_host(stream=stream).tolist() == [6] * 64
        stream.synchronize()


def test_event_orders_two_streams():
    first, second = numba_metal.stream(), numba_metal.stream()
    event = numba_metal.event()
    x = numba_metal.to_device(np.zeros(64, np.int32))
    add_one[1, 64, first](x)
    event.record(first)
    event.wait(second)
    add_one[1, 64, second](x)
    second.synchronize()
    assert event.query()
    assert x.copy_to_host().tolist() == [2] * 64


def test_the_default_stream_comes_after_host_functions_and_is_asked_by_them():
    """A callback that copies from the default stream waits for all work but itself."""
    stream = numba_metal.stream()
    x, seen = numba_metal.to_device(np.zeros(64, np.int32)), []
    add_one[1, 64, stream](x)
    stream.add_callback(lambda *_: seen.append(x.copy_to_host().tolist()))
    add_one[1, 64](x)
    assert x.copy_to_host().tolist() == [2] * 64
    assert seen == [[1] * 64]


def test_a_failed_stream_does_not_hold_up_the_default_stream():
    """Its fault is told once, to who waits first; the default stream's wait is one for all."""
    stream = numba_metal.stream()
    x, index = numba_metal.to_device(np.zeros(8, np.int32)), numba_metal.to_device(np.array([1 << 40], np.int64))
    out = numba_metal.to_device(np.zeros(1, np.int32))
    numba_metal.jit(read_at.py_func)[1, 1, stream](x, index, out)
    add_one[1, 8](x)
    with pytest.raises(DeviceError, match="read_at"):
        x.copy_to_host()
    assert x.copy_to_host().tolist() == [1] * 8
    stream.synchronize()


def test_index_error_tells_index_and_size():
    x, out = np.zeros(8, np.int32), np.zeros(4, np.int32)
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 8"):
        read_at[1, 4](x, np.array([0, 1, 9, 2], np.int64), out)
    read_at[1, 4](x, np.array([0, 1, -8, 2], np.int64), out)


def test_exception_of_an_asynchronous_launch_is_raised_at_the_wait():
    x = numba_metal.to_device(np.array([3, 2, -7, 4], np.int32))
    refuse_negative[1, 4](x)
    with pytest.raises(ValueError) as caught:
        numba_metal.synchronize()
    assert caught.value.args[:3] == ("negative", 2, -7)
    numba_metal.synchronize()


def test_a_process_with_the_site_folder_has_a_metal_device():
    """As in `NUMBA_METAL_DEVICE=metal PYTHONPATH=tests/metal_double/site:. python program.py`."""
    root = Path(__file__).parents[2]
    environment = {
        **os.environ,
        "NUMBA_METAL_DEVICE": "metal",
        "METAL_DOUBLE_ORDER": "reversed",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent / "site"), str(root)]),
    }
    program = "import numba_metal; print(numba_metal.get_current_device().name)"
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert (result.stdout.strip(), result.stderr) == ("Metal double", "")
