"""CUDA's error codes as exceptions. Before: a driver call. After: the user.

One family: `CudaError` carries the number and the name of the driver's own enumeration, so that a new code needs no
change here; running out of memory is also a DeviceMemoryError, and a refused launch a LaunchError.
"""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.errors import DeviceError, DeviceMemoryError, LaunchError


class CudaError(DeviceError):
    """A call of the CUDA driver failed. code, name: its CUresult. Source: CUDA Driver API, "CUresult"."""

    def __init__(self, code: int, name: str, doing: str, detail: str = ""):
        self.code = code
        self.name = name
        advice = _ADVICE.get(name, "")
        parts = [f"{doing} failed with {name} ({code})", detail.strip(), advice]
        super().__init__("; ".join(part for part in parts if part))


class CudaMemoryError(CudaError, DeviceMemoryError):
    """The device has no memory left."""


class CudaLaunchError(CudaError, LaunchError):
    """The device refused a launch."""


_STICKY = "the CUDA context cannot be used any more: restart the process"
_ADVICE = {
    "CUDA_ERROR_OUT_OF_MEMORY": "release arrays or use smaller ones",
    "CUDA_ERROR_NOT_INITIALIZED": "CUDA cannot be used in a child forked after its first use: start it with 'spawn'",
    "CUDA_ERROR_ILLEGAL_ADDRESS": f"a kernel used memory that is not its own (boundscheck=True finds where); {_STICKY}",
    "CUDA_ERROR_MISALIGNED_ADDRESS": f"a kernel used an address that is not a multiple of the item size; {_STICKY}",
    "CUDA_ERROR_LAUNCH_TIMEOUT": f"the display's watchdog ended a kernel: give it less work a launch; {_STICKY}",
    "CUDA_ERROR_LAUNCH_FAILED": _STICKY,
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "use a smaller block, or max_registers",
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": "all blocks must fit on the device at once: use a smaller grid",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the kernel was compiled for another architecture",
}
_CLASSES: dict[str, type[CudaError]] = {
    "CUDA_ERROR_OUT_OF_MEMORY": CudaMemoryError,
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": CudaLaunchError,
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": CudaLaunchError,
}


def error_of(result: Any, doing: str, detail: str = "") -> CudaError:
    """The exception for a CUresult that is not CUDA_SUCCESS."""
    return _CLASSES.get(result.name, CudaError)(int(result), result.name, doing, detail)


def check(answer: tuple[Any, ...], doing: str) -> Any:
    """What a call of `cuda.bindings.driver` returned besides its CUresult: nothing, one value or a tuple.

    doing: what the call was for, as the start of an error's text.
    """
    if answer[0]:
        raise error_of(answer[0], doing)
    return answer[1] if len(answer) == 2 else answer[1:] or None
