"""Callbacks, awaitable streams and shared host memory on every level."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from numba_gpucore.language import grid

TIMEOUT_S = 60


@pytest.fixture(scope="module")
def gpu(level):
    return level


@pytest.fixture(scope="module")
def add_one(gpu):
    @gpu.jit
    def add_one(x):
        i = grid(1)
        if i < x.size:
            x[i] += 1

    return add_one


@pytest.mark.parametrize("of", ["stream", "default_stream"])
def test_callbacks_come_after_earlier_work(of: str, gpu, add_one) -> None:
    stream = getattr(gpu, of)()
    x = gpu.to_device(np.zeros(64, np.float32), stream)
    host, seen, done = np.full(64, -1, np.float32), [], threading.Event()

    def callback(*arguments) -> None:
        seen.append((*arguments, host.tolist()))
        done.set()

    add_one[2, 32, stream](x)
    x.copy_to_host(host, stream=stream)
    stream.add_callback(callback, "argument")
    assert done.wait(TIMEOUT_S)
    assert seen == [(stream, 0, "argument", [1] * 64)]


def test_the_default_stream_and_others_wait_for_each_other(gpu, add_one) -> None:
    """CUDA Programming Guide, "Default Stream": work on it comes after what other streams were given, and before what
    they are given later. Copies without a stream are such work."""
    first, second = gpu.stream(), gpu.stream()
    x = gpu.to_device(np.zeros(64, np.int32))
    add_one[2, 32, first](x)
    assert x.copy_to_host().tolist() == [1] * 64
    for stream in (first, 0, second, 0, first):
        add_one[2, 32, stream](x)
    assert x.copy_to_host().tolist() == [6] * 64
    add_one[2, 32, second](x)
    gpu.to_device(np.full(64, 10, np.int32), to=x)
    add_one[2, 32, second](x)
    assert x.copy_to_host().tolist() == [11] * 64


def test_tasks_wait_for_their_streams(gpu, add_one) -> None:
    """Each task's stream ends on its own; the event loop runs on meanwhile."""

    async def compute(value: float) -> float:
        stream = gpu.stream()
        source, target = gpu.pinned_array(64, np.float32), gpu.pinned_array(64, np.float32)
        source[:] = value
        x = gpu.to_device(source, stream=stream)
        add_one[2, 32, stream](x)
        x.copy_to_host(target, stream=stream)
        assert await stream.async_done() is stream
        return float(target.mean())

    async def compute_all() -> list[float]:
        return await asyncio.gather(*map(compute, range(4)))

    assert asyncio.run(asyncio.wait_for(compute_all(), TIMEOUT_S)) == [1, 2, 3, 4]


def test_a_cancelled_wait_disturbs_no_other(gpu) -> None:
    async def wait_twice() -> None:
        stream = gpu.stream()
        first, second = stream.async_done(), stream.async_done()
        first.cancel()
        assert await second is stream
        assert first.cancelled()

    asyncio.run(asyncio.wait_for(wait_twice(), TIMEOUT_S))


def test_streams_by_their_handles(gpu, add_one) -> None:
    stream = gpu.stream()
    same = gpu.external_stream(int(stream.handle))
    assert int(same.handle) == int(stream.handle)
    x = gpu.to_device(np.zeros(64, np.float32))
    for one in (stream, same, stream):
        add_one[2, 32, one](x)
    same.synchronize()
    assert x.copy_to_host().tolist() == [3] * 64


@pytest.mark.parametrize("kind", ["mapped_array", "managed_array"])
def test_host_and_device_share_arrays(kind: str, gpu, add_one) -> None:
    x = getattr(gpu, kind)(100, np.float32)
    x[:] = np.arange(100)
    add_one[4, 32](x)
    gpu.synchronize()
    np.testing.assert_array_equal(x, np.arange(1, 101))


def test_blocks_of_pinned_memory_and_deferred_cleanup(gpu, add_one) -> None:
    x = np.zeros(100, np.float32)
    stream = gpu.stream()
    with gpu.pinned(x), gpu.defer_cleanup(), stream.auto_synchronize():
        on_device = gpu.to_device(x, stream)
        add_one[4, 32, stream](on_device)
        on_device.copy_to_host(x, stream)
        del on_device
    assert (x == 1).all()
