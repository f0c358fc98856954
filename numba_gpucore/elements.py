"""NumPy dtypes as argument types. Before: an array, a NumPy scalar. After: both halves.

Only what Numba can compile passes: native byte order, real numbers up to 64 and complex up to 128 bits, datetime64,
timedelta64, character strings and records of these.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from numba_gpucore.base.argtypes import ArrayType, FieldType, Layout, RecordType, ScalarType
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.dtypes import BFLOAT16_NAME, bfloat16_dtype

_MAX_NBYTES = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16, "m": 8, "M": 8}


def element_type(dtype: np.dtype) -> ScalarType | RecordType:
    """The argument type of one element of `dtype`. Raises ArgumentError for dtypes that Numba has no type for."""
    # Records are not remembered: dtypes that differ in alignment only are equal.
    return _plain_type(dtype) if dtype.names is None else _record_type(dtype)


@lru_cache(maxsize=256)
def _plain_type(dtype: np.dtype) -> ScalarType:
    if dtype.kind in "US":
        count = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        return ScalarType(f"{dtype.kind}{count}", dtype.itemsize)
    if dtype.name == BFLOAT16_NAME:
        return ScalarType(BFLOAT16_NAME, 2)
    reason = ""
    if not dtype.isnative:
        reason = ": its byte order is not this machine's"
    elif dtype.kind in "mM" and np.datetime_data(dtype)[1] != 1:
        reason = ": its unit of time is a multiple of another"
    if reason or dtype.itemsize > _MAX_NBYTES.get(dtype.kind, -1):
        raise ArgumentError(
            f"NumPy dtype {dtype!s} cannot be used in a kernel{reason}; use bool, integers or floats of up to 64 bits, "
            "complex64, complex128, datetime64, timedelta64, fixed-size strings, or records of these"
        )
    return ScalarType(dtype.name, dtype.itemsize)


def _record_type(dtype: np.dtype) -> RecordType:
    names = dtype.names or ()
    fields = tuple(_field_type(name, dtype) for name in names)
    return RecordType(fields, dtype.itemsize, dtype.isalignedstruct)


def _field_type(name: str, record: np.dtype) -> FieldType:
    field_dtype, offset_nbytes = record.fields[name][:2]  # type: ignore[index]
    try:
        return FieldType(name, element_type(field_dtype.base), offset_nbytes, field_dtype.shape)
    except ArgumentError as error:
        raise ArgumentError(f"field '{name}': {error}") from None


def array_type(dtype: np.dtype, ndim: int, layout: Layout, readonly: bool = False, aligned: bool = True) -> ArrayType:
    """The type of an array. Like Numba's, it counts as aligned only if its records are (numba.core.types.Array)."""
    element = element_type(dtype)
    if isinstance(element, RecordType):
        aligned = aligned and element.aligned
    return ArrayType(element, ndim, layout, readonly, aligned)


def dtype_of(type_: ScalarType | RecordType) -> np.dtype:
    """The NumPy dtype of an element type: the inverse of `element_type`."""
    if isinstance(type_, ScalarType):
        return bfloat16_dtype() if type_.name == BFLOAT16_NAME else np.dtype(type_.name)
    formats = [(dtype_of(f.type), f.shape) if f.shape else dtype_of(f.type) for f in type_.fields]
    layout = {
        "names": [f.name for f in type_.fields],
        "formats": formats,
        "offsets": [f.offset_nbytes for f in type_.fields],
        "itemsize": type_.nbytes,
    }
    dtype: np.dtype = np.dtype(layout, align=type_.aligned)  # type: ignore[call-overload]
    return dtype
