"""What a packer is made of: functions that append one argument's numbers. Before: marshal. After: a parameter block."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from numba_gpucore.array_interface import read_interface
from numba_gpucore.base.argtypes import ArrayType
from numba_gpucore.base.backend import Device
from numba_gpucore.launch.arrays import DeviceArray
from numba_gpucore.launch.foreign import require_host_reachable, waits_for_streams
from numba_gpucore.launch.mapped import MappedArray
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.staging import Staging

#: Appends the numbers of one argument's slots. The Staging is None where no argument needs one.
Put = Callable[[list[Any], Any, Any], None]


def put_nothing(_numbers: list[Any], _value: Any, _staging: Staging | None) -> None:
    pass


def put_number(numbers: list[Any], value: Any, _staging: Staging | None) -> None:
    numbers.append(value)


def put_bits(numbers: list[Any], value: Any, _staging: Staging | None) -> None:
    """A bfloat16: its pattern."""
    numbers.append(int(value.view(np.uint16)))


def put_complex(numbers: list[Any], value: Any, _staging: Staging | None) -> None:
    numbers += (value.real, value.imag)


def put_time(numbers: list[Any], value: Any, _staging: Staging | None) -> None:
    numbers.append(value.view(np.int64))


def host_array_put(example: np.ndarray, has_strides: bool) -> Put:
    """The put function for host arrays like `example`, used in place."""
    if has_strides:
        return put_strided
    flags = example.flags
    if flags.c_contiguous and flags.writeable and example.dtype.kind in "biufc":
        return put_buffer
    return put_dense


#: Over the bytes of a writable C-contiguous array that has numbers (what the buffer protocol has a format for), also an
#: empty one. Four times faster than `__array_interface__`, which makes a dictionary (NumPy 2.4: 0.5 and 2.4 µs).
_bytes_over = (ctypes.c_char * 0).from_buffer


def put_buffer(numbers: list[Any], array: np.ndarray, _staging: Staging | None) -> None:
    numbers += (ctypes.addressof(_bytes_over(array)), *array.shape)


def put_dense(numbers: list[Any], array: np.ndarray, _staging: Staging | None) -> None:
    numbers += (array.__array_interface__["data"][0], *array.shape)


def put_strided(numbers: list[Any], array: np.ndarray, _staging: Staging | None) -> None:
    numbers += (array.__array_interface__["data"][0], *array.shape, *array.strides)


def on_attribute(name: str, put: Put) -> Put:
    return lambda numbers, value, staging: put(numbers, getattr(value, name), staging)


def converted(convert: Callable[[Any], Any], put: Put) -> Put:
    return lambda numbers, value, staging: put(numbers, convert(value), staging)


def private_copy_put(type_: ArrayType) -> Put:
    put = put_strided if type_.layout == "A" else put_dense

    def put_copy(numbers: list[Any], array: np.ndarray, staging: Staging) -> None:
        copy = array.copy("K" if array.flags.forc else "C")
        staging.hold(copy)
        put(numbers, copy, staging)

    return put_copy


def device_array_put(device: Device, has_strides: bool) -> Put:
    def put(numbers: list[Any], array: DeviceArray, _staging: Staging | None) -> None:
        if array.device is not device:
            array.require_usable_on(device)
        numbers += array.strided_words if has_strides else array.dense_words

    return put


def mapped_put(has_strides: bool) -> Put:
    def put(numbers: list[Any], array: MappedArray, _staging: Staging | None) -> None:
        numbers += (array.device_address, *array.shape, *(array.strides if has_strides else ()))

    return put


def device_address_put(device: Device) -> Put:
    def put(numbers: list[Any], array: DeviceArray, _staging: Staging | None) -> None:
        if array.device is not device:
            array.require_usable_on(device)
        numbers.append(array.address)

    return put


def foreign_put(device: Device, has_strides: bool) -> Put:
    def put(numbers: list[Any], value: Any, _staging: Staging | None) -> None:
        view = read_interface(value)
        if device.uses_host_memory:
            require_host_reachable(view)
        if view.stream is not None and waits_for_streams():
            default_session().find_stream(device, view.stream).synchronize()
        numbers += (view.address, *view.shape, *view.strides) if has_strides else (view.address, *view.shape)

    return put
