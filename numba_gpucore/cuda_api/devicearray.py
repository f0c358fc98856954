"""numba.cuda.cudadrv.devicearray: the names that programs take from it. Before: launch.arrays. After: submodules."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from numba_gpucore.launch.arrays import DeviceArray
from numba_gpucore.launch.foreign import is_foreign_array
from numba_gpucore.launch.mapped import MappedArray


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


def module_names(package: ModuleType) -> Mapping[str, Any]:
    """The module's names, for the device of `package`."""

    def auto_device(obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False) -> tuple[Any, bool]:
        """A device array with the content of `obj`, and whether it is new (False: `obj` was on the device)."""
        if is_cuda_ndarray(obj) or isinstance(obj, MappedArray):
            return obj, False
        if is_foreign_array(obj):
            return package.as_cuda_array(obj), False
        source = np.asarray(obj)
        sentry_contiguous(source)
        return package.to_device(source, stream=stream, copy=copy), True

    return {
        "DeviceNDArray": DeviceArray,
        "DeviceNDArrayBase": DeviceArray,
        "MappedNDArray": MappedArray,
        "ManagedNDArray": MappedArray,
        "is_cuda_ndarray": is_cuda_ndarray,
        "verify_cuda_ndarray_interface": verify_cuda_ndarray_interface,
        "sentry_contiguous": sentry_contiguous,
        "auto_device": auto_device,
    }
