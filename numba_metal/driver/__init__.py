"""Metal as a back-end: Apple GPUs through PyObjC, which is imported when a device is looked for. Before: Artifact.

`abi.py` is what kernels and driver agree on; `device.py` … `batch.py` run them.
"""

from typing import Any

from numba_gpucore.base.backend import Backend
from numba_metal.architectures import DEFAULT_MSL_VERSION, arch_of, older_archs, parse_arch
from numba_metal.driver.abi import LAUNCH_ABI
from numba_metal.driver.bridge import count_devices


def _open_device(index: int) -> Any:
    from numba_metal.driver.device import open_device  # noqa: PLC0415  5 ms, where there is a GPU

    return open_device(index)


def _toolchain_id() -> str:
    """An Artifact is text, which the system's own compiler takes when it is loaded: no tool of ours decides it."""
    return "msl"


BACKEND = Backend(
    kind="metal",
    launch_abi=LAUNCH_ABI,
    toolchain_id=_toolchain_id,
    count_devices=count_devices,
    open_device=_open_device,
    codegen="numba_metal.codegen:CODEGEN",
    parse_arch=parse_arch,
    older_archs=older_archs,
    language="cpp",
    default_arch=arch_of(DEFAULT_MSL_VERSION),
)
