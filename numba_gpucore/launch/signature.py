"""Step 2 of a call: what types do these arguments have? Before: Python values. After: the kernel's table, or a miss.

`arg_type_of` answers as `numba.typeof` would, without Numba; `type_key` gives a cheaper hashable that decides it.
Objects of ours (device arrays, In/Out/InOut) bring both along as `gpu_arg_type` and `gpu_type_key`.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import namedtuple
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np

from numba_gpucore.array_interface import is_foreign_array, layout_of_strides, read_interface
from numba_gpucore.base.argtypes import (
    ArgType,
    ArrayType,
    ClassRef,
    EnumType,
    Layout,
    NamedTupleType,
    NoneArgType,
    ScalarType,
    TupleType,
)
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.elements import array_type, element_type
from numba_gpucore.launch.staging import require_unmasked

INT64 = ScalarType("int64", 8)
UINT64 = ScalarType("uint64", 8)
_MIN_INT64, _END_INT64, _END_UINT64 = -(2**63), 2**63, 2**64
_PYTHON_SCALARS: dict[type, ArgType] = {
    bool: ScalarType("bool", 1),
    float: ScalarType("float64", 8),
    complex: ScalarType("complex128", 16),
    type(None): NoneArgType(),
}
#: Classes whose values all have one type, so that the class is a sufficient key.
_KEY_IS_CLASS = frozenset(_PYTHON_SCALARS) | {
    np.dtype(code).type for code in "?bBhHiIlLqQefdFD"
}  # every fixed-size number of NumPy; "l" and "q" are different classes of the same size on some systems
_ACCEPTED = (
    "NumPy arrays and scalars, device arrays, objects with __cuda_array_interface__, int, float, bool, complex, None, "
    "enum members, and tuples, named tuples and dataclasses of these"
)


def type_key(value: Any) -> Any:
    """A hashable that is equal for two values only if they have one argument type. Raises ArgumentError."""
    cls: Any = type(value)
    if cls is np.ndarray:
        return value.dtype, value.ndim, value.flags.num
    if cls is int:
        return int if _MIN_INT64 <= value < _END_INT64 else arg_type_of(value)
    if cls in _KEY_IS_CLASS:
        return cls
    key = getattr(value, "gpu_type_key", None)
    return _rare_type_key(value, type(value)) if key is None else key


def _rare_type_key(value: Any, cls: type) -> Hashable:
    if isinstance(value, enum.Enum):
        return cls
    if isinstance(value, tuple):
        return cls, *map(type_key, value)
    if isinstance(value, np.ndarray):
        arg_type_of(value)
        return cls, value.dtype, value.ndim, value.flags.num
    if isinstance(value, np.generic):
        arg_type_of(value)
        return cls, value.dtype
    if dataclasses.is_dataclass(cls):
        return cls, *(type_key(getattr(value, f.name)) for f in dataclasses.fields(cls))
    return arg_type_of(value)


def arg_type_of(value: Any) -> ArgType:
    """The argument type of a value. Raises ArgumentError for what a kernel cannot take."""
    cls: Any = type(value)
    if cls in _PYTHON_SCALARS:
        return _PYTHON_SCALARS[cls]
    ours: ArgType | None = getattr(value, "gpu_arg_type", None)
    if ours is not None:
        return ours
    if isinstance(value, enum.Enum):
        return _enum_type(cls)
    if isinstance(value, np.ndarray):
        return _array_type(value)
    if isinstance(value, np.generic):
        return element_type(value.dtype)
    if isinstance(value, int):
        return _int_type(value)
    if isinstance(value, (float, complex)):
        return _PYTHON_SCALARS[float if isinstance(value, float) else complex]
    if isinstance(value, tuple):
        return _tuple_type(value, cls)
    if is_foreign_array(value):
        return _foreign_type(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        view = namedtuple_view(cls)
        items = tuple(_item_type(name, getattr(value, name)) for name in view._fields)
        return NamedTupleType(ClassRef(cls.__module__, cls.__qualname__, view), view._fields, items)
    raise ArgumentError(f"a value of type {_class_name(cls)} cannot be passed to a kernel; what can: {_ACCEPTED}")


def _class_name(cls: type) -> str:
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _int_type(value: int) -> ScalarType:
    if _MIN_INT64 <= value < _END_INT64:
        return INT64
    if 0 <= value < _END_UINT64:
        return UINT64
    # Python refuses to write thousands of digits.
    what = f"the integer {value}" if value.bit_length() < 512 else f"an integer of {value.bit_length()} bits"
    raise ArgumentError(f"{what} fits neither int64 nor uint64, and kernels have no larger integers")


def _array_type(array: np.ndarray) -> ArrayType:
    require_unmasked(array)
    flags = array.flags
    layout: Layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return array_type(array.dtype, array.ndim, layout, not flags.writeable, flags.aligned)


def _foreign_type(value: Any) -> ArrayType:
    view = read_interface(value)
    layout = layout_of_strides(view.shape, view.strides, view.dtype.itemsize)
    return array_type(view.dtype, len(view.shape), layout, view.readonly)


def _item_type(name: str, value: Any) -> ArgType:
    try:
        return arg_type_of(value)
    except ArgumentError as error:
        raise ArgumentError(f"item '{name}': {error}") from None


def _tuple_type(value: tuple[Any, ...], cls: type) -> ArgType:
    names = getattr(cls, "_fields", None)
    labels = names or range(len(value))
    items = tuple(_item_type(str(label), item) for label, item in zip(labels, value, strict=True))
    if names:
        return NamedTupleType(ClassRef(cls.__module__, cls.__qualname__, cls), tuple(names), items)
    return TupleType(items)


def _enum_type(cls: type[enum.Enum]) -> EnumType:
    try:
        types = {arg_type_of(member.value) for member in cls}
    except ArgumentError as error:
        raise ArgumentError(f"enum {_class_name(cls)}: {error}") from None
    (dtype, *others) = types
    if others or not isinstance(dtype, (ScalarType, TupleType)):
        names = ", ".join(sorted(map(str, types)))
        raise ArgumentError(
            f"members of enum {_class_name(cls)} must all be numbers of one type, or tuples, not of {names}"
        )
    return EnumType.of(cls, dtype, issubclass(cls, enum.IntEnum))


def weak_type_of(value: Any, type_: ArgType) -> ArgType:
    """`type_`, the argument type of `value`, with Python's floats and complex numbers marked as weak."""
    match type_:
        case ScalarType() if type(value) in (float, complex):
            return dataclasses.replace(type_, is_weak=True)
        case TupleType(items=items) | NamedTupleType(items=items):
            values = value if isinstance(value, tuple) else [getattr(value, f.name) for f in dataclasses.fields(value)]
            return dataclasses.replace(type_, items=tuple(map(weak_type_of, values, items)))
    return type_


@lru_cache(maxsize=256)
def namedtuple_view(cls: Any) -> Any:
    """The named tuple class as which instances of a dataclass enter kernels: attributes by name, in order."""
    return namedtuple(cls.__name__, [field.name for field in dataclasses.fields(cls)])
