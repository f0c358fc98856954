"""NVIDIA GPUs as a back-end, through cuda-bindings, which is imported when a device is opened. Before: Artifact.

`abi.py` is what kernels and driver agree on; `device.py` and what it imports run them.
"""

from numba_gpucore.base.backend import Backend
from numba_ptxplus.architectures import arch_of, older_archs
from numba_ptxplus.driver.abi import LAUNCH_ABI
from numba_ptxplus.driver.device import open_device
from numba_ptxplus.driver.discovery import count_devices
from numba_ptxplus.toolchain import toolchain_id

BACKEND = Backend(
    kind="cuda",
    launch_abi=LAUNCH_ABI,
    toolchain_id=toolchain_id,
    count_devices=count_devices,
    open_device=open_device,
    codegen="numba_ptxplus.codegen:CODEGEN",
    parse_arch=arch_of,
    older_archs=older_archs,
)
