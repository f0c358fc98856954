"""to_device, device_array and their kin. Before: the user's call. After: DeviceArray, MappedArray, NumPy arrays.

Names, arguments and defaults are numba.cuda's.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import prod
from typing import Any, TypeVar

import numpy as np

from numba_gpucore.array_interface import ForeignView, contiguous_strides, is_foreign_array, read_interface, span_nbytes
from numba_gpucore.base.backend import Device
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.launch.arrays import DeviceArray
from numba_gpucore.launch.foreign import require_host_reachable, waits_for_streams
from numba_gpucore.launch.mapped import HostBlock, MappedArray
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.staging import array_address, as_host_array, bytes_at
from numba_gpucore.launch.streams import check_stream

Host = TypeVar("Host", bound=np.ndarray)


class Allocator:
    """Makes arrays on a target's current device."""

    def __init__(self, platform: Platform):
        self._platform = platform

    def to_device(self, obj: Any, stream: Any = 0, copy: bool = True, to: DeviceArray | None = None) -> DeviceArray:
        """Copy an array-like to the device, to a new device array or to `to`. A device array is returned as it is;
        a foreign one (`__cuda_array_interface__`) is wrapped without a copy. copy=False only allocates."""
        if to is not None:
            to.copy_to_device(obj, stream=stream)
            return to
        if isinstance(obj, DeviceArray):
            return obj
        if is_foreign_array(obj):
            return self.as_cuda_array(obj)
        source = as_host_array(obj)
        order = "F" if source.flags.f_contiguous and not source.flags.c_contiguous else "C"
        result = self.device_array(source.shape, source.dtype, order=order, stream=stream)
        if copy:
            result.copy_to_device(source, stream=stream)
        return result

    def device_array(
        self, shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0
    ) -> DeviceArray:
        """An array of unspecified content. `strides` in bytes. Raises DeviceMemoryError, ValueError."""
        dtype = np.dtype(dtype)
        shape = check_shape(shape)
        strides = check_strides(strides, shape, dtype.itemsize, order)
        low, high = span_nbytes(shape, strides, dtype.itemsize)
        on = check_stream(stream)
        session = default_session()
        device = session.current_device(self._platform) if on is None else on.device
        memory = device.allocate(high - low)
        default = session.default_stream(device)
        return DeviceArray(device, memory, shape, strides, dtype, default, memory.address - low, on)

    def device_array_like(self, ary: Any, stream: Any = 0) -> DeviceArray:
        """An array of the shape, dtype and, where it is dense, memory order of `ary`."""
        return self.device_array(ary.shape, ary.dtype, strides_like(ary), stream=stream)

    def as_cuda_array(self, obj: Any, sync: bool = True) -> DeviceArray:
        """A device array over memory that an object describes by `__cuda_array_interface__`; keeps `obj` alive.

        It is used on the stream that the object names; sync: wait for that stream's work first.
        """
        if not is_foreign_array(obj):
            raise TypeError(f"*obj* doesn't implement the cuda array interface: {type(obj).__name__}")
        return self.from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)

    def from_cuda_array_interface(self, desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceArray:
        """A device array over the memory that a `__cuda_array_interface__` dictionary describes, as `as_cuda_array`."""
        view = read_interface(desc)
        session = default_session()
        device = session.current_device(self._platform)
        if device.uses_host_memory:
            require_host_reachable(view)
        on = None if view.stream is None else session.find_stream(device, view.stream)
        if on is not None and sync and waits_for_streams():
            on.synchronize()
        memory = BorrowedMemory(view, owner)
        default = session.default_stream(device)
        return DeviceArray(device, memory, view.shape, view.strides, view.dtype, default, view.address, on)

    def pinned_array(self, shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C") -> np.ndarray:
        """A host array; on GPUs in page-locked memory, which is copied faster. Raises DeviceMemoryError."""
        return self._host_array(np.ndarray, "allocate_pinned", shape, dtype, strides, order)

    def pinned_array_like(self, ary: Any) -> np.ndarray:
        return self.pinned_array(ary.shape, ary.dtype, strides_like(ary))

    def mapped_array(
        self,
        shape: Any,
        dtype: Any = np.float64,
        strides: Any = None,
        order: str = "C",
        stream: Any = 0,
        portable: bool = False,
        wc: bool = False,
    ) -> MappedArray:
        """A host array that kernels work on in place. wc: the host only writes it, in order, which is faster then.

        Raises DeviceMemoryError."""
        return self._host_array(MappedArray, "allocate_pinned", shape, dtype, strides, order, wc)

    def mapped_array_like(self, ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> MappedArray:
        return self.mapped_array(ary.shape, ary.dtype, strides_like(ary), wc=wc)

    def managed_array(
        self,
        shape: Any,
        dtype: Any = np.float64,
        strides: Any = None,
        order: str = "C",
        stream: Any = 0,
        attach_global: bool = True,
    ) -> MappedArray:
        """An array that host and device share: on GPUs its pages move to where they are used. Synchronize before
        reading on the host what a kernel wrote. Raises DeviceMemoryError."""
        return self._host_array(MappedArray, "allocate_managed", shape, dtype, strides, order)

    def _host_array(
        self, cls: type[Host], allocate: str, shape: Any, dtype: Any, strides: Any, order: str, *options: Any
    ) -> Host:
        """allocate: the name of the device's function, for devices that have it; others use NumPy's memory."""
        dtype, shape = np.dtype(dtype), check_shape(shape)
        strides = check_strides(strides, shape, dtype.itemsize, order)
        low, high = span_nbytes(shape, strides, dtype.itemsize)
        allocate_shared = getattr(default_session().current_device(self._platform), allocate, None)
        if allocate_shared is None:
            return cls.__new__(cls, shape, dtype, np.empty(high - low, np.uint8).data, -low, strides)
        memory = allocate_shared(high - low, *options)
        array = cls.__new__(cls, shape, dtype, np.asarray(HostBlock(memory)).data, -low, strides)
        if isinstance(array, MappedArray):
            array.memory = memory
        return array

    @contextmanager
    def pinned(self, *arrays: np.ndarray) -> Iterator[None]:
        """Page-lock host arrays during a `with` block, where that makes copies faster. Raises ArgumentError."""
        require_host_arrays("pinned", arrays)
        lock = getattr(default_session().current_device(self._platform), "page_lock", None)
        with ExitStack() as locks:
            for array in arrays:
                low, high = span_nbytes(array.shape, array.strides, array.itemsize)
                if lock is not None and high > low:
                    locks.callback(lock(array_address(array) + low, high - low))
            yield

    @contextmanager
    def mapped(
        self, *arylist: np.ndarray, stream: Any = 0, portable: bool = False, wc: bool = False
    ) -> Iterator[DeviceArray | list[DeviceArray]]:
        """Host arrays as device arrays during a `with` block; one array is given alone, several as a list.

        The same memory where the device can use the host's, else copies that are brought back at the end.
        """
        require_host_arrays("mapped", arylist)
        device = default_session().current_device(self._platform)
        shares = device.uses_host_memory
        views = [self._view_of_host(device, array) if shares else self.to_device(array, stream) for array in arylist]
        try:
            yield views[0] if len(views) == 1 else views
        finally:
            for view, array in zip(views, arylist, strict=True):
                if not shares:
                    view.copy_to_host(array, stream)
                view._stream(stream).wait()

    def _view_of_host(self, device: Device, array: np.ndarray) -> DeviceArray:
        view = ForeignView(array_address(array), array.shape, array.strides, array.dtype, not array.flags.writeable)
        stream = default_session().default_stream(device)
        return DeviceArray(
            device, BorrowedMemory(view, array), view.shape, view.strides, view.dtype, stream, view.address
        )


class BorrowedMemory:
    """Memory of another package (base.backend.Memory); kept alive through its owner, never released by us."""

    def __init__(self, view: ForeignView, owner: Any):
        low, high = span_nbytes(view.shape, view.strides, view.dtype.itemsize)
        self.address = view.address + low
        self.nbytes = high - low
        self._owner = owner

    def release(self) -> None:
        self._owner = None

    def part(self, offset_nbytes: int, nbytes: int) -> np.ndarray:
        """Some of the bytes, for devices that use host memory."""
        return bytes_at(self.address + offset_nbytes, nbytes)


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Memory is released at once and without waiting, so there is nothing to defer."""
    yield


def is_cuda_array(obj: Any) -> bool:
    """True for objects that have `__cuda_array_interface__`."""
    return is_foreign_array(obj)


def require_host_arrays(function: str, values: Sequence[Any]) -> None:
    """Raise ArgumentError unless all values given to a function are NumPy arrays."""
    for value in values:
        if not isinstance(value, np.ndarray):
            raise ArgumentError(f"{function}() takes NumPy arrays, not {type(value).__name__}")


def check_shape(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of Python ints. Raises TypeError, ValueError."""
    # NumPy's arrays without axes have `__iter__` too, which fails.
    items = shape if hasattr(shape, "__iter__") and getattr(shape, "ndim", None) != 0 else (shape,)
    try:
        extents = tuple(map(operator.index, items))
    except TypeError:
        raise TypeError(f"a shape is an integer or a tuple of integers, not {shape!r}") from None
    if min(extents, default=0) < 0:
        raise ValueError(f"a shape cannot have negative extents: {shape!r}")
    return extents


def check_strides(strides: Any, shape: tuple[int, ...], itemsize: int, order: str) -> tuple[int, ...]:
    """Strides in bytes as a tuple of Python ints, by default those of a dense array. Raises TypeError, ValueError."""
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', not {order!r}")
    if strides is None:
        return contiguous_strides(shape, itemsize, order)
    items = (strides,) if isinstance(strides, (int, np.integer)) else strides
    found = tuple(int(item) for item in items)
    if len(found) != len(shape):
        raise ValueError(f"strides {found} must have as many items as shape {shape}")
    return found


def strides_like(ary: Any) -> tuple[int, ...]:
    """Strides of a new dense array that has the axes of `ary` in the same order of memory; C order if it overlaps
    itself (numba.cuda's rule for its *_like functions: a view's gaps are not copied)."""
    shape, itemsize = tuple(ary.shape), np.dtype(ary.dtype).itemsize
    strides = tuple(ary.strides)
    if prod(shape) == 0 or any(stride <= 0 for stride, extent in zip(strides, shape, strict=True) if extent > 1):
        return contiguous_strides(shape, itemsize)
    axes = sorted(range(len(shape)), key=lambda axis: (-strides[axis], axis))
    result, step = [0] * len(shape), itemsize
    for axis in reversed(axes):
        result[axis] = step
        step *= shape[axis]
    return tuple(result)
