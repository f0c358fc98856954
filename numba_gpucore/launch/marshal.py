"""Step 4 of a call: Python values to the bytes of a parameter block. Before: the kernel's table. After: Device.launch.

For every signature one packer is built: for each argument a function (`puts`) that appends its slots' numbers to a
list, then one `struct.pack`. What an argument's Python class decides is decided when the packer is built.
"""

from __future__ import annotations

import dataclasses
import enum
import struct
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from numba_gpucore.array_interface import contiguous_strides, is_foreign_array
from numba_gpucore.base.argtypes import (
    ArgType,
    ArrayType,
    EnumType,
    NamedTupleType,
    NoneArgType,
    OptionalType,
    PointerType,
    RecordType,
    ScalarType,
    TupleType,
)
from numba_gpucore.base.backend import Device
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.base.params import ParamSlot, is_by_address, lay_out_params
from numba_gpucore.base.records import dataclass
from numba_gpucore.dtypes import BFLOAT16_NAME
from numba_gpucore.elements import dtype_of
from numba_gpucore.launch.arrays import DeviceArray
from numba_gpucore.launch.convert import number_converter, zero_value
from numba_gpucore.launch.mapped import MappedArray
from numba_gpucore.launch.puts import (
    Put,
    converted,
    device_address_put,
    device_array_put,
    foreign_put,
    host_array_put,
    mapped_put,
    on_attribute,
    private_copy_put,
    put_bits,
    put_complex,
    put_dense,
    put_nothing,
    put_number,
    put_strided,
    put_time,
)
from numba_gpucore.launch.signature import arg_type_of
from numba_gpucore.launch.staging import Staging, array_address, bytes_at, record_address
from numba_gpucore.launch.wrappers import ArgumentWrapper

_STRUCT_CODES = {
    ("int", 1): "b", ("int", 2): "h", ("int", 4): "i", ("int", 8): "q",
    ("uint", 1): "B", ("uint", 2): "H", ("uint", 4): "I", ("uint", 8): "Q",
    ("float", 2): "e", ("float", 4): "f", ("float", 8): "d",
    ("address", 8): "Q", ("extent", 8): "q", ("stride", 8): "q", ("valid", 1): "?",
}  # fmt: skip


@dataclass(frozen=True)
class Packer:
    """`pack(args, staging)` gives the parameter block. needs_staging: pass a Staging and download it after the launch.
    touches_host: kernels work on host arrays in place, so that the launch must have ended when the call returns.
    takes_host_arrays: ordinary host arrays are among the arguments, which a GPU's driver copies there and back."""

    pack: Callable[[Sequence[Any], Staging | None], bytes]
    needs_staging: bool
    touches_host: bool
    takes_host_arrays: bool


def params_struct(slots: Sequence[ParamSlot]) -> struct.Struct:
    """The Struct that packs the numbers of `slots`, in order, at their offsets. Little-endian."""
    codes, end = ["<"], 0
    for slot in slots:
        codes.append("x" * (slot.offset_nbytes - end) + _STRUCT_CODES[slot.kind, slot.nbytes])
        end = slot.offset_nbytes + slot.nbytes
    return struct.Struct("".join(codes))


def make_packer(args: Sequence[Any], declared: Sequence[ArgType], device: Device) -> Packer:
    """Build the packer for arguments like `args` (equal type keys), passed as the types `declared`."""
    builder = _PutBuilder(device)
    puts = [builder.put_for(value, type_) for value, type_ in zip(args, declared, strict=True)]
    pack_numbers = params_struct(lay_out_params(declared)).pack

    def pack(args: Sequence[Any], staging: Staging | None) -> bytes:
        numbers: list[Any] = []
        for put, arg in zip(puts, args):  # noqa: B905 - lengths were checked, and this is the hot path
            put(numbers, arg, staging)
        return pack_numbers(*numbers)

    return Packer(pack, builder.needs_staging, builder.touches_host, builder.takes_host_arrays)


class _PutBuilder:
    """Chooses the put function of each argument, and notes what the launch as a whole needs."""

    def __init__(self, device: Device):
        self._device = device
        self.needs_staging = False
        self.touches_host = False
        self.takes_host_arrays = False

    def put_for(self, value: Any, type_: ArgType) -> Put:
        match type_:
            case ArrayType():
                self.takes_host_arrays |= isinstance(value, np.ndarray) and not isinstance(value, MappedArray)
                return self._array_put(value, type_)
            case NoneArgType():
                return put_nothing
            case PointerType():
                return self._pointer_put(value)
            case OptionalType(item=item):
                return self._optional_put(value, item)
            case EnumType(dtype=dtype):
                return on_attribute("value", self.put_for(value.value, dtype))
            case TupleType(items=items) | NamedTupleType(items=items):
                return self._tuple_put(value, items)
            case RecordType():
                if arg_type_of(value) != type_:
                    return self._narrow_record_put(type_)
                return self._record_put(type_.nbytes)
        if isinstance(value, enum.Enum):
            return on_attribute("value", self._scalar_put(value.value, type_))
        return self._scalar_put(value, type_)

    def _scalar_put(self, value: Any, type_: ScalarType) -> Put:
        if is_by_address(type_):
            return self._text_put(np.dtype(type_.name))
        if type_.name.startswith(("datetime64", "timedelta64")):
            return put_time
        if type_.name.startswith("complex"):
            put: Put = put_complex
        elif type_.name == BFLOAT16_NAME:
            put = put_bits
        else:
            put = put_number
        # `struct` takes no NumPy bool where it packs an integer.
        if str(arg_type_of(value)) == type_.name and not isinstance(value, np.bool_):
            return put
        return converted(number_converter(type_), put)

    def _pointer_put(self, value: Any) -> Put:
        if isinstance(value, (int, np.integer)):
            return put_number
        if isinstance(value, DeviceArray):
            return device_address_put(self._device)
        raise ArgumentError(f"a pointer is passed as an integer, the address, or as a device array, not as {value!r}")

    def _optional_put(self, value: Any, item: ArgType) -> Put:
        if value is None:
            put_item, stand_in = self.put_for(zero_value(item), item), zero_value(item)

            def put_none(numbers: list[Any], _value: Any, staging: Staging | None) -> None:
                put_item(numbers, stand_in, staging)
                numbers.append(False)

            return put_none
        put_item = self.put_for(value, item)

        def put_some(numbers: list[Any], value: Any, staging: Staging | None) -> None:
            put_item(numbers, value, staging)
            numbers.append(True)

        return put_some

    def _tuple_put(self, value: Any, items: Sequence[ArgType]) -> Put:
        if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value)]
            puts = [self.put_for(getattr(value, name), type_) for name, type_ in zip(names, items, strict=True)]

            def put_fields(numbers: list[Any], value: Any, staging: Staging | None) -> None:
                for put, name in zip(puts, names, strict=True):
                    put(numbers, getattr(value, name), staging)

            return put_fields
        puts = [self.put_for(item, type_) for item, type_ in zip(value, items, strict=True)]

        def put_items(numbers: list[Any], value: Any, staging: Staging | None) -> None:
            for put, item in zip(puts, value, strict=True):
                put(numbers, item, staging)

        return put_items

    def _record_put(self, nbytes: int) -> Put:
        if self._device.uses_host_memory:
            self.touches_host = True
            return lambda numbers, record, _staging: numbers.append(record_address(record))
        self.needs_staging = True

        def put(numbers: list[Any], record: np.void, staging: Staging) -> None:
            staging.hold(record)
            numbers.append(staging.upload(bytes_at(record_address(record), nbytes), True, True))

        return put

    def _text_put(self, dtype: np.dtype) -> Put:
        self.needs_staging = True
        in_place = self._device.uses_host_memory

        def put(numbers: list[Any], text: Any, staging: Staging) -> None:
            cell = np.array(text, dtype)
            staging.hold(cell)
            numbers.append(array_address(cell) if in_place else staging.upload(cell, True, False))

        return put

    def _array_put(self, value: Any, type_: ArrayType) -> Put:
        if isinstance(value, ArgumentWrapper):
            return self._wrapped_put(value, type_)
        if is_narrower(type_, arg_type_of(value)):
            return self._narrow_array_put(value, type_)
        has_strides = type_.layout == "A"
        if isinstance(value, DeviceArray):
            return device_array_put(self._device, has_strides)
        if isinstance(value, np.ndarray):
            if not self._device.uses_host_memory:
                if isinstance(value, MappedArray) and value.memory is not None:
                    return mapped_put(has_strides)
                return self._staged_put(type_, True, not type_.readonly)
            self.touches_host |= not isinstance(value, MappedArray)
            return host_array_put(value, has_strides)
        if is_foreign_array(value):
            return foreign_put(self._device, has_strides)
        raise ArgumentError(f"an array is expected, not {value!r}")

    def _wrapped_put(self, wrapper: ArgumentWrapper, type_: ArrayType) -> Put:
        if is_narrower(type_, arg_type_of(wrapper.value)):
            passed = dataclasses.replace(type_, readonly=type_.readonly or not wrapper.copy_back)
            return on_attribute("value", self._narrow_array_put(wrapper.value, passed))
        if not isinstance(wrapper.value, np.ndarray):
            return on_attribute("value", self._array_put(wrapper.value, type_))
        if not self._device.uses_host_memory:
            put = self._staged_put(type_, wrapper.copy_in, wrapper.copy_back and not type_.readonly)
        elif wrapper.copy_back or type_.readonly:
            put = self._array_put(wrapper.value, type_)
        else:
            self.needs_staging = True
            put = private_copy_put(type_)
        return on_attribute("value", put)

    def _narrow_array_put(self, value: Any, type_: ArrayType) -> Put:
        """Pass a copy in narrower numbers; one in device memory is fetched and brought back."""
        if isinstance(value, DeviceArray):
            return self._narrow_device_array_put(type_)
        if not isinstance(value, np.ndarray):
            raise ArgumentError(f"an array of another library cannot be passed as {type_}; convert it first")
        put_dense = self._dense_put(type_)
        dtype, order, copy_back = dtype_of(type_.item), _dense_order(type_), not type_.readonly

        def put(numbers: list[Any], array: np.ndarray, staging: Staging) -> None:
            put_dense(numbers, staging.narrow(array, dtype, order, copy_back), staging)

        return put

    def _narrow_device_array_put(self, type_: ArrayType) -> Put:
        put_dense = self._dense_put(type_)
        dtype, order, device = dtype_of(type_.item), _dense_order(type_), self._device

        def put(numbers: list[Any], array: DeviceArray, staging: Staging) -> None:
            if array.device is not device:
                array.require_usable_on(device)
            device.synchronize()
            host = array.copy_to_host()
            put_dense(numbers, staging.narrow(host, dtype, order, True), staging)
            staging.run_after(lambda: array.copy_to_device(host))

        return put

    def _narrow_record_put(self, type_: RecordType) -> Put:
        put_dense = self._dense_put(ArrayType(type_, 0, "C"))
        dtype = dtype_of(type_)

        def put(numbers: list[Any], record: np.void, staging: Staging) -> None:
            staging.hold(record)
            cell = bytes_at(record_address(record), record.nbytes).view(record.dtype).reshape(())
            put_dense(numbers, staging.narrow(cell, dtype, "C", True), staging)

        return put

    def _dense_put(self, type_: ArrayType) -> Put:
        """Put an array that only this launch knows, in the order of `_dense_order`."""
        self.needs_staging = True
        strided = type_.layout == "A"
        if self._device.uses_host_memory:
            return put_strided if strided else put_dense
        return self._staged_put(type_, True, not type_.readonly)

    def _staged_put(self, type_: ArrayType, copy_in: bool, copy_back: bool) -> Put:
        self.needs_staging = True
        itemsize = type_.item.nbytes
        has_strides = type_.layout == "A"

        def put(numbers: list[Any], array: np.ndarray, staging: Staging) -> None:
            numbers.append(staging.upload(array, copy_in, copy_back))
            numbers.extend(array.shape)
            if has_strides:
                order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
                numbers.extend(contiguous_strides(array.shape, itemsize, order))

        return put


def is_narrower(passed: ArrayType, given: ArgType) -> bool:
    """Whether numbers must be converted on the way; integers of the same size only change how they are read."""
    if not isinstance(given, ArrayType) or passed.item == given.item:
        return False
    return dtype_of(passed.item).kind not in "iu"


def _dense_order(type_: ArrayType) -> Literal["C", "F"]:
    return "F" if type_.layout == "F" else "C"
