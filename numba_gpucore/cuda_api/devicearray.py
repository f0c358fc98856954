"""numba.cuda.cudadrv.devicearray: the names that programs take from it. Before: launch.arrays. After: submodules."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from numba_gpucore.array_interface import is_foreign_array
from numba_gpucore.launch.arrays import DeviceArray
from numba_gpucore.launch.mapped import MappedArray
from numba_gpucore.launch.staging import as_host_array


def is_cuda_ndarray(obj: Any) -> bool:
    """True for device arrays."""
    return isinstance(obj, DeviceArray)


def verify_cuda_ndarray_interface(obj: Any) -> None:
    """Raise TypeError unless `obj` is a device array."""
    if not is_cuda_ndarray(obj):
        raise TypeError(f"expected a device array, got {type(obj).__name__}")


def sentry_contiguous(ary: Any) -> None:
    """Raise ValueError unless the array is contiguous in C or F order."""
    if not (ary.flags["C_CONTIGUOUS"] or ary.flags["F_CONTIGUOUS"]):
        raise ValueError("the array is not contiguous; pass numpy.ascontiguousarray(a)")


def array_core(ary: Any) -> Any:
    """The array without repetitions: axes with stride 0 are cut to their first element."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple(0 if stride == 0 else slice(None) for stride in ary.strides)]


def is_contiguous(ary: Any) -> bool:
    """Whether the array is in C order, axes with one element or stride 0 aside."""
    step = ary.dtype.itemsize
    for extent, stride in zip(reversed(ary.shape), reversed(ary.strides), strict=True):
        if extent > 1 and stride != 0:
            if stride != step:
                return False
            step *= extent
    return True


def module_names(package: ModuleType) -> Mapping[str, Any]:
    """The module's names, for the device of `package`."""

    def auto_device(obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False) -> tuple[Any, bool]:
        """A device array with the content of `obj`, and whether it is new (False: `obj` was on the device)."""
        if is_cuda_ndarray(obj) or isinstance(obj, MappedArray):
            return obj, False
        if is_foreign_array(obj):
            return package.as_cuda_array(obj), False
        source = as_host_array(obj)
        sentry_contiguous(source)
        return package.to_device(source, stream=stream, copy=copy), True

    def from_array_like(ary: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceArray:
        """A device array with the shape, strides and dtype of `ary`: new memory, or that which `gpu_data` describes."""
        if gpu_data is None:
            return package.device_array(ary.shape, ary.dtype, ary.strides, stream=stream)
        return package.from_cuda_array_interface(
            {
                "shape": ary.shape,
                "strides": ary.strides,
                "typestr": ary.dtype.str,
                "descr": ary.dtype.descr,
                "data": (int(gpu_data.device_pointer), False),
                "version": 3,
            },
            owner=gpu_data,
        )

    def from_record_like(rec: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceArray:
        """A 0-D device array with the dtype of `rec`."""
        return from_array_like(np.empty((), rec.dtype), stream, gpu_data)

    return {
        "array_core": array_core,
        "is_contiguous": is_contiguous,
        "from_array_like": from_array_like,
        "from_record_like": from_record_like,
        "require_cuda_ndarray": verify_cuda_ndarray_interface,
        "DeviceNDArray": DeviceArray,
        "DeviceNDArrayBase": DeviceArray,
        "MappedNDArray": MappedArray,
        "ManagedNDArray": MappedArray,
        "is_cuda_ndarray": is_cuda_ndarray,
        "verify_cuda_ndarray_interface": verify_cuda_ndarray_interface,
        "sentry_contiguous": sentry_contiguous,
        "auto_device": auto_device,
    }
