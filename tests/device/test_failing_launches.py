"""Launches that fail, over and over and among others: each is told once, nothing is lost, nothing is left behind.

PYTEST_DONT_REWRITE: pytest would put its own calls into the asserts of kernels.
"""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import numpy as np
import pytest

import numba_metal as gpu

MILLION = 1_000_000


def throws_where_negative(x, out):
    i = gpu.grid(1)
    if i < x.size:
        if x[i] < 0:
            raise ValueError("negative", i)
        out[i] = x[i] + 1


def counts_and_throws(x, counter):
    i = gpu.grid(1)
    if i < x.size:
        gpu.atomic.add(counter, 0, 1)
        if x[i] < 0:
            raise ValueError("negative", i)


def throws_before_barrier(x, out):
    a = gpu.shared.array(64, np.float32)
    i = gpu.threadIdx.x
    k = gpu.grid(1)
    if x[k] < 0:
        raise ValueError("negative", k)
    a[i] = x[k]
    gpu.syncthreads()
    out[k] = a[63 - i]


def index_error_between_barriers(x, out):
    a = gpu.shared.array(64, np.float32)
    i = gpu.threadIdx.x
    for step in range(4):
        a[i] = x[i]
        gpu.syncthreads()
        out[i + 4 * step * (i == 63)] = a[63 - i] + step
        gpu.syncthreads()


def fill(x, value):
    i = gpu.grid(1)
    if i < x.size:
        x[i] = value


# -- one of many


def size_for(level, on_cpu: int, elsewhere: int) -> int:
    """The double and the machine interpret or step through every thread."""
    return on_cpu if level.device.kind == "cpu" else elsewhere


@pytest.mark.parametrize("place", ["first", "second", "middle", "a lane within a row", "last"])
def test_the_one_thrower_is_found(level, place):
    """One of 10**7 threads on the CPU device; which one is read off the input."""
    n = size_for(level, 10 * MILLION, 2000)
    i = {"first": 0, "second": 1, "middle": n // 2, "a lane within a row": n // 3, "last": n - 1}[place]
    kernel = level.jit(throws_where_negative, boundscheck=True)
    x, out = np.ones(n, np.float32), np.zeros(n, np.float32)
    x[i] = -1
    with pytest.raises(ValueError) as caught:
        kernel[-(-n // 256), 256](x, out)
    assert caught.value.args == ("negative", i)
    assert (caught.value.block, caught.value.thread) == ((i // 256, 0, 0), (i % 256, 0, 0))
    assert caught.value.count == 1
    assert out[i] == 0 and np.count_nonzero(out == 2) == n - 1


def test_the_one_thrower_is_found_every_time(level):
    n = size_for(level, MILLION, 1000)
    kernel = level.jit(throws_where_negative)
    x, out = np.ones(n, np.float32), np.zeros(n, np.float32)
    places = np.random.default_rng(20260).integers(0, n, size_for(level, 50, 10))
    for i in places:
        x[i] = -1
        with pytest.raises(ValueError) as caught:
            kernel[-(-n // 128), 128](x, out)
        assert caught.value.args == ("negative", i)
        x[i] = 1
    kernel[-(-n // 128), 128](x, out)


def test_the_one_thrower_is_found_among_atomics(level):
    n = size_for(level, MILLION, 1000)
    x, counter = np.ones(n, np.float32), np.zeros(1, np.int32)
    x[n // 3] = -1
    with pytest.raises(ValueError) as caught:
        level.jit(counts_and_throws)[-(-n // 128), 128](x, counter)
    assert caught.value.args == ("negative", n // 3)
    assert counter[0] == n


# -- barriers


def test_a_thrower_holds_nobody_up_at_a_barrier(level):
    """Thread 5 of block 1 throws; its block's other threads meet and exchange their values."""
    x, out = np.arange(1, 129, dtype=np.float32), np.zeros(128, np.float32)
    x[64 + 5] = -1
    with pytest.raises(ValueError) as caught:
        level.jit(throws_before_barrier)[2, 64](x, out)
    assert caught.value.args == ("negative", 69)
    assert (caught.value.block, caught.value.thread, caught.value.count) == ((1, 0, 0), (5, 0, 0), 1)
    wanted = x.reshape(2, 64)[:, ::-1].reshape(128)
    known = np.ones(128, bool)
    known[[64 + 5, 64 + 58]] = False  # the thrower's own place, and that of the thread that reads what it never wrote
    np.testing.assert_array_equal(out[known], wanted[known])
    assert out[64 + 5] == 0


def test_a_thrower_in_a_loop_with_barriers(level):
    """Thread 63 writes at 63 and 67, and would at 71, the third time; the others go round four times."""
    x, out = np.arange(64, dtype=np.float32), np.zeros(70, np.float32)
    with pytest.raises(IndexError) as caught:
        level.jit(index_error_between_barriers, boundscheck=True)[1, 64](x, out)
    assert (caught.value.index, caught.value.size, caught.value.thread) == (71, 70, (63, 0, 0))
    np.testing.assert_array_equal(out[:63], x[:0:-1] + 3)
    np.testing.assert_array_equal(out[63:], [x[0], 0, 0, 0, x[0] + 1, 0, 0])


# -- once, and nothing is left behind


def resident_nbytes() -> int:
    """Source: proc(5), statm, second number: pages in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_thousand_failing_launches_leave_nothing(level):
    """Memory that grew by more than 4 KiB a launch, or objects that pile up, would show. What leaks does so in both
    halves of the launches; in a large process either half may meet memory that the allocator takes or gives back."""
    count = size_for(level, 1000, 100)
    kernel = level.jit(throws_where_negative, boundscheck=True)
    x, out = np.full(8, -1, np.float32), np.zeros(8, np.float32)
    stream = level.stream()
    on_device = level.to_device(x), level.to_device(out)

    def fail() -> None:
        with pytest.raises(ValueError, match="negative"):
            kernel[1, 8](x, out)
        with pytest.raises(ValueError, match="negative"):
            kernel[1, 8, stream](*on_device)
            stream.synchronize()

    for _ in range(20):
        fail()
    gc.collect()
    objects, threads, growths = len(gc.get_objects()), threading.active_count(), []
    for _ in range(2):
        nbytes = resident_nbytes()
        for _ in range(count // 4):
            fail()
        gc.collect()
        growths.append(resident_nbytes() - nbytes)
    assert len(gc.get_objects()) - objects < 200
    assert threading.active_count() <= threads
    assert min(growths) < 4096 * (count // 2)
    level.synchronize()
    assert level.device.take_mailbox()[:4] == bytes(4)
    kernel[1, 8](np.ones(8, np.float32), out)
    np.testing.assert_array_equal(out, np.full(8, 2, np.float32))


def test_raised_once_by_its_own_stream_and_others_go_on(level):
    bad, good = level.stream(), level.stream()
    thrower, filler = level.jit(throws_where_negative), level.jit(fill)
    negative, other = level.to_device(np.full(64, -1, np.float32)), level.to_device(np.zeros(64, np.float32))
    good_event, bad_event = level.event(), level.event()
    thrower[1, 64, bad](negative, other)
    bad_event.record(bad)
    for value in (1, 2, 3):
        filler[1, 64, good](other, value)
    good_event.record(good)
    good.synchronize()
    good_event.synchronize()
    other.copy_to_host(stream=good)
    filler[1, 64, good](np.zeros(64, np.float32), 1)  # copied back: a wait for the stream
    with pytest.raises(ValueError, match="negative") as caught:
        bad_event.synchronize()
    assert 1 <= caught.value.count <= 64
    for wait in (bad.synchronize, bad_event.synchronize, good.synchronize, level.synchronize):
        wait()
    np.testing.assert_array_equal(other.copy_to_host(), np.full(64, 3, np.float32))


def test_each_stream_raises_its_own(level):
    streams = [level.stream() for _ in range(3)]
    thrower, out = level.jit(throws_where_negative), level.to_device(np.zeros(64, np.float32))
    arrays = [level.to_device(np.where(np.arange(64) == failing, -1, 1).astype(np.float32)) for failing in (7, 8, 9)]
    for stream, x in zip(streams, arrays, strict=True):
        thrower[1, 64, stream](x, out)
    for stream, failing in ((streams[2], 9), (streams[0], 7), (streams[1], 8)):
        with pytest.raises(ValueError, match="negative") as caught:
            stream.synchronize()
        assert caught.value.thread == (failing, 0, 0)
        stream.synchronize()
    level.synchronize()


def test_who_waits_for_the_device_hears_of_every_stream(level):
    """One after another, those of streams included that nobody refers to any more."""
    streams = [level.stream() for _ in range(3)]
    thrower, out = level.jit(throws_where_negative), level.to_device(np.zeros(8, np.float32))
    negative = level.to_device(np.full(8, -1, np.float32))
    for stream in streams:
        thrower[1, 8, stream](negative, out)
    for stream in streams:
        stream.wait()
    del stream
    streams.clear()
    gc.collect()
    unharmed = level.stream()  # takes no mailbox in which a report waits
    level.jit(fill)[1, 8, unharmed](out, 1)
    unharmed.synchronize()
    for _ in range(3):
        with pytest.raises(ValueError, match="negative"):
            level.synchronize()
    level.synchronize()


def test_work_of_forgotten_streams_runs_and_reports(level):
    """One is given work, and nobody refers to it any more: its last launches are neither lost nor another stream's."""
    thrower, filler = level.jit(throws_where_negative), level.jit(fill)
    negative, out, other = (level.to_device(np.full(8, value, np.float32)) for value in (-1, 0, 0))
    stream = level.stream()
    thrower[1, 8, stream](negative, out)
    for value in (1, 2):
        filler[1, 8, stream](out, value)
    del stream
    gc.collect()
    unharmed = level.stream()
    filler[1, 8, unharmed](other, 3)
    unharmed.synchronize()
    with pytest.raises(ValueError, match="negative"):
        level.synchronize()
    level.synchronize()
    np.testing.assert_array_equal(out.copy_to_host(), np.full(8, 2, np.float32))


def test_work_given_after_a_failure_runs(level):
    """An asynchronous launch does not raise what an earlier one threw; nothing waits that would not have waited."""
    stream = level.stream()
    negative, out = level.to_device(np.full(8, -1, np.float32)), level.to_device(np.zeros(8, np.float32))
    level.jit(throws_where_negative)[1, 8, stream](negative, out)
    level.jit(fill)[1, 8, stream](out, 7)
    with pytest.raises(ValueError, match="negative"):
        stream.synchronize()
    np.testing.assert_array_equal(out.copy_to_host(stream=stream), np.full(8, 7, np.float32))


def test_results_are_copied_back_although_a_thread_threw(level):
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    x[40] = -1
    with pytest.raises(ValueError, match="negative"):
        level.jit(throws_where_negative)[1, 64](x, level.Out(out))
    np.testing.assert_array_equal(out, np.where(x < 0, 0, 2))
