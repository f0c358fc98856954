"""The CUDA driver half on a stand-in for cuda.bindings.driver: which calls are made, with what, in which order.

Nothing here shows that a GPU does what it is told; tests/gpu_session.sh does, where there is one.
"""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import LaunchConfig
from numba_gpucore.base.errors import DeviceError, DeviceMemoryError, LaunchError, PerformanceWarning
from numba_gpucore.base.mailbox import MAILBOX_NBYTES
from numba_gpucore.base.site import Frame, Site
from numba_ptxplus.driver import BACKEND, context, discovery, failures
from numba_ptxplus.driver.abi import FACT_COOPERATIVE, FACT_THROWS, LAUNCH_ABI, DeviceCode
from numba_ptxplus.driver.device import CudaDevice

if sys.platform == "darwin":
    pytest.skip("NVIDIA offers no cuda-bindings for macOS", allow_module_level=True)

from tests.unit.fake_cuda import FakeCuda, real

SITE = Site("builtins:ValueError", ("bad",), Frame("f", "f.py", 1, 2))


@pytest.fixture
def cuda():
    return FakeCuda()


@pytest.fixture
def device(cuda):
    return CudaDevice(cuda, 0)


CUBIN_AND_PTX = DeviceCode("ptx text", b"\x7fELF")
TWO_BLOCKS = LaunchConfig((2, 1, 1), (64, 1, 1))


def make_artifact(code=CUBIN_AND_PTX, sites=(), shared_nbytes=0, cooperative=False) -> Artifact:
    return Artifact(
        kernel_name="scale",
        entry="kernel_scale",
        backend="cuda",
        arch="sm_90",
        launch_abi=LAUNCH_ABI,
        arg_types=(),
        code=code.pack(),
        shared_nbytes=shared_nbytes,
        sites=sites,
        backend_facts=((FACT_COOPERATIVE, int(cooperative)), (FACT_THROWS, int(bool(sites)))),
    )


def launch_one(device, artifact, config=TWO_BLOCKS, params=b"12345678", queue=None):
    program = device.load(artifact)
    device.launch(program, config, params, queue)
    return program


# -- the device


def test_arch_and_limits_are_what_the_driver_says(device):
    assert device.arch == "sm_90"
    assert device.name == "Fake GPU"
    assert device.limits.max_block == (1024, 1024, 64)
    assert device.limits.max_grid == (2**31 - 1, 65535, 65535)
    assert device.limits.max_shared_nbytes == 232448


def test_every_call_leaves_the_thread_as_it_was(cuda, device):
    launch_one(device, make_artifact(sites=(SITE,)))
    memory = device.allocate(16)
    device.write(memory, 0, memoryview(bytes(16)), None)
    device.open_queue().synchronize()
    device.synchronize()
    memory.release()
    assert cuda.stack == []


def test_a_failed_call_leaves_the_thread_as_it_was(cuda, device):
    cuda.failures["cuMemAlloc"] = real.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(DeviceMemoryError):
        device.allocate(1 << 40)
    assert cuda.stack == []


# -- memory


def test_bytes_go_to_the_device_and_back(device):
    data = np.arange(12, dtype=np.int32)
    memory = device.allocate(data.nbytes)
    device.write(memory, 0, memoryview(data.view(np.uint8)), None)
    device.write(memory, 4, memoryview(np.array([99], np.int32).view(np.uint8)), None)
    back = np.zeros(12, np.int32)
    device.read(memory, 0, memoryview(back.view(np.uint8)), None)
    np.testing.assert_array_equal(back, [0, 99, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])


def test_read_only_host_memory_can_be_written_to_the_device(device):
    memory = device.allocate(4)
    device.write(memory, 0, memoryview(b"abcd"), None)
    back = bytearray(4)
    device.read(memory, 0, memoryview(back), None)
    assert back == b"abcd"


def test_an_empty_allocation_asks_the_driver_for_nothing(cuda, device):
    memory = device.allocate(0)
    device.write(memory, 0, memoryview(b""), None)
    memory.release()
    assert not cuda.named("cuMemAlloc") and not cuda.named("cuMemFree")


@pytest.mark.parametrize(("nbytes", "asked_for"), [(1, 16), (16, 16), (28, 32)])
def test_allocations_are_whole_vectors(cuda, device, nbytes, asked_for):
    """LLVM reads what is left of an array as a whole vector."""
    for make in (device.allocate, device.allocate_pinned, device.allocate_managed):
        assert make(nbytes).nbytes == nbytes
    for called in ("cuMemAlloc", "cuMemHostAlloc", "cuMemAllocManaged"):
        assert cuda.named(called)[-1][0] == asked_for


def test_memory_is_released_once(cuda, device):
    memory = device.allocate(16)
    memory.release()
    memory.release()
    del memory
    assert len(cuda.named("cuMemFree")) == 1


def test_forgotten_memory_is_released(cuda, device):
    device.allocate(16)
    assert len(cuda.named("cuMemFree")) == 1


def test_released_memory_has_no_address(device):
    memory = device.allocate(16)
    memory.release()
    with pytest.raises(DeviceMemoryError, match="has been released"):
        _ = memory.address


def test_pinned_and_managed_memory_is_seen_by_the_host(cuda, device):
    for memory in (device.allocate_pinned(8), device.allocate_managed(8)):
        memory.view[:] = b"12345678"
        back = bytearray(8)
        device.read(memory, 0, memoryview(back), None)
        assert back == b"12345678"
        memory.release()
    assert len(cuda.named("cuMemFreeHost")) == 1 and len(cuda.named("cuMemFree")) == 1


# -- loading


def test_machine_code_is_loaded_before_ptx(cuda, device):
    device.load(make_artifact())
    assert cuda.named("cuModuleLoadData") == [(b"\x7fELF",)]
    assert not cuda.named("cuModuleLoadDataEx")


def test_without_machine_code_the_driver_compiles_the_ptx(cuda, device):
    device.load(make_artifact(DeviceCode("ptx text")))
    (arguments,) = cuda.named("cuModuleLoadDataEx")
    assert arguments[0] == b"ptx text\0"


def test_machine_code_that_is_too_new_gives_way_to_ptx(cuda, device):
    cuda.failures["cuModuleLoadData"] = real.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU
    device.load(make_artifact())
    assert cuda.named("cuModuleLoadDataEx")


class RefusingPtx(FakeCuda):
    """Writes into the log that it is given and refuses."""

    def _cuModuleLoadDataEx(self, image, count, options, values):
        values[0][:9] = b"line 3: ?"
        return super()._cuModuleLoadDataEx(image, count, options, values)

    def __getattr__(self, name):
        call = super().__getattr__(name)
        if name != "cuModuleLoadDataEx":
            return call
        return lambda *arguments: (real.CUresult.CUDA_ERROR_INVALID_PTX, *call(*arguments)[1:])


def test_refused_ptx_shows_the_drivers_log():
    expected = r"PTX of kernel 'scale' for sm_90 failed with CUDA_ERROR_INVALID_PTX \(218\); line 3: \?"
    with pytest.raises(DeviceError, match=expected):
        CudaDevice(RefusingPtx(), 0).load(make_artifact(DeviceCode("ptx")))


def test_throwing_kernels_learn_their_number(cuda, device):
    program = device.load(make_artifact(sites=(SITE,)))
    values = {name: int.from_bytes(bytes(cuda.memory[address]), "little") for name, address in cuda.globals.items()}
    assert values == {b"numba_gpu_program": program.number}
    assert device.program_of(program.number) is program


def test_throwing_kernels_are_given_their_streams_mailbox(cuda, device):
    """Behind the parameters, at a multiple of its size; each stream has one, which later launches find again."""
    artifact, first, second = make_artifact(sites=(SITE,)), device.open_queue(), device.open_queue()
    for queue in (None, first, second, first):
        launch_one(device, artifact, params=b"\1\2\3\4", queue=queue)
    assert [params[:8] for _config, params in cuda.launches] == [b"\1\2\3\4\0\0\0\0"] * 4
    mailboxes = [int.from_bytes(params[8:], "little") for _config, params in cuda.launches]
    channels = device._channels.default, first.channel, second.channel, first.channel
    assert mailboxes == [channel.memory.address for channel in channels]
    assert len(set(mailboxes)) == 3


def test_kernels_that_never_throw_have_no_variables(cuda, device):
    device.load(make_artifact())
    assert cuda.globals == {}


# -- launching


def test_the_parameter_block_reaches_the_kernel_as_it_is(cuda, device):
    launch_one(device, make_artifact(), params=b"\1\0\0\0\0\0\0\0\2\0\0\0")
    ((config, params),) = cuda.launches
    assert params == b"\1\0\0\0\0\0\0\0\2\0\0\0"
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (2, 1, 1)
    assert (config.blockDimX, config.blockDimY, config.blockDimZ) == (64, 1, 1)
    assert config.numAttrs == 0


def test_a_kernel_without_parameters(cuda, device):
    launch_one(device, make_artifact(), params=b"")
    assert cuda.launches[0][1] == b""


def test_work_goes_to_its_stream(cuda, device):
    launch_one(device, make_artifact(), queue=device.open_queue())
    assert int(cuda.launches[0][0].hStream) == 0x4000


def test_a_grid_barrier_needs_a_cooperative_launch(cuda, device):
    launch_one(device, make_artifact(cooperative=True))
    config = cuda.launches[0][0]
    assert config.numAttrs == 1
    assert config.attrs[0].id == real.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    assert config.attrs[0].value.cooperative == 1


@pytest.mark.parametrize("static, dynamic, asks", [(0, 48 * 1024, False), (1024, 48 * 1024, True), (0, 100000, True)])
def test_much_dynamic_shared_memory_is_asked_for(static, dynamic, asks, cuda, device):
    config = LaunchConfig((1, 1, 1), (32, 1, 1), dynamic)
    program = launch_one(device, make_artifact(shared_nbytes=static), config)
    device.launch(program, config, b"", None)
    assert [arguments[2] for arguments in cuda.named("cuFuncSetAttribute")] == ([dynamic] if asks else [])


def test_more_shared_memory_than_the_device_has_is_refused(device):
    with pytest.raises(LaunchError, match=r"kernel 'scale': 240000 bytes .* beside 1024 static ones .* has 231424"):
        launch_one(device, make_artifact(shared_nbytes=1024), LaunchConfig((1, 1, 1), (32, 1, 1), 240000))


def test_a_refused_launch_names_kernel_and_shape(cuda, device):
    cuda.failures["cuLaunchKernelEx"] = real.CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    with pytest.raises(
        LaunchError, match=r"kernel 'scale' with grid \(2, 1, 1\), block \(64, 1, 1\) failed with .*701"
    ):
        launch_one(device, make_artifact())


def test_the_driver_suggests_a_block(device):
    program = device.load(make_artifact())
    assert program.suggested_block() == 768
    assert program.attribute("NUM_REGS") == 24


def test_the_driver_tells_how_many_blocks_run_at_once(device):
    """fake_cuda: 2048 threads a multiprocessor."""
    program = device.load(make_artifact())
    assert program.max_resident_blocks(256, 0) == 8 * device.limits.multiprocessor_count


# -- streams and events


def test_another_packages_stream_is_used_as_it_is(device):
    assert int(device.wrap_stream(0x7777).native) == 0x7777


def test_a_call_in_a_stream_runs(device):
    seen = []
    device.open_queue().call(lambda: seen.append(1))
    assert seen == [1]


def test_a_call_outlives_its_queue(cuda, device, monkeypatch):
    """The driver has its address only; it is forgotten once it has run."""
    given, seen = [], []
    monkeypatch.setattr(cuda, "_cuLaunchHostFunc", lambda _stream, *function: given.append(function) or ())
    device.open_queue().call(lambda: seen.append(1))
    gc.collect()
    ((function, data),) = given
    (kept,) = device.context.pending_calls
    assert kept == int(function)
    FakeCuda._cuLaunchHostFunc(cuda, None, function, data)
    assert seen == [1] and device.context.pending_calls == {}


def test_a_busy_stream_is_not_idle(cuda, device):
    queue = device.open_queue()
    cuda.failures["cuStreamQuery"] = real.CUresult.CUDA_ERROR_NOT_READY
    assert not queue.is_idle()
    assert queue.is_idle()


def test_events_measure_and_hold_back(cuda, device):
    start, end, queue = device.open_event(), device.open_event(), device.open_queue()
    start.record(queue)
    end.record(device.default_queue())
    end.synchronize()
    start.hold_back(queue)
    assert start.elapsed_ms(end) == 1.5
    cuda.failures["cuEventQuery"] = real.CUresult.CUDA_ERROR_NOT_READY
    assert not start.is_over()
    assert [int(arguments[1]) for arguments in cuda.named("cuEventRecord")] == [0x4000, 0]


# -- the mailbox


def test_an_untouched_mailbox_is_zero(device):
    assert device.take_mailbox() == bytes(MAILBOX_NBYTES)


def test_a_mailbox_is_taken_once(device):
    mailbox = device._channels.default.memory.view
    mailbox[0] = 3
    mailbox[8] = 7
    taken = device.take_mailbox()
    assert (taken[0], taken[8]) == (3, 7)
    assert device.take_mailbox() == bytes(MAILBOX_NBYTES)


# -- errors


def test_every_error_code_becomes_an_exception_with_name_and_number():
    for result in real.CUresult:
        error = failures.error_of(result, "doing it")
        assert (error.code, error.name) == (int(result), result.name)
        assert isinstance(error, DeviceError)
        assert f"doing it failed with {result.name} ({int(result)})" in str(error)


def test_advice_is_for_errors_that_exist():
    assert set(failures._ADVICE) | set(failures._CLASSES) <= {result.name for result in real.CUresult}


# -- finding devices


def test_no_driver_means_no_device(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(discovery.ctypes, "CDLL", missing)
    assert BACKEND.count_devices() == 0


def test_a_gpu_without_bindings_is_told(monkeypatch):
    monkeypatch.setattr(discovery, "count_gpus", lambda: 1)
    monkeypatch.setattr(discovery, "has_bindings", lambda: False)
    with pytest.warns(PerformanceWarning, match="pip install cuda-bindings"):
        assert discovery.count_devices() == 0


def test_opening_without_bindings_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(DeviceError, match="pip install cuda-bindings"):
        context.import_driver()


def test_looking_for_devices_loads_no_bindings(run_python, tmp_path):
    script = tmp_path / "look.py"
    script.write_text(
        "import sys\nfrom numba_ptxplus.driver import BACKEND\nBACKEND.count_devices()\nBACKEND.toolchain_id()\n"
        "loaded = [m for m in sys.modules if m.startswith(('cuda.bindings', 'numba.', 'llvmlite'))]\n"
        "assert not loaded, loaded\n"
    )
    run_python(script)
