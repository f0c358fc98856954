"""numba.cuda's exception classes, for programs that catch them. Before: base.errors. After: the program."""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.errors import DeviceError, GpuError, ToolchainError


class CudaSupportError(DeviceError, ImportError):
    """numba.cuda: no usable driver. Never raised here: where there is no GPU, kernels run on the CPU device."""


class CudaDriverError(DeviceError):
    """numba.cuda: the driver failed."""


class CudaRuntimeError(DeviceError):
    """numba.cuda: CUDA's runtime library failed."""


class CudaAPIError(CudaDriverError):
    """numba.cuda: a call of the driver failed with a code."""

    def __init__(self, code: int, msg: Any):
        super().__init__(f"[{code}] {msg}")
        self.code = code
        self.msg = msg


class LinkerError(ToolchainError):
    """numba.cuda: linking failed."""


class NvvmError(ToolchainError):
    """numba.cuda: NVVM failed. LLVM does its work here."""


class NvvmSupportError(DeviceError, ImportError):
    """numba.cuda: there is no NVVM."""


class NvvmWarning(UserWarning):
    """numba.cuda: NVVM complains."""


class NvrtcError(ToolchainError):
    """numba.cuda: NVRTC failed."""


class NvrtcCompilationError(NvrtcError):
    """numba.cuda: NVRTC refused C++."""


class NvrtcSupportError(DeviceError, ImportError):
    """numba.cuda: there is no NVRTC."""


class CCSupportError(DeviceError):
    """numba.cuda: a compute capability is not supported."""


class KernelRuntimeError(GpuError, RuntimeError):
    """numba.cuda: a kernel failed. Here kernels raise the exceptions that they name."""
