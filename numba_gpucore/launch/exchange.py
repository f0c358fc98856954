"""How other packages see a device array: addresses, __cuda_array_interface__, DLPack. Before: DeviceArray. After: they.

Sources: the CUDA Array Interface, version 3; DLPack 1.0, dlpack.h and the array API standard's __dlpack__.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from numba_gpucore.base.argtypes import ArrayType
from numba_gpucore.base.backend import Device
from numba_gpucore.base.errors import DeviceMemoryError
from numba_gpucore.base.records import dataclass

if TYPE_CHECKING:
    from numba_gpucore.launch.streams import Stream

INTERFACE_VERSION = 3


@dataclass(frozen=True)
class GpuData:
    """Where a device array lies: numba.cuda's `array.gpu_data`. Addresses are the device's; sizes in bytes."""

    device_pointer: int
    size: int

    @property
    def device_pointer_value(self) -> int:
        return self.device_pointer

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.device_pointer)


class Exchange:
    """The part of DeviceArray that other packages use; it reads what DeviceArray sets."""

    __slots__ = ()

    device: Device
    address: int
    size: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    gpu_arg_type: ArrayType
    _bound_stream: Stream | None
    _session_stream: Stream

    @property
    def alloc_size(self) -> int:
        raise NotImplementedError

    def _ghost(self) -> np.ndarray:
        raise NotImplementedError

    @property
    def gpu_data(self) -> GpuData:
        return GpuData(self.address, self.alloc_size)

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The address on the device; None inside for arrays without elements."""
        return ctypes.c_void_p(self.address if self.size else None)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        on = self._bound_stream
        return {
            "shape": self.shape,
            "strides": None if self.gpu_arg_type.layout == "C" else self.strides,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self.address if self.size else 0, False),
            "stream": None if on is None or on.queue is None else on.handle,
            "version": INTERFACE_VERSION,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's (device type, number). Raises BufferError where DLPack has no addresses for the device."""
        device: tuple[int, int] = _dlpack().device_of(self.device)
        return device

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        """A DLPack capsule of the same memory, once the work that may write it has ended."""
        dlpack = _dlpack()
        dlpack.device_of(self.device)
        self._session_stream.synchronize()
        if self._bound_stream is not None:
            self._bound_stream.synchronize()
        if self.device.uses_host_memory:
            return self.host_view().__dlpack__(**options)
        return dlpack.make_capsule(self, self.address, self.shape, self.strides, self.dtype, self.device)

    def host_view(self) -> np.ndarray:
        """A NumPy array over the same memory. Raises DeviceMemoryError where the host cannot use it."""
        if not self.device.uses_host_memory:
            raise DeviceMemoryError(f"memory of {self.device.name} cannot be used on the host; use copy_to_host()")
        return np.asarray(_HostView(self, self._ghost()))


class _HostView:
    """Keeps a device array alive as long as a NumPy array over its memory exists."""

    def __init__(self, array: Exchange, ghost: np.ndarray):
        self._array = array
        self.__array_interface__ = ghost.__array_interface__


def _dlpack() -> Any:
    """The module that few programs need; importing it takes 0.4 ms."""
    from numba_gpucore.launch import dlpack  # noqa: PLC0415

    return dlpack
