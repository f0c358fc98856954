"""The ordinary launch path of numba_ptxplus on the PTX machine: mailbox, copies, shared memory, grid barriers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import numba_ptxplus as gpu
from numba_gpucore.launch import session
from numba_gpucore.launch.jit import jit
from tests.ptx.device import PLATFORM, PtxDevice, use_device
from tests.ptx.machine import PtxError, PtxFault, PtxMachine
from tests.unit.ptx_modules import INT64, compile_device_ir, make_job, vector


@pytest.fixture(autouse=True)
def _own_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session whose device no other test has used."""
    monkeypatch.setattr(session, "_default", session.Session({}))


def machine_jit(function=None, **options):
    """`numba_ptxplus.jit`, with the machine as its GPU."""
    return jit(PLATFORM, function, **options)


def fill(x, value):
    i = gpu.grid(1)
    if i < x.size:
        x[i] = value


def double_of_root(x):
    i = gpu.grid(1)
    if i < x.size:
        x[i] = 2.0 * math.sqrt(x[i]) + 1.0


def refuse_negative(x):
    i = gpu.grid(1)
    if x[i] < 0:
        raise ValueError("negative item", i)


def read_past_the_end(x, out):
    i = gpu.grid(1)
    out[i] = x[i + 3]


def test_host_arrays_are_copied_there_and_back() -> None:
    """A view with a step: what lies between stays as it was."""
    memory = np.arange(20, dtype=np.float32)
    machine_jit(fill)[1, 32](memory[::2], 7.0)
    np.testing.assert_array_equal(memory, np.where(np.arange(20) % 2, np.arange(20), 7.0))


def test_a_raised_exception_arrives_with_its_thread() -> None:
    """Two threads throw; the first of them to claim the mailbox tells its number."""
    x = np.ones(64, np.float32)
    x[[37, 50]] = -1
    with pytest.raises(ValueError, match="negative item") as caught:
        machine_jit(refuse_negative)[2, 32](x)
    assert caught.value.block == (1, 0, 0)
    assert caught.value.thread == (5, 0, 0)
    assert caught.value.count == 2


def test_a_bounds_check_tells_index_axis_and_size() -> None:
    """Of ten items, threads 7, 8 and 9 read items 10, 11 and 12."""
    with pytest.raises(IndexError) as caught:
        machine_jit(read_past_the_end, boundscheck=True)[1, 10](np.zeros(10), np.zeros(10))
    assert (caught.value.index, caught.value.axis, caught.value.size) == (10, 0, 10)
    assert caught.value.count == 3


def test_after_an_exception_the_device_goes_on() -> None:
    kernel = machine_jit(refuse_negative)
    with pytest.raises(ValueError):
        kernel[1, 32](np.full(32, -1.0))
    kernel[1, 32](np.ones(32))


def test_without_checks_the_machine_finds_the_access() -> None:
    """On hardware this reads whatever lies there; the machine names instruction and thread."""
    with pytest.raises(PtxFault, match=r"ld\.global.*outside every allocation.*thread \(7, 0, 0\)"):
        machine_jit(read_past_the_end)[1, 10](np.zeros(10), np.zeros(10))


GRID_BARRIER = """
define void @kernel(ptr %context, ptr %x, i64 %n) {
 %i = call i64 @gpu.global_id.x(ptr %context)
 %own = getelementptr i64, ptr %x, i64 %i
 store i64 %i, ptr %own
 call void @gpu.barrier.grid(ptr %context)
 %last = sub i64 %n, 1
 %mirrored = sub i64 %last, %i
 %other = getelementptr i64, ptr %x, i64 %mirrored
 %value = load i64, ptr %other
 call void @gpu.barrier.grid(ptr %context)
 store i64 %value, ptr %own
 ret void
}"""


def test_grid_barrier() -> None:
    """Each thread reads what its mirror image in another block wrote before the barrier; two barriers, used twice."""
    job = make_job([vector(INT64)], ["gpu.global_id.x", "gpu.barrier.grid"])
    machine = PtxMachine(compile_device_ir(GRID_BARRIER, job))
    x = machine.memory.allocate(128 * 8)
    for _ in range(2):
        machine.launch("kernel", 4, 32, (x, 128), is_cooperative=True)
        np.testing.assert_array_equal(machine.memory.copy_out(x, 128, np.int64), np.arange(128)[::-1])
    with pytest.raises(PtxError, match="1025 blocks; 1024 of this size fit at once"):
        machine.launch("kernel", 1025, 32, (x, 128), is_cooperative=True)


@pytest.mark.parametrize(
    "options",
    [{"debug": True, "opt": 0}, {"lineinfo": True}, {"opt": 0}, {"fastmath": True}, {"launch_bounds": 64}],
    ids=str,
)
def test_compile_options_keep_the_meaning(options: dict) -> None:
    """Unoptimised code with its stack, debug sections, line tables: 2 * sqrt(9) + 1."""
    x = np.full(40, 9.0)
    machine_jit(double_of_root, **options)[1, 64](x)
    np.testing.assert_allclose(x, 7.0, rtol=1e-12)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100", "sm_120"])
def test_code_for_every_generation(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code generators choose instructions by architecture (redux, wide loads); each must mean the same."""
    device = PtxDevice(arch=arch)
    use_device(monkeypatch, device)
    x = np.arange(100, dtype=np.float64)
    machine_jit(fill)[4, 32](x, 3.5)
    np.testing.assert_array_equal(x, 3.5)
    assert f".target {arch}" in next(iter(device.programs.values())).machine.text
