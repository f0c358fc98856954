"""Hand-written kernels, and what it takes to launch them through the Metal driver. Before: tests. After: driver."""

import numpy as np

from numba_gpucore.base.argtypes import ArrayType, ScalarType
from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import LaunchConfig
from numba_gpucore.base.params import lay_out_params
from numba_metal.driver.abi import FACT_MATH_MODE, FACT_MSL_VERSION, LAUNCH_ABI

FLOATS = ArrayType(ScalarType("float32", 4), 1, "C")
INTS = ArrayType(ScalarType("int32", 4), 1, "C")
HEAD = "#include <metal_stdlib>\n#pragma METAL fp contract(off)\nusing namespace metal;\n"
ONE_ARRAY = "struct Args { device int* x; long n; };\n"
SCALE = (
    HEAD
    + """
struct Args { device const float* x; long nx; device float* y; long ny; float a; };
kernel void scale(constant Args& args [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    if (long(i) < args.ny) args.y[i] = args.a * args.x[i];
}
"""
)
COUNT = (
    HEAD
    + ONE_ARRAY
    + """
kernel void count(constant Args& args [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    if (long(i) < args.n) args.x[i] = args.x[i] + 1;
}
"""
)
REVERSE = (
    HEAD
    + ONE_ARRAY
    + """
struct Launch { ulong program; ulong dynamic_shared_nbytes; };
kernel void reverse(constant Args& args [[buffer(0)]], constant Launch& launch [[buffer(2)]],
                    threadgroup int* tile [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]])
{
    tile[i] = args.x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint n = uint(launch.dynamic_shared_nbytes) / 4u;
    args.x[i] = tile[n - 1u - i];
}
"""
)
THROW = (
    HEAD
    + ONE_ARRAY
    + """
struct Launch { ulong program; ulong dynamic_shared_nbytes; };
kernel void check(constant Args& args [[buffer(0)]], device atomic_uint* mailbox [[buffer(1)]],
                  constant Launch& launch [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (args.x[i] >= 0) return;
    atomic_fetch_add_explicit(&mailbox[0], 1u, memory_order_relaxed);
    if (atomic_exchange_explicit(&mailbox[1], 1u, memory_order_relaxed) != 0u) return;
    atomic_store_explicit(&mailbox[2], 5u, memory_order_relaxed);
    atomic_store_explicit(&mailbox[7], i, memory_order_relaxed);
    atomic_store_explicit(&mailbox[10], uint(launch.program), memory_order_relaxed);
}
"""
)


def artifact_of(source, entry, arg_types, *, msl_version=301, **facts):
    all_facts = {FACT_MATH_MODE: 0, FACT_MSL_VERSION: msl_version, **facts}
    return Artifact(
        kernel_name=entry,
        entry=entry,
        backend="metal",
        arch="apple-msl3.1",
        launch_abi=LAUNCH_ABI,
        arg_types=tuple(arg_types),
        code=source.encode(),
        shared_nbytes=0,
        sites=(),
        backend_facts=tuple(sorted(all_facts.items())),
    )


def pack(arg_types, *numbers):
    """A parameter block: `numbers` fill the slots in order."""
    slots = lay_out_params(arg_types)
    letters = {"float": "f", "address": "u"}
    dtype = np.dtype(
        {
            "names": [str(i) for i in range(len(slots))],
            "formats": [f"{letters.get(slot.kind, 'i')}{slot.nbytes}" for slot in slots],
            "offsets": [slot.offset_nbytes for slot in slots],
        }
    )
    return np.array([numbers], dtype).tobytes()


def to_device(device, array):
    memory = device.allocate(array.nbytes)
    device.write(memory, 0, memoryview(array.reshape(-1).view(np.uint8)), None)
    return memory


def to_host(device, memory, dtype, queue=None):
    out = np.empty(memory.nbytes, np.uint8)
    device.read(memory, 0, memoryview(out), queue)
    return out.view(dtype)


def launch_count(device, memory, times=1, queue=None, n=64):
    program = device.load(artifact_of(COUNT, "count", [INTS]))
    for _ in range(times):
        device.launch(program, LaunchConfig((1, 1, 1), (n, 1, 1)), pack([INTS], memory.address, n), queue)
    return program
