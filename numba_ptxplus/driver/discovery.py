"""How many NVIDIA GPUs there are, without loading cuda-bindings. Before: session. After: open_device.

The driver library is asked through ctypes: importing cuda-bindings takes 0.1 s and more, which a process that runs on
the CPU must not pay.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import warnings

from numba_gpucore.base.errors import PerformanceWarning

BINDINGS_PACKAGE = "cuda-bindings"
_LIBRARIES = {"win32": "nvcuda.dll", "darwin": None}


def count_devices() -> int:
    """0 where GPU, driver or cuda-bindings are missing. A GPU without cuda-bindings earns a PerformanceWarning."""
    count = count_gpus()
    if count and not has_bindings():
        warnings.warn(
            f"this machine has an NVIDIA GPU, but kernels run on the CPU: pip install {BINDINGS_PACKAGE} to use it",
            PerformanceWarning,
            stacklevel=2,
        )
        return 0
    return count


def has_bindings() -> bool:
    try:
        return importlib.util.find_spec("cuda.bindings") is not None
    except ModuleNotFoundError:
        return False


def count_gpus() -> int:
    """What the driver says; 0 without a driver. Source: CUDA Driver API, cuInit, cuDeviceGetCount."""
    library = _LIBRARIES.get(sys.platform, "libcuda.so.1")
    if library is None:
        return 0
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value
