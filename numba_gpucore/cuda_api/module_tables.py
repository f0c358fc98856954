"""The names of numba.cuda's smaller modules, one function a module. Before: submodules, when a program asks. After: the
program. Each takes the package whose device the names are for.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from numba_gpucore.cuda_api import driver_errors, driver_only
from numba_gpucore.launch.device_function import DeviceFunction
from numba_gpucore.launch.kernel import ForAll, Kernel
from numba_gpucore.launch.platform import platform_of
from numba_gpucore.launch.streams import Event, Stream
from numba_gpucore.launch.wrappers import ArgumentWrapper, In, InOut, Out


def empty(package: ModuleType) -> Mapping[str, Any]:
    """For packages whose modules are reached by name only, and for modules all of whose names are NVIDIA's driver's."""
    return {}


def api(package: ModuleType) -> Mapping[str, Any]:
    return {name: getattr(package, name) for name in dir(package) if not name.startswith("_")}


def args(package: ModuleType) -> Mapping[str, Any]:
    return {"In": In, "Out": Out, "InOut": InOut, "ArgHint": ArgumentWrapper, "wrap_arg": wrap_arg}


def wrap_arg(value: Any, default: type[ArgumentWrapper] = InOut) -> ArgumentWrapper:
    """`value` with the copies that `default` means, unless it says itself which it needs."""
    return value if isinstance(value, ArgumentWrapper) else default(value)


def decorators(package: ModuleType) -> Mapping[str, Any]:
    return {"jit": package.jit, "declare_device": package.declare_device}


def devices(package: ModuleType) -> Mapping[str, Any]:
    return {
        "gpus": package.gpus,
        "get_context": package.current_context,
        "reset": package.close,
        "require_context": lambda function: function,  # devices are opened when they are used
    }


def driver(package: ModuleType) -> Mapping[str, Any]:
    return {
        **driver_only.STAND_INS,
        "driver": DriverView(package),
        "Device": type(package.current_device()),
        "Stream": Stream,
        "Event": Event,
        "LinkerError": driver_errors.LinkerError,
        "CudaAPIError": driver_errors.CudaAPIError,
        "_have_nvjitlink": _have_nvjitlink,
    }


class DriverView:
    """`numba.cuda.cudadrv.driver.driver`, as far as it tells about devices."""

    def __init__(self, package: ModuleType):
        self._package = package
        self.is_available = True

    def get_device_count(self) -> int:
        return len(self._package.gpus)

    def get_device(self, devnum: int = 0) -> Any:
        return self._package.gpus[devnum]._device

    def list_devices(self) -> list[Any]:
        return [manager._device for manager in self._package.gpus]

    def get_version(self) -> tuple[int, int]:
        """(major, minor) of CUDA's driver. Raises NotOfferedError."""
        raise driver_only.refusal("cudadrv.driver.driver.get_version")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"the driver has no {name!r}")
        raise driver_only.refusal(f"cudadrv.driver.driver.{name}")


def _have_nvjitlink() -> bool:
    """Whether `lto=True` is taken, which programs ask by this name: kernels are always linked and optimised whole."""
    return True


def descriptor(package: ModuleType) -> Mapping[str, Any]:
    """`cuda_target`, Numba's view of the target, loads the compiler."""
    target = platform_of(package).target
    return {"cuda_target": import_module("numba_gpucore.compile.dispatcher").descriptor_for(target.name)}


def dispatcher(package: ModuleType) -> Mapping[str, Any]:
    return {"CUDADispatcher": Kernel, "ForAll": ForAll, "DeviceFunction": DeviceFunction}


def errors(package: ModuleType) -> Mapping[str, Any]:
    """numba.cuda's own errors, and all of Numba's."""
    numba_errors = import_module("numba.core.errors")
    return {
        **{name: value for name, value in vars(numba_errors).items() if not name.startswith("_")},
        "KernelRuntimeError": driver_errors.KernelRuntimeError,
        "CudaLoweringError": numba_errors.LoweringError,
    }


def nrt(package: ModuleType) -> Mapping[str, Any]:
    return {"rtsys": NoHeapStatistics(), "NRT_LIBRARY": None}


AllocationStatistics = namedtuple("AllocationStatistics", ["alloc", "free", "mi_alloc", "mi_free"])


class NoHeapStatistics:
    """`numba.cuda.memory_management.nrt.rtsys`: kernels never allocate memory, so all counts are 0."""

    def memsys_enable_stats(self, stream: Any = None) -> None:
        """Nothing to count."""

    def memsys_disable_stats(self, stream: Any = None) -> None:
        """Nothing to count."""

    def memsys_stats_enabled(self, stream: Any = None) -> bool:
        return True

    def get_allocation_stats(self, stream: Any = None) -> AllocationStatistics:
        return AllocationStatistics(0, 0, 0, 0)
