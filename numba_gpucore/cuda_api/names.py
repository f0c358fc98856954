"""The public names of a target package, most of them numba.cuda's. Before: launch, language. After: target packages.
Those that few programs use are made where one is asked for (`submodules.SELDOM_NAMES`).

The kernel language is the same object in every package; functions that need a device are bound to the package's target.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from numba_gpucore import cache_hints, dtypes, language, vector_types
from numba_gpucore.cuda_api import driver_only, execution
from numba_gpucore.cuda_api.devices import DeviceNames, MemoryInfo
from numba_gpucore.cuda_api.execution import ExecutionNames
from numba_gpucore.cuda_api.ufunc_names import UFuncNames
from numba_gpucore.launch import allocate
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.jit import jit
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.wrappers import In, InOut, Out


def public_names(platform: Platform) -> dict[str, Any]:
    """Every public name of `platform.target.package` but the SELDOM_NAMES, with its value."""
    return {
        **language_names(),
        **vector_types.vector_names(),
        **dtype_names(),
        **_array_names(Allocator(platform)),
        **_device_names(DeviceNames(platform)),
        **_execution_names(ExecutionNames(platform)),
        "jit": _bound(platform, jit),
        **_ufunc_names(UFuncNames(platform)),
        "In": In,
        "Out": Out,
        "InOut": InOut,
        **_driver_names(),
        **_installers(platform.target.package),
    }


def _defined_in(module: ModuleType) -> dict[str, Any]:
    """The module's public values, without what it imports."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", module.__name__) == module.__name__
    }


def language_names() -> dict[str, Any]:
    """What a kernel may call: grid, threadIdx, shared, atomic, ldca, …"""
    helpers = {"KernelVector", "KernelInteger", "F", "annotations", "kernel_only", "refuse_on_host"}
    names = {name: value for name, value in _defined_in(language).items() if name not in helpers}
    hints = {function.__name__: function for function in (*cache_hints.LOADS, *cache_hints.STORES)}
    return {**names, **hints}


def dtype_names() -> dict[str, Any]:
    """float32, int64, void, …"""
    kinds = (dtypes.DType, dtypes.Void)
    return {name: value for name, value in vars(dtypes).items() if isinstance(value, kinds)}


def _array_names(arrays: Allocator) -> dict[str, Any]:
    return {
        "to_device": arrays.to_device,
        "device_array": arrays.device_array,
        "device_array_like": arrays.device_array_like,
        "pinned_array": arrays.pinned_array,
        "pinned_array_like": arrays.pinned_array_like,
        "mapped_array": arrays.mapped_array,
        "mapped_array_like": arrays.mapped_array_like,
        "managed_array": arrays.managed_array,
        "mapped": arrays.mapped,
        "as_cuda_array": arrays.as_cuda_array,
        "from_cuda_array_interface": arrays.from_cuda_array_interface,
        "is_cuda_array": allocate.is_cuda_array,
        "pinned": arrays.pinned,
        "defer_cleanup": allocate.defer_cleanup,
    }


def _driver_names() -> dict[str, Any]:
    """What programs catch or ask, and stand-ins for what only NVIDIA's driver can do."""
    return {
        **driver_only.STAND_INS,
        "runtime": driver_only.Runtime(),
        "is_supported_version": driver_only.Runtime().is_supported_version,
        "cuda_error": driver_only.cuda_error,
        "MemoryInfo": MemoryInfo,
        "HAS_NUMBA": True,
        "implementation": "numba-metal",
    }


def _device_names(devices: DeviceNames) -> dict[str, Any]:
    return {
        "gpus": devices.gpus,
        "current_device": devices.current_device,
        "get_current_device": devices.current_device,
        "select_device": devices.select_device,
        "list_devices": devices.list_devices,
        "current_context": devices.current_context,
        "is_available": devices.is_available,
        "detect": devices.detect,
        "is_float16_supported": devices.is_float16_supported,
        "is_bfloat16_supported": devices.is_bfloat16_supported,
        "is_fp8_supported": devices.is_fp8_supported,
        "synchronize": devices.synchronize,
        "close": devices.close,
    }


def _execution_names(streams: ExecutionNames) -> dict[str, Any]:
    return {
        "stream": streams.stream,
        "default_stream": streams.default_stream,
        "legacy_default_stream": streams.default_stream,
        "per_thread_default_stream": streams.default_stream,
        "external_stream": streams.external_stream,
        "event": streams.event,
        "event_elapsed_time": execution.event_elapsed_time,
        "profile_start": execution.profile_start,
        "profile_stop": execution.profile_stop,
        "profiling": execution.profiling,
    }


def _ufunc_names(ufuncs: UFuncNames) -> dict[str, Any]:
    return {
        "vectorize": ufuncs.vectorize,
        "guvectorize": ufuncs.guvectorize,
        "reduce": ufuncs.reduce,
        "Reduce": ufuncs.reduce,
    }


def _bound(platform: Platform, function: Callable[..., Any]) -> Any:
    bound = functools.partial(function, platform)
    return functools.update_wrapper(bound, function)


def _installers(package: str) -> dict[str, Callable[..., None]]:
    def install_as_cuda() -> None:
        """Let `from numba import cuda` and `import numba.cuda` give this package in this process, and in those that it
        starts."""
        # 0.3 ms of each import
        from numba_gpucore.cuda_api.install import install_module_as_cuda  # noqa: PLC0415

        install_module_as_cuda(sys.modules[package])

    def load_ipython_extension(ipython: Any) -> None:
        """What `%load_ext` calls: the same as install_as_cuda()."""
        install_as_cuda()

    return {"install_as_cuda": install_as_cuda, "load_ipython_extension": load_ipython_extension}
