"""NVIDIA GPUs as a back-end, through cuda-bindings, which is imported when a device is opened. Before: Artifact.

`abi.py` is what kernels and driver agree on; `device.py` and what it imports run them.
"""

from typing import Any

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import Backend
from numba_ptxplus.architectures import arch_of, is_same_generation, older_archs
from numba_ptxplus.driver.abi import FACT_PTX_IS_WHOLE, LAUNCH_ABI
from numba_ptxplus.driver.discovery import count_devices


def _open_device(index: int) -> Any:
    from numba_ptxplus.driver.device import open_device  # noqa: PLC0415  1 ms, where there is a GPU

    return open_device(index)


def _toolchain_id() -> str:
    from numba_ptxplus.toolchain import toolchain_id  # noqa: PLC0415  5 ms, likewise

    return toolchain_id()


def _runs_on(artifact: Artifact, arch: str) -> bool:
    return is_same_generation(artifact.arch, arch) or bool(artifact.fact(FACT_PTX_IS_WHOLE))


BACKEND = Backend(
    kind="cuda",
    launch_abi=LAUNCH_ABI,
    toolchain_id=_toolchain_id,
    count_devices=count_devices,
    open_device=_open_device,
    codegen="numba_ptxplus.codegen:CODEGEN",
    parse_arch=arch_of,
    older_archs=older_archs,
    runs_on=_runs_on,
    language="ptx",
)
