"""The target "ptxplus": what its programs mean, and where they can run. Before: base. After: numba_ptxplus."""

from __future__ import annotations

from numba_gpucore.base.target import NumberRules, Target
from numba_gpucore.launch.platform import Platform

TARGET = Target(
    name="ptxplus",
    package="numba_ptxplus",
    backends=("cuda", "cpu"),
    device_variable="NUMBA_PTXPLUS_DEVICE",
    rules=NumberRules(),
    speaks_as_cuda=True,
)

PLATFORM = Platform(TARGET, (("cuda", "numba_ptxplus.driver:BACKEND"), ("cpu", "numba_gpucore.cpu:BACKEND")))
