"""The Metal driver on the double: queues, host functions between launches, times, failures."""

import threading
import time

import numpy as np
import pytest

from numba_gpucore.base.backend import LaunchConfig
from numba_gpucore.base.errors import DeviceError, LaunchError, ToolchainError
from numba_metal.driver.abi import FACT_MATH_MODE
from tests.metal_double.launching import (
    COUNT,
    HEAD,
    INTS,
    ONE_ARRAY,
    artifact_of,
    launch_count,
    pack,
    to_device,
    to_host,
)

pytest_plugins = ["tests.metal_double.fixtures"]


@pytest.mark.parametrize("is_eager", [False, True], ids=["late", "eager"])
def test_host_functions_run_in_order(open_double, is_eager):
    device = open_double(polls_until_done=1000, is_eager=is_eager)
    queue = device.open_queue()
    memory = to_device(device, np.zeros(64, np.int32))
    seen = []
    may_go = threading.Event()
    launch_count(device, memory, 2, queue)
    queue.call(lambda: (may_go.wait(), seen.append(memory.host.cast("i")[0])))
    launch_count(device, memory, 3, queue)
    queue.call(lambda: seen.append(memory.host.cast("i")[0]))
    assert not queue.is_idle()
    assert seen == []
    may_go.set()
    queue.synchronize()
    assert seen == [2, 5]
    assert queue.is_idle()


def test_error_of_a_host_function_is_raised_by_the_wait(metal_device):
    queue = metal_device.open_queue()
    queue.call(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        queue.synchronize()
    queue.synchronize()


def test_command_buffers_do_not_run_out(open_double):
    """Metal gives a queue 64 unfinished command buffers; the double refuses more."""
    device = open_double(polls_until_done=10**6)
    queue = device.open_queue()
    memory = to_device(device, np.zeros(64, np.int32))
    program = device.load(artifact_of(COUNT, "count", [INTS]))
    for _ in range(70):
        device.launch(program, LaunchConfig((1, 1, 1), (64, 1, 1)), pack([INTS], memory.address, 64), queue)
        assert not queue.is_idle()  # looking commits the open batch
    assert to_host(device, memory, np.int32, queue).tolist() == [70] * 64


def test_polling_reaches_the_end(metal_device):
    queue = metal_device.open_queue()
    memory = to_device(metal_device, np.zeros(64, np.int32))
    launch_count(metal_device, memory, 5, queue)
    for _ in range(20):
        if queue.is_idle():
            break
    assert queue.is_idle()
    assert to_host(metal_device, memory, np.int32, queue).tolist() == [5] * 64


def test_events_are_timed_by_the_gpu(open_double):
    """The second launch runs when it is waited for, long after it was given and recorded."""
    device = open_double(polls_until_done=1000)
    queue = device.open_queue()
    start, end = device.open_event(), device.open_event()
    assert start.is_over()
    with pytest.raises(LaunchError, match="has not been recorded"):
        start.elapsed_ms(end)
    memory = to_device(device, np.zeros(64, np.int32))
    launch_count(device, memory, 1, queue)
    start.record(queue)
    assert not start.is_over()
    start.synchronize()
    assert start.is_over()
    launch_count(device, memory, 1, queue)
    end.record(queue)
    given_s = time.perf_counter()
    assert start.time_s() < given_s < end.time_s()
    assert start.elapsed_ms(end) == pytest.approx((end.time_s() - start.time_s()) * 1e3)


def test_event_on_an_idle_queue_passes_at_once(metal_device):
    event = metal_device.open_event()
    before_s = time.perf_counter()
    event.record(metal_device.default_queue())
    assert event.is_over()
    assert before_s <= event.time_s() <= time.perf_counter()


def test_event_waits_for_host_functions(metal_device):
    queue, may_go = metal_device.open_queue(), threading.Event()
    event = metal_device.open_event()
    queue.call(may_go.wait)
    event.record(queue)
    assert not event.is_over()
    may_go.set()
    event.synchronize()
    assert event.is_over()


def test_event_holds_back_another_queue(open_double):
    device = open_double(is_eager=True)
    first, second = device.open_queue(), device.open_queue()
    may_go, event = threading.Event(), device.open_event()
    memory = to_device(device, np.zeros(64, np.int32))
    first.call(may_go.wait)
    event.record(first)
    event.hold_back(second)
    launch_count(device, memory, 1, second)
    assert not second.is_idle()
    assert not any(memory.host)
    may_go.set()
    assert to_host(device, memory, np.int32, second).tolist() == [1] * 64


def test_refused_source_is_kept(metal_device):
    bad = COUNT.replace("args.n)", "args.count)")
    with pytest.raises(
        ToolchainError, match=r"refused kernel 'count', whose source is kept in .*no member named"
    ) as error:
        metal_device.load(artifact_of(bad, "count", [INTS]))
    path = str(error.value).split("kept in ")[1].split(": ")[0]
    with open(path) as file:
        assert file.read() == bad


def test_language_version_that_the_system_lacks(open_double):
    device = open_double(macos=(14, 0))
    device.load(artifact_of(COUNT, "count", [INTS]))
    with pytest.raises(ToolchainError, match=r"language version 3\.2 is not supported"):
        device.load(artifact_of(COUNT, "count", [INTS], msl_version=302))


@pytest.mark.parametrize("macos", [(14, 0), (15, 0)])
@pytest.mark.parametrize(("mode", "answer"), [(0, 1), (2, 0)])
def test_math_mode_is_set_on_every_macos(open_double, macos, mode, answer):
    """Fast math has no NaN, so isnan is false."""
    device = open_double(macos=macos)
    source = (
        HEAD
        + ONE_ARRAY
        + (
            "kernel void nan(constant Args& args [[buffer(0)]], uint i [[thread_position_in_grid]])"
            "{ args.x[i] = isnan(as_type<float>(args.x[i])) ? 1 : 0; }"
        )
    )
    memory = to_device(device, np.full(4, 0x7FC00000, np.int32))
    program = device.load(artifact_of(source, "nan", [INTS], **{FACT_MATH_MODE: mode}))
    device.launch(program, LaunchConfig((1, 1, 1), (4, 1, 1)), pack([INTS], memory.address, 4), None)
    assert to_host(device, memory, np.int32).tolist() == [answer] * 4


def test_page_fault_names_the_kernel(metal_device):
    memory = to_device(metal_device, np.zeros(64, np.int32))
    source = COUNT.replace("if (long(i) < args.n) ", "")
    program = metal_device.load(artifact_of(source, "count", [INTS]))
    good = metal_device.load(artifact_of(COUNT, "count", [INTS]))
    metal_device.launch(program, LaunchConfig((64, 1, 1), (64, 1, 1)), pack([INTS], memory.address, 64), None)
    with pytest.raises(DeviceError, match=r"failed while it ran kernel 'count': .*PageFault.*boundscheck=True"):
        metal_device.synchronize()
    metal_device.launch(good, LaunchConfig((1, 1, 1), (64, 1, 1)), pack([INTS], memory.address, 64), None)
    metal_device.synchronize()


def test_kernel_that_never_ends(open_double, monkeypatch):
    monkeypatch.setenv("NUMBA_METAL_TIMEOUT_S", "0.2")
    device = open_double(hangs=frozenset({"count"}))
    memory = to_device(device, np.zeros(64, np.int32))
    launch_count(device, memory)
    with pytest.raises(DeviceError, match=r"kernel 'count' did not end within 0\.2 s; .*NUMBA_METAL_TIMEOUT_S"):
        device.synchronize()
