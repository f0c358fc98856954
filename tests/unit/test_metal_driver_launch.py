"""The Metal driver on the double, with hand-written MSL: what launches do, and which are refused."""

import numpy as np
import pytest

from numba_gpucore.base.argtypes import ScalarType
from numba_gpucore.base.backend import LaunchConfig
from numba_gpucore.base.errors import LaunchError
from numba_gpucore.base.mailbox import MAILBOX_NBYTES, read_mailbox
from numba_metal.driver.abi import FACT_THROWS, FACT_USES_DYNAMIC_SHARED
from tests.metal_double.launching import (
    COUNT,
    FLOATS,
    HEAD,
    INTS,
    REVERSE,
    SCALE,
    THROW,
    artifact_of,
    launch_count,
    pack,
    to_device,
    to_host,
)

pytest_plugins = ["tests.metal_double.fixtures"]


def test_launch(metal_device):
    x = np.arange(100, dtype=np.float32)
    source, target = to_device(metal_device, x), metal_device.allocate(x.nbytes)
    types = [FLOATS, FLOATS, ScalarType("float32", 4)]
    program = metal_device.load(artifact_of(SCALE, "scale", types))
    params = pack(types, source.address, 100, target.address, 100, 2.5)
    metal_device.launch(program, LaunchConfig((2, 1, 1), (64, 1, 1)), params, None)
    np.testing.assert_array_equal(to_host(metal_device, target, np.float32), x * np.float32(2.5))


def test_launches_on_a_queue_run_in_order(metal_device):
    memory = to_device(metal_device, np.zeros(64, np.int32))
    launch_count(metal_device, memory, times=150)
    assert to_host(metal_device, memory, np.int32).tolist() == [150] * 64


def test_launches_are_gathered_while_the_gpu_is_busy(open_double):
    device = open_double(polls_until_done=1000)
    queue = device.open_queue()
    memory = to_device(device, np.zeros(64, np.int32))
    launch_count(device, memory, times=130, queue=queue)
    # one at once, 64 and 64 while it runs, the last in the open batch
    assert [batch.launch_count for batch in queue._given] == [1, 64, 64]
    queue.synchronize()
    assert to_host(device, memory, np.int32, queue).tolist() == [130] * 64


def test_read_waits_for_the_launches_that_use_the_memory(open_double):
    device = open_double(polls_until_done=1000)
    used, unused = (to_device(device, np.zeros(64, np.int32)) for _ in range(2))
    launch_count(device, used, times=5)
    assert to_host(device, unused, np.int32).tolist() == [0] * 64
    assert to_host(device, used, np.int32).tolist() == [5] * 64


def test_dynamic_shared_memory(metal_device):
    memory = to_device(metal_device, np.arange(48, dtype=np.int32))
    program = metal_device.load(artifact_of(REVERSE, "reverse", [INTS], **{FACT_USES_DYNAMIC_SHARED: 1}))
    config = LaunchConfig((1, 1, 1), (48, 1, 1), dynamic_shared_nbytes=48 * 4)
    metal_device.launch(program, config, pack([INTS], memory.address, 48), None)
    assert to_host(metal_device, memory, np.int32).tolist() == list(range(48))[::-1]
    too_much = LaunchConfig((1, 1, 1), (48, 1, 1), dynamic_shared_nbytes=32 * 1024 + 16)
    with pytest.raises(LaunchError, match=r"needs 0 bytes of static and 32784 of dynamic shared memory.* has 32768"):
        metal_device.launch(program, too_much, pack([INTS], memory.address, 48), None)


def test_mailbox(metal_device):
    program = metal_device.load(artifact_of(THROW, "check", [INTS], **{FACT_THROWS: 1}))
    data = np.zeros(64, np.int32)
    data[[7, 20]] = -1
    memory = to_device(metal_device, data)
    config = LaunchConfig((1, 1, 1), (64, 1, 1))
    assert metal_device.take_mailbox() == bytes(MAILBOX_NBYTES)
    for _ in range(2):
        metal_device.launch(program, config, pack([INTS], memory.address, 64), None)
        metal_device.synchronize()
        report = read_mailbox(metal_device.take_mailbox())
        assert (report.count, report.site, report.thread[0], report.program) == (2, 5, 7, program.number)
        assert metal_device.program_of(report.program) is program
        assert metal_device.take_mailbox() == bytes(MAILBOX_NBYTES)


def test_parameter_block_over_4_kib(metal_device):
    types = [INTS] * 300
    memories = [to_device(metal_device, np.full(4, i, np.int32)) for i in range(300)]
    members = "".join(f"device int* x{i}; long n{i}; " for i in range(300))
    source = (
        HEAD
        + f"struct Args {{ {members} }};\n"
        + (
            "kernel void last(constant Args& args [[buffer(0)]], uint i [[thread_position_in_grid]])"
            "{ args.x0[i] = args.x299[i]; }"
        )
    )
    program = metal_device.load(artifact_of(source, "last", types))
    params = pack(types, *(number for memory in memories for number in (memory.address, 4)))
    assert len(params) > 4096
    metal_device.launch(program, LaunchConfig((1, 1, 1), (4, 1, 1)), params, None)
    assert to_host(metal_device, memories[0], np.int32).tolist() == [299] * 4


def test_kernel_without_arguments(metal_device):
    program = metal_device.load(artifact_of(HEAD + "kernel void nothing() {}", "nothing", []))
    metal_device.launch(program, LaunchConfig((1, 1, 1), (1, 1, 1)), b"", None)
    metal_device.synchronize()


def test_address_of_foreign_memory_is_refused(metal_device):
    memory = metal_device.allocate(256)
    program = metal_device.load(artifact_of(COUNT, "count", [INTS]))
    config = LaunchConfig((1, 1, 1), (64, 1, 1))
    for address in (memory.address - 8, memory.address + 257):
        with pytest.raises(LaunchError, match=r"kernel 'count' was given the address .*, which is not memory of Metal"):
            metal_device.launch(program, config, pack([INTS], address, 64), None)
    address = memory.address
    memory.release()
    with pytest.raises(LaunchError, match="or no longer"):
        metal_device.launch(program, config, pack([INTS], address, 64), None)


def test_grid_beyond_32_bits_is_refused(metal_device):
    memory = metal_device.allocate(256)
    program = metal_device.load(artifact_of(COUNT, "count", [INTS]))
    config = LaunchConfig((2**22, 1, 1), (1024, 1, 1))
    with pytest.raises(LaunchError, match="4194304 blocks of 1024 threads in x are 4294967296 threads; Metal takes"):
        metal_device.launch(program, config, pack([INTS], memory.address, 64), None)


def test_block_beyond_the_pipeline_gets_a_wider_one(open_double):
    device = open_double(pipeline_threads={"count": 512})
    memory = to_device(device, np.zeros(1024, np.int32))
    launch_count(device, memory, n=1024)
    assert to_host(device, memory, np.int32).tolist() == [1] * 1024


def test_block_beyond_every_pipeline(open_double):
    device = open_double(pipeline_threads={"count": 512}, max_pipeline_threads=768)
    memory = device.allocate(4096)
    with pytest.raises(LaunchError, match=r"can have 768 threads a block on Metal double, not 1024: .*registers"):
        launch_count(device, memory, n=1024)
