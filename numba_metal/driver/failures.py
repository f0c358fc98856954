"""Texts of what Metal reports: refused source, failed command buffers, time-outs. Before: Metal. After: the user."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import Any

from numba_gpucore.base.errors import DeviceError, ToolchainError

#: MTLCommandBufferError -> what to do. Source: Metal, "MTLCommandBufferError".
_ADVICE = {
    "MTLCommandBufferErrorInternal": "run with boundscheck=True; if it stays, report the kernel's inspect_msl()",
    "MTLCommandBufferErrorTimeout": "the system stops long kernels: give a launch less work, look for endless loops",
    "MTLCommandBufferErrorPageFault": "an index is out of bounds: run with boundscheck=True",
    "MTLCommandBufferErrorAccessRevoked": "the system bans programs whose kernels hang; start a new process",
    "MTLCommandBufferErrorNotPermitted": "this process may not use the GPU, for instance in the background",
    "MTLCommandBufferErrorOutOfMemory": "use smaller arrays, or release some",
    "MTLCommandBufferErrorInvalidResource": "memory was released while a kernel used it",
    "MTLCommandBufferErrorDeviceRemoved": "the GPU is gone; start a new process",
    "MTLCommandBufferErrorStackOverflow": "use smaller local arrays or less recursion",
}


def describe_error(error: Any) -> str:
    """Text of an NSError, which may be missing."""
    return "no reason given" if error is None else str(error.localizedDescription())


def refused_source(kernel_name: str, source: str, error: Any) -> ToolchainError:
    """Apple's compiler did not take the text, which is kept on disk."""
    with tempfile.NamedTemporaryFile(
        "w", prefix=f"{kernel_name}-", suffix=".metal", encoding="utf-8", delete=False
    ) as file:
        file.write(source)
    return ToolchainError(
        f"Metal's compiler refused kernel '{kernel_name}', whose source is kept in {file.name}: {describe_error(error)}"
    )


def failed_batch(metal: Any, kernel_names: Iterable[str], error: Any) -> DeviceError:
    """A command buffer ended with an error; any of the kernels in it may be the cause."""
    code = None if error is None else error.code()
    name = next((name for name in _ADVICE if getattr(metal, name) == code), f"error {code}")
    advice = _ADVICE.get(name, "")
    return DeviceError(
        f"the GPU failed while it ran {_list_kernels(kernel_names)}: {describe_error(error)} ({name})"
        f"{'; ' + advice if advice else ''}"
    )


def timed_out(kernel_names: Iterable[str], timeout_s: float) -> DeviceError:
    return DeviceError(
        f"{_list_kernels(kernel_names)} did not end within {timeout_s:g} s; "
        "give the kernel less work a launch, or raise NUMBA_METAL_TIMEOUT_S"
    )


def _list_kernels(names: Iterable[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return f"kernel {quoted[0]}" if len(quoted) == 1 else f"one of the kernels {', '.join(quoted)}"
