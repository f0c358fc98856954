"""numba.cuda's events on the Metal driver, where they are marks of the GPU and timed by it. On the double."""

from __future__ import annotations

import numpy as np
import pytest

import numba_metal
from numba_gpucore.base.errors import LaunchError
from tests.levels import opened_level
from tests.metal_double import World


@numba_metal.jit
def increment(x):
    x[numba_metal.grid(1)] += 1


@pytest.fixture(autouse=True)
def _use_the_double():
    with opened_level("metal double", World(polls_until_done=50)):
        yield


@pytest.mark.parametrize("has_stream", [False, True], ids=["default stream", "stream"])
def test_events_pass_after_the_work_before_them(has_stream: bool) -> None:
    stream = numba_metal.stream() if has_stream else 0
    x = numba_metal.to_device(np.zeros(32, np.int32))
    start, end = numba_metal.event(), numba_metal.event()
    start.record(stream)
    for _ in range(3):
        increment[1, 32, stream](x)
    end.record(stream)
    end.synchronize()
    assert start.query() and end.query()
    assert start.elapsed_time(end) >= 0
    np.testing.assert_array_equal(x.copy_to_host(), 3)


def test_recording_does_not_wait() -> None:
    """The double ends a batch after 50 looks at it: the mark cannot have passed when it was made."""
    x = numba_metal.to_device(np.zeros(32, np.int32))
    event = numba_metal.event()
    increment[1, 32](x)
    event.record()
    assert not event.query()
    with pytest.raises(LaunchError, match="the start event has not been recorded or not passed"):
        event.elapsed_time(event)
    event.synchronize()
    assert event.query()


def test_a_stream_waits_for_another() -> None:
    first, second = numba_metal.stream(), numba_metal.stream()
    x = numba_metal.to_device(np.zeros(32, np.int32))
    event = numba_metal.event()
    increment[1, 32, first](x)
    event.record(first)
    event.wait(second)
    increment[1, 32, second](x)
    second.synchronize()
    np.testing.assert_array_equal(x.copy_to_host(), 2)
