"""Arrays in device memory. Before: a Device's memory. After: marshal passes them to kernels without a copy.

Behaviour and names are those of numba.cuda's device arrays. Views (slices, reshape, transpose …) share memory with
their source; NumPy itself computes their shape, strides and offset.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from numba_gpucore.array_interface import contiguous_strides, layout_of_strides, span_nbytes, strides_match
from numba_gpucore.base.backend import Device, Memory
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.elements import array_type
from numba_gpucore.launch import miss
from numba_gpucore.launch.exchange import INTERFACE_VERSION, Exchange
from numba_gpucore.launch.staging import as_host_array, byte_view
from numba_gpucore.launch.streams import Stream, check_stream

#: What to do instead of asking for a name that other versions of numba.cuda have.
_ADVICE = {
    "to_host": "write array.copy_to_host(), or copy_to_host(host_array) to copy into one that is there",
    "get_ipc_handle": "only NVIDIA's driver shares memory between processes; share host memory instead",
}


class _Ghost:
    """Lets NumPy do index arithmetic on memory that the host cannot touch: nothing may read through it."""

    def __init__(self, array: DeviceArray):
        self.__array_interface__ = {
            "shape": array.shape,
            "strides": array.strides,
            "typestr": f"|V{array.itemsize}",
            "data": (array.address, False),
            "version": INTERFACE_VERSION,
        }


class DeviceArray(Exchange):
    """An n-dimensional array in device memory.

    `memory` is kept alive by every view; `address` is that of the first element. shape in elements, strides in bytes.
    """

    __slots__ = (
        "__weakref__",
        "_bound_stream",
        "_session_stream",
        "address",
        "dense_words",
        "device",
        "dtype",
        "gpu_arg_type",
        "gpu_type_key",
        "memory",
        "nbytes",
        "ndim",
        "shape",
        "size",
        "strided_words",
        "strides",
    )  # fmt: skip

    def __init__(
        self,
        device: Device,
        memory: Memory,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: np.dtype,
        default_stream: Stream,
        address: int | None = None,
        stream: Stream | None = None,
    ):
        self.device = device
        self.memory = memory
        self.address = memory.address if address is None else address
        self.shape, self.strides, self.dtype = shape, strides, dtype
        self.ndim = len(shape)
        self.size = prod(shape)
        self.nbytes = self.size * dtype.itemsize
        self._bound_stream = stream
        self._session_stream = default_stream
        layout = layout_of_strides(shape, strides, dtype.itemsize)
        self.gpu_arg_type = array_type(dtype, self.ndim, layout)
        self.gpu_type_key: Hashable = (DeviceArray, dtype, self.ndim, layout)
        self.dense_words = (self.address, *shape)
        self.strided_words = (self.address, *shape, *strides)

    def __repr__(self) -> str:
        return f"<device array of shape {self.shape} and dtype {self.dtype} on {self.device.name}>"

    def __reduce__(self) -> Any:
        raise TypeError("a device array can be neither pickled nor copied by copy.copy: take what copy_to_host() gives")

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Says what to do where the name is one of NumPy's arrays, or one that programs ask for."""
            advice = _ADVICE.get(name, "")
            if not advice and not name.startswith("_") and hasattr(np.ndarray, name):
                advice = "copy_to_host() gives a NumPy array, which has it"
            raise AttributeError(f"a device array has no attribute {name!r}{advice and f': {advice}'}")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d device array")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    @property
    def stream(self) -> Any:
        """The stream on which copies take place where none is given; 0 for the default stream."""
        return self._bound_stream or 0

    @property
    def _numba_type_(self) -> Any:
        """`numba.typeof` looks here; programs make signatures of what it gives."""
        return miss.numba_type_of_argument(self.gpu_arg_type)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def alloc_size(self) -> int:
        """Bytes of the memory between the first and the last element."""
        low, high = span_nbytes(self.shape, self.strides, self.itemsize)
        return high - low

    @property
    def flags(self) -> dict[str, bool]:
        return {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()}

    def is_c_contiguous(self) -> bool:
        return self.gpu_arg_type.layout == "C"

    def is_f_contiguous(self) -> bool:
        dense = contiguous_strides(self.shape, self.itemsize, "F")
        return self.size == 0 or strides_match(self.shape, self.strides, dense)

    def require_usable_on(self, device: Device) -> None:
        """Raise ArgumentError where kernels of another device could not reach this memory."""
        if not (device.uses_host_memory and self.device.uses_host_memory):
            raise ArgumentError(f"{self!r} cannot be used on {device.name}; copy it there: to_device(a.copy_to_host())")

    # Copies ---------------------------------------------------------------------------------------------------------

    def _stream(self, stream: Any) -> Stream:
        return check_stream(stream) or self._bound_stream or self._session_stream

    def _offset_nbytes(self) -> int:
        """From the start of `memory` to the lowest byte that this array touches."""
        low, _ = span_nbytes(self.shape, self.strides, self.itemsize)
        return self.address + low - self.memory.address

    def _span_view(self, span: np.ndarray) -> np.ndarray:
        """This array, as a view of a host copy (uint8) of the bytes that it spans."""
        low, _ = span_nbytes(self.shape, self.strides, self.itemsize)
        return np.ndarray(self.shape, self.dtype, span.data, -low, self.strides)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """Copy to a new array or to `ary` (same shape and dtype), and return it.

        Without a stream exceptions of earlier kernels are raised; with one, when the stream is synchronized. The copy
        has ended, but for page-locked arrays on a stream (CUDA Driver API, "API synchronization behavior").
        Raises ValueError, TypeError where `ary` does not fit.
        """
        on = self._stream(stream)
        if ary is None:
            result = np.empty(self.shape, self.dtype, order="F" if self.gpu_arg_type.layout == "F" else "C")
        else:
            result = _require_like(ary, self.shape, self.dtype)
        same_order = (self.is_c_contiguous() and result.flags.c_contiguous) or (
            self.is_f_contiguous() and result.flags.f_contiguous
        )
        if self.size and same_order and result.flags.writeable:
            self.device.read(self.memory, self._offset_nbytes(), byte_view(result), on.queue)
            on.hold(result)
            if self.device.uses_host_memory:
                on.wait()
        elif self.size:
            span = np.empty(self.alloc_size, np.uint8)
            self.device.read(self.memory, self._offset_nbytes(), memoryview(span), on.queue)
            on.wait()
            result[...] = self._span_view(span)
        if check_stream(stream) is None:
            on.synchronize()
        return result

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copy `ary`, a host or device array of this shape, into this array, converting to its dtype.

        Raises ValueError where the shapes differ.
        """
        on = self._stream(stream)
        source = ary.copy_to_host(stream=on) if isinstance(ary, DeviceArray) else as_host_array(ary)
        if isinstance(ary, DeviceArray):
            on.wait()
        if source.shape != self.shape:
            raise ValueError(f"incompatible shape: an array of shape {source.shape} into one of shape {self.shape}")
        if not self.size:
            return
        if self.is_c_contiguous() or self.is_f_contiguous():
            dense = np.asarray(source, dtype=self.dtype, order="C" if self.is_c_contiguous() else "F")
            if on.queue is not None and np.may_share_memory(dense, source):
                dense = dense.copy("K")  # the caller may change its array before the stream gets there
            self.device.write(self.memory, self._offset_nbytes(), byte_view(dense), on.queue)
        else:
            dense = np.empty(self.alloc_size, np.uint8)
            self.device.read(self.memory, self._offset_nbytes(), memoryview(dense), on.queue)
            on.wait()
            self._span_view(dense)[...] = source
            self.device.write(self.memory, self._offset_nbytes(), memoryview(dense), on.queue)
        on.hold((dense, self.memory))
        if on.queue is None:
            on.synchronize()

    def bind(self, stream: Any = 0) -> DeviceArray:
        """The same array, whose copies take place on `stream` unless another is given."""
        return self._view_of(self._ghost(), check_stream(stream))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("`copy=False` is not possible for a device array: NumPy needs a copy on the host")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    # Views ----------------------------------------------------------------------------------------------------------

    def _ghost(self) -> np.ndarray:
        return np.asarray(_Ghost(self)).view(self.dtype)

    def _view_of(self, ghost: np.ndarray, stream: Stream | None = None) -> DeviceArray:
        address = ghost.__array_interface__["data"][0] if ghost.size else self.address
        return DeviceArray(
            self.device, self.memory, ghost.shape, ghost.strides, ghost.dtype, self._session_stream, address,
            stream or self._bound_stream,
        )  # fmt: skip

    def _subview(self, index: Any) -> DeviceArray:
        if isinstance(index, str):
            return self._view_of(self._ghost()[index])
        items = index if isinstance(index, tuple) else (index,)
        for item in items:
            # A bool would be an index array, for which NumPy reads memory.
            is_index = isinstance(item, (int, np.integer, slice)) and not isinstance(item, bool)
            if not (is_index or item is None or item is Ellipsis):
                raise TypeError(f"a device array takes integers, slices, ... and None as indices, not {item!r}")
        # The Ellipsis makes NumPy return a view even where all axes are indexed; a scalar would be read from memory.
        whole = items if any(item is Ellipsis for item in items) else (*items, Ellipsis)
        return self._view_of(self._ghost()[whole])

    def __getitem__(self, index: Any) -> Any:
        return self.getitem(index)

    def getitem(self, index: Any, stream: Any = 0) -> Any:
        """A view, or a NumPy scalar (copied to the host) where the index names one element."""
        view = self._subview(index)
        items = index if isinstance(index, tuple) else (index,)
        is_element = view.ndim == 0 and not any(item is Ellipsis or isinstance(item, str) for item in items)
        if not is_element:
            return view
        host = view.copy_to_host(stream=stream)
        view._stream(stream).synchronize()
        return host[()]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.setitem(index, value)

    def setitem(self, index: Any, value: Any, stream: Any = 0) -> None:
        """Copy `value`, a scalar or an array that broadcasts to the view, into the view."""
        view = self._subview(index)
        on = self._stream(stream)
        source = as_host_array(value.copy_to_host() if isinstance(value, DeviceArray) else value)
        if source.ndim > view.ndim:
            raise ValueError(f"Can't assign {source.ndim}-D array to {view.ndim}-D self")
        view.copy_to_device(np.broadcast_to(source, view.shape), stream=on)

    def reshape(self, *newshape: Any, order: str = "C") -> DeviceArray:
        """A view of another shape. Raises NotImplementedError where that would need a copy."""
        shape = newshape[0] if len(newshape) == 1 and isinstance(newshape[0], (tuple, list)) else newshape
        self._require_order(order, "reshape")
        return self._view_of(self._ghost().reshape(shape, order=order))  # type: ignore[call-overload]

    def ravel(self, order: str = "C", stream: Any = 0) -> DeviceArray:
        """A 1-D view. Raises NotImplementedError where that would need a copy."""
        self._require_order(order, "ravel")
        return self._view_of(self._ghost().reshape(-1, order=order), check_stream(stream))  # type: ignore[call-overload]

    def _require_order(self, order: str, verb: str) -> None:
        if order not in ("C", "F"):
            raise ValueError(f"order must be 'C' or 'F', not {order!r}")
        if not (self.is_c_contiguous() if order == "C" else self.is_f_contiguous()):
            raise NotImplementedError(
                f"{verb} of a device array that is not {order}-contiguous (strides {self.strides}) needs a copy; "
                "copy it to the host and back first"
            )

    def view(self, dtype: Any) -> DeviceArray:
        """The same bytes as another dtype, by NumPy's rules."""
        return self._view_of(self._ghost().view(np.dtype(dtype)))

    def transpose(self, axes: Sequence[int] | None = None) -> DeviceArray:
        """Permuted axes (reversed by default): a view, but for 2-D arrays a new array in C order, as in numba.cuda."""
        view = self._view_of(self._ghost().transpose(axes))
        if self.ndim != 2 or (view.shape == self.shape and view.strides == self.strides):
            return view
        strides = contiguous_strides(view.shape, self.itemsize)
        memory = self.device.allocate(self.nbytes)
        copy = DeviceArray(
            self.device, memory, view.shape, strides, self.dtype, self._session_stream, stream=self._bound_stream
        )
        copy.copy_to_device(view)
        return copy

    @property
    def T(self) -> DeviceArray:
        return self.transpose()

    def squeeze(self, axis: Any = None, stream: Any = 0) -> DeviceArray:
        """A view without the axes of extent 1, or without those given."""
        return self._view_of(self._ghost().squeeze(axis), check_stream(stream))

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceArray]:
        """Views of `section` consecutive elements each (the last may be shorter). Raises ValueError unless 1-D, and
        for a section below 1."""
        if self.ndim != 1:
            raise ValueError("only 1-D arrays can be split")
        if section < 1:
            raise ValueError(f"an array is split into sections of 1 or more elements, not {section}")
        on = check_stream(stream)
        for start in range(0, self.size, section):
            yield self._view_of(self._ghost()[start : start + section], on)


def _require_like(ary: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if not isinstance(ary, np.ndarray):
        raise TypeError(f"copy_to_host copies into a NumPy array, not into {type(ary).__name__}")
    if ary.dtype != dtype:
        raise TypeError(f"incompatible dtype: an array of {dtype} into one of {ary.dtype}")
    if ary.shape != shape:
        raise ValueError(f"incompatible shape: an array of shape {shape} into one of shape {ary.shape}")
    if not ary.flags.writeable:
        raise ValueError("copy_to_host cannot copy into a read-only array")
    return ary
