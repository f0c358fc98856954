"""Launch configurations: what users write in brackets, what is refused, and what a device takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import ArgumentError, LaunchError
from numba_gpucore.launch.jit import jit
from tests.unit.launch import fake_device
from tests.unit.launch.fake_device import FakeDevice

HOST = fake_device.platform("HOST")


def nothing():
    pass


def body(x):
    pass


@pytest.fixture(autouse=True)
def _compiler(requests: list[CompileRequest]) -> None:
    pass


def last_shape(device: FakeDevice) -> tuple[Any, Any, int]:
    _, config, _ = device.launches[-1]
    return config.grid, config.block, config.dynamic_shared_nbytes


@pytest.mark.parametrize(
    ("item", "shape"),
    [
        ((4, 32), ((4, 1, 1), (32, 1, 1), 0)),
        (((4,), (8, 2)), ((4, 1, 1), (8, 2, 1), 0)),
        (((4, 3, 2), [8, 2, 1]), ((4, 3, 2), (8, 2, 1), 0)),
        ((np.int32(4), np.array([8, 2])), ((4, 1, 1), (8, 2, 1), 0)),
        ((np.array(4), np.array(8)), ((4, 1, 1), (8, 1, 1), 0)),
        ((4, 32, 0), ((4, 1, 1), (32, 1, 1), 0)),
        ((4, 32, None, 64), ((4, 1, 1), (32, 1, 1), 64)),
        ((True, 32), ((1, 1, 1), (32, 1, 1), 0)),
    ],
)
def test_configurations(host: FakeDevice, item: Any, shape: Any) -> None:
    jit(HOST, nothing)[item]()
    assert last_shape(host) == shape


@pytest.mark.parametrize(
    ("item", "error", "message"),
    [
        (((1, 2, 3, 4), 5), LaunchError, r"griddim must be a sequence of 1, 2 or 3 integers, got \[1, 2, 3, 4\]"),
        ((1, (1, 2, 3, 4)), LaunchError, r"blockdim must be a sequence of 1, 2 or 3 integers, got \[1, 2, 3, 4\]"),
        ((b"\x02", 3), ArgumentError, r"griddim must be a sequence of integers, got \[b'\\x02'\]"),
        (({2, 3}, 3), ArgumentError, r"griddim must be a sequence of integers, got \[\{2, 3\}\]"),
        ((2, {1: 2}), ArgumentError, r"blockdim must be a sequence of integers, got \[\{1: 2\}\]"),
        ((2.0, 3), ArgumentError, r"griddim must be a sequence of integers, got \[2\.0\]"),
        ((2, (3, "x")), ArgumentError, r"blockdim must be a sequence of integers, got \[3, 'x'\]"),
        (5, LaunchError, r"a launch configuration has 2 to 4 items, got 1"),
        ((1, 2, 3), ArgumentError, r"a stream must come from stream\(\) or be 0, the default stream; got 3"),
        ((1, 2, 0, 1.5), ArgumentError, r"dynamic shared memory is a number of bytes, got 1\.5"),
        ((1, 2, 0, 0, 0), LaunchError, r"2 to 4 items, got 5"),
    ],
)
def test_wrong_configurations(item: Any, error: type, message: str) -> None:
    kernel = jit(HOST, nothing)
    with pytest.raises(error, match=message):
        kernel[item]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ((0, 32), r"kernel 'nothing' cannot be launched on Fake Device: grid\.x is 0; it must be at least 1"),
        ((1, (16, 0)), r"block\.y is 0; it must be at least 1"),
        ((1, -1), r"block\.x is -1"),
        ((2**31, 1), r"grid\.x is 2147483648; the limit is 2147483647"),
        (((1, 65536), 1), r"grid\.y is 65536; the limit is 65535"),
        ((1, (1, 1, 65)), r"block\.z is 65; the limit is 64"),
        ((1, (32, 16)), r"block \(32, 16, 1\) has 512 threads; the limit is 256"),
        ((1, 1, 0, 1025), r"1025 bytes of shared memory \(0 static, 1025 dynamic\); the limit is 1024"),
        ((1, 1, 0, -8), r"dynamic shared memory is -8 bytes"),
        (((0, 65536), 1), r"grid\.x is 0; .*; grid\.y is 65536"),
    ],
)
def test_limits_are_named(host: FakeDevice, item: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        jit(HOST, nothing)[item]()
    assert host.launches == []


def test_static_shared_memory_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def needs_shared(request: CompileRequest, *_rest: Any) -> Any:
        return fake_device.artifact_for(request, shared_nbytes=1000)

    monkeypatch.setattr("numba_gpucore.launch.miss.compile_kernel", needs_shared)
    with pytest.raises(LaunchError, match=r"1100 bytes of shared memory \(1000 static, 100 dynamic\)"):
        jit(HOST, nothing)[1, 1, 0, 100]()


def test_launch_bounds_limit_the_block() -> None:
    with pytest.raises(LaunchError, match=r"128 threads; the kernel's launch_bounds allow 64"):
        jit(HOST, nothing, launch_bounds=64)[1, 128]()


def test_call_without_configuration() -> None:
    with pytest.raises(LaunchError, match=r"kernel 'body': launch configuration was not specified; write kernel\[grid"):
        jit(HOST, body)(np.zeros(3))


def test_forall(host: FakeDevice) -> None:
    kernel = jit(HOST, nothing)
    kernel.forall(1000)()
    assert last_shape(host) == ((4, 1, 1), (256, 1, 1), 0)
    kernel.forall(1000, 64, 0, 16)()
    assert last_shape(host) == ((16, 1, 1), (64, 1, 1), 16)
    jit(HOST, nothing, launch_bounds=32).forall(64)()
    assert last_shape(host) == ((2, 1, 1), (32, 1, 1), 0)
    before = len(host.launches)
    kernel.forall(0)()
    assert len(host.launches) == before
    with pytest.raises(LaunchError, match="negative task count: -1"):
        kernel.forall(-1)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("many",), ArgumentError, r"forall takes whole numbers of tasks and threads, not 'many', 0"),
        ((3.5, 64), ArgumentError, r"forall takes whole numbers of tasks and threads, not 3\.5, 64"),
        ((-1,), LaunchError, r"Can't create ForAll with negative task count: -1"),
        ((10, -4), LaunchError, r"blocks cannot have -4 threads; 0 lets the device choose"),
    ],
)
def test_forall_of_what_is_no_number(arguments: tuple[Any, ...], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        jit(HOST, nothing).forall(*arguments)


def test_configure(host: FakeDevice) -> None:
    configured = jit(HOST, nothing).configure((2, 3), 32, sharedmem=8)
    configured()
    assert last_shape(host) == ((2, 3, 1), (32, 1, 1), 8)
    assert (configured.griddim, configured.blockdim, configured.sharedmem) == ((2, 3, 1), (32, 1, 1), 8)


def test_many_launch_shapes_are_forgotten(host: FakeDevice) -> None:
    kernel = jit(HOST, nothing)
    for grid in range(1, 3000):
        kernel[grid, 1]()
    (entry,) = kernel._table.values()
    assert len(entry.configs) <= 1024
