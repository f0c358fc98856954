"""The target "ptxplus": what its programs mean, and where they can run. Before: base. After: numba_ptxplus."""

from __future__ import annotations

from numba_gpucore.base.target import NumberRules, Target
from numba_gpucore.launch.platform import Platform

#: Static shared memory of a block on every architecture; what goes beyond must be asked for at launch.
#: Source: CUDA C++ Programming Guide, "Compute Capabilities", note on maximum shared memory per thread block.
MAX_STATIC_SHARED_NBYTES = 48 * 1024

TARGET = Target(
    name="ptxplus",
    package="numba_ptxplus",
    backends=("cuda", "cpu"),
    device_variable="NUMBA_PTXPLUS_DEVICE",
    rules=NumberRules(max_static_shared_nbytes=MAX_STATIC_SHARED_NBYTES),
    speaks_as_cuda=True,
)

PLATFORM = Platform(TARGET, (("cuda", "numba_ptxplus.driver:BACKEND"), ("cpu", "numba_gpucore.cpu:BACKEND")))
