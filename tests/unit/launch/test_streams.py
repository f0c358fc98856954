"""Streams and events: order, callbacks, waiting, times."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from numba_gpucore.base.errors import ArgumentError, LaunchError
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.session import Session
from numba_gpucore.launch.streams import Event, Stream, check_stream
from tests.unit.launch import fake_device
from tests.unit.launch.fake_device import FakeDevice, FakeQueue


@pytest.fixture
def stream(own_session: Session, remote: FakeDevice) -> Stream:
    return own_session.open_stream(remote)  # type: ignore[arg-type]


@pytest.fixture
def lazy_stream(remote: FakeDevice) -> Stream:
    """Its work waits until it is synchronized."""
    return Stream(remote, FakeQueue(is_lazy=True), lambda *_: None)  # type: ignore[arg-type]


def test_default_stream_is_one(own_session: Session, remote: FakeDevice) -> None:
    default: Any = own_session.default_stream(remote)  # type: ignore[arg-type]
    assert default is own_session.default_stream(remote)  # type: ignore[arg-type]
    assert default.queue is None
    assert "default stream of Fake Device" in repr(default)


@pytest.mark.parametrize("value", [0, None])
def test_zero_and_none_mean_the_default_stream(value: Any) -> None:
    assert check_stream(value) is None


@pytest.mark.parametrize("value", [1, "x", 0.0])
def test_other_values_are_not_streams(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"a stream must come from stream\(\)"):
        check_stream(value)


def test_callback_gets_stream_status_and_argument(lazy_stream: Stream) -> None:
    calls: list[Any] = []
    lazy_stream.add_callback(lambda *arguments: calls.append(arguments), "data")
    assert calls == []
    lazy_stream.synchronize()
    assert calls == [(lazy_stream, 0, "data")]


def test_async_done(stream: Stream) -> None:
    async def wait() -> Stream:
        return await stream.async_done()

    assert asyncio.run(wait()) is stream


def test_event_passes_after_earlier_work(lazy_stream: Stream) -> None:
    event = Event(lambda: lazy_stream)
    assert event.query()
    event.record(lazy_stream)
    assert not event.query()
    lazy_stream.synchronize()
    assert event.query()
    event.synchronize()


def test_elapsed_time_is_in_milliseconds(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1.0, 1.25])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    start, end = Event(lambda: stream), Event(lambda: stream)
    start.record()
    end.record(stream)
    assert start.elapsed_time(end) == 250.0


def test_elapsed_time_needs_recorded_events(lazy_stream: Stream) -> None:
    start, end = Event(lambda: lazy_stream), Event(lambda: lazy_stream)
    with pytest.raises(LaunchError, match="the start event has not been recorded"):
        start.elapsed_time(end)
    with pytest.raises(LaunchError, match="timing=True"):
        start.elapsed_time(Event(lambda: lazy_stream, timing=False))


def test_a_stream_waits_for_an_event(remote: FakeDevice) -> None:
    first = Stream(remote, FakeQueue(is_lazy=True), lambda *_: None)  # type: ignore[arg-type]
    second = Stream(remote, FakeQueue(is_lazy=True), lambda *_: None)  # type: ignore[arg-type]
    event = Event(lambda: first)
    order: list[str] = []
    first.call(lambda: order.append("first"))
    event.record()
    event.wait(second)
    second.call(lambda: order.append("second"))
    first.synchronize()
    second.synchronize()
    assert order == ["first", "second"]


def test_copies_on_a_stream_wait_for_it(lazy_stream: Stream) -> None:
    arrays = Allocator(fake_device.platform("REMOTE"))
    source = np.arange(4)
    array = arrays.to_device(source, stream=lazy_stream)
    source[:] = 9  # to_device has taken a snapshot
    result = np.full(4, -1)
    array.copy_to_host(result, stream=lazy_stream)
    np.testing.assert_array_equal(result, -1)
    assert lazy_stream.held
    lazy_stream.synchronize()
    assert not lazy_stream.held
    np.testing.assert_array_equal(result, [0, 1, 2, 3])


def test_without_a_stream_results_are_there(lazy_stream: Stream) -> None:
    """Also for an array that is bound to a stream: its own stream is waited for."""
    array = Allocator(fake_device.platform("REMOTE")).to_device(np.arange(4), stream=lazy_stream)
    assert array.stream is lazy_stream and array[1:].stream is lazy_stream
    np.testing.assert_array_equal(array.copy_to_host(), [0, 1, 2, 3])
    array[1] = 7
    assert array[1] == 7


def test_bind(stream: Stream) -> None:
    array = Allocator(fake_device.platform("REMOTE")).to_device(np.arange(4))
    bound = array.bind(stream)
    assert bound.stream is stream and bound[1:].stream is stream
    assert bound.memory is array.memory


def test_a_callback_is_a_function(lazy_stream: Stream) -> None:
    with pytest.raises(TypeError, match="a callback is a function of stream, status and arg, not 3"):
        lazy_stream.add_callback(3)  # type: ignore[arg-type]
