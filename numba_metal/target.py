"""The target "metal": what its programs mean, and where they can run. Before: base. After: numba_metal."""

from __future__ import annotations

from numba_gpucore.base.target import NumberRules, Target
from numba_gpucore.launch.platform import Platform

#: Source: Metal Feature Set Tables, "Maximum total threadgroup memory allocation" of all Apple GPUs.
MAX_SHARED_NBYTES = 32 * 1024

TARGET = Target(
    name="metal",
    package="numba_metal",
    backends=("metal", "cpu"),
    device_variable="NUMBA_METAL_DEVICE",
    rules=NumberRules(
        weak_literals=True,
        has_float64=False,
        has_recursion=False,
        has_atomic64=False,
        has_grid_barrier=False,
        has_captured_arrays=False,
        max_static_shared_nbytes=MAX_SHARED_NBYTES,
        max_shared_nbytes=MAX_SHARED_NBYTES,
    ),
)

PLATFORM = Platform(TARGET, (("metal", "numba_metal.driver:BACKEND"), ("cpu", "numba_gpucore.cpu:BACKEND")))
