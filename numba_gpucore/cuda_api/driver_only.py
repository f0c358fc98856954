"""Names of numba.cuda that mean NVIDIA's driver and tool chain alone. Before: nothing. After: names, module_tables.

They exist, so that programs that only import or mention them run; using one raises NotOfferedError, which says why.
`REASONS` is the one list of them; docs/porting.md shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from numba_gpucore.base.errors import NotOfferedError

_MEMORY_MANAGER = "memory comes from the device's own allocator, which no plug-in replaces"
_IPC = "memory is shared between processes by handles of NVIDIA's driver; share host memory instead"
_TOOLS = "it is part of NVIDIA's tool chain; kernels are compiled by LLVM here"
_DRIVER = "it is a call of NVIDIA's driver"

#: What compiles without launching, of numba_ptxplus only: it gives PTX.
PTX_COMPILERS = (
    "compile",
    "compile_all",
    "compile_for_current_device",
    "compile_ptx",
    "compile_ptx_for_current_device",
)

#: Name (of the package, or of a module below it) → why it is not offered.
REASONS: Mapping[str, str] = {
    "BaseCUDAMemoryManager": _MEMORY_MANAGER,
    "HostOnlyCUDAMemoryManager": _MEMORY_MANAGER,
    "GetIpcHandleMixin": _MEMORY_MANAGER,
    "set_memory_manager": _MEMORY_MANAGER,
    "MemoryPointer": _MEMORY_MANAGER,
    "MappedMemory": _MEMORY_MANAGER,
    "PinnedMemory": _MEMORY_MANAGER,
    "IpcHandle": _IPC,
    "open_ipc_array": _IPC,
}


def refusal(name: str, reason: str = _DRIVER) -> NotOfferedError:
    """The error that using `name` raises."""
    return NotOfferedError(f"numba.cuda.{name} is not offered: {reason}")


class DriverOnly:
    """Base of the classes that stand for names of NVIDIA's driver: making an object of one raises NotOfferedError."""

    def __new__(cls, *args: Any, **keywords: Any) -> NoReturn:
        name = next(base.__name__ for base in cls.__mro__ if base.__name__ in REASONS)
        raise refusal(name, REASONS[name])


def _stand_in(name: str) -> Any:
    """What stands for a name: a class where it starts with a capital letter, else a function."""
    if name[0].isupper():
        return type(name, (DriverOnly,), {"__doc__": f"Not offered: {REASONS[name]}.", "__module__": __name__})
    return refusing_function(name, REASONS[name])


def refusing_function(name: str, reason: str) -> Any:
    """A function of that name that raises NotOfferedError."""

    def refuse(*args: Any, **keywords: Any) -> NoReturn:
        raise refusal(name, reason)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not offered: {reason}."
    return refuse


STAND_INS: Mapping[str, Any] = {name: _stand_in(name) for name in REASONS}


def nvrtc(package: ModuleType) -> Mapping[str, Any]:
    """NVRTC compiles CUDA C++; there is none here."""

    def compile(*args: Any, **keywords: Any) -> NoReturn:
        raise refusal("cudadrv.nvrtc.compile", _TOOLS)

    return {"compile": compile}


def nvvm(package: ModuleType) -> Mapping[str, Any]:
    """NVVM is a code generator; LLVM's is used."""

    def compile_ir(*args: Any, **keywords: Any) -> NoReturn:
        raise refusal("cudadrv.nvvm.compile_ir", _TOOLS)

    def is_available() -> bool:
        """True: a code generator is there."""
        return True

    return {"compile_ir": compile_ir, "is_available": is_available}


class Runtime:
    """`numba.cuda.runtime`, which tells the version of CUDA's tool kit."""

    def get_version(self) -> tuple[int, int]:
        """Raises NotOfferedError: no tool kit takes part."""
        raise refusal("runtime.get_version", _TOOLS)

    def is_supported_version(self) -> bool:
        """True: whatever is needed is there."""
        return True


def cuda_error() -> None:
    """numba.cuda: what went wrong when the driver was loaded. None: where there is no GPU, the CPU device is used."""


def runtime(package: ModuleType) -> Mapping[str, Any]:
    return {"Runtime": Runtime, "runtime": package.runtime, "get_version": package.runtime.get_version}
