"""Argument types to Numba's types and back. Before: CompileRequest, eager signatures. After: typing."""

from __future__ import annotations

from collections import namedtuple
from importlib import import_module
from typing import Any

from numba_gpucore.base.argtypes import (
    ArgType,
    ArrayType,
    ClassRef,
    EnumType,
    NamedTupleType,
    NoneArgType,
    OptionalType,
    PointerType,
    RecordType,
    ScalarType,
    StructType,
    TupleType,
)
from numba_gpucore.base.errors import ArgumentError, OptionError
from numba_gpucore.compile.numba_api import numpy_support, sigutils, types
from numba_gpucore.compile.struct_layout import has_struct_model, lay_out_struct
from numba_gpucore.compile.typing.bfloat16 import BFloat16, RecordOfBFloat16, bfloat16
from numba_gpucore.compile.weak_numbers import weak_number
from numba_gpucore.dtypes import BFLOAT16_NAME
from numba_gpucore.elements import dtype_of, element_type


def to_numba(type_: ArgType) -> types.Type:
    """The Numba type that `numba.typeof` gives a value of this type."""
    match type_:
        case ScalarType(is_weak=True):
            return weak_number(numpy_support.from_dtype(dtype_of(type_)))
        case ScalarType(name=name) if name == BFLOAT16_NAME:
            return bfloat16
        case RecordType() if has_bfloat16(type_):
            return _record_to_numba(type_)
        case ScalarType() | RecordType():
            return numpy_support.from_dtype(dtype_of(type_))
        case ArrayType(dtype=dtype, ndim=ndim, layout=layout, readonly=readonly, aligned=aligned):
            item = dtype.numba_type if isinstance(dtype, StructType) else to_numba(dtype)
            return types.Array(item, ndim, layout, readonly=readonly, aligned=aligned)
        case TupleType(items=items):
            return types.BaseTuple.from_types([to_numba(item) for item in items])
        case NamedTupleType(cls=cls, names=names, items=items):
            return types.BaseTuple.from_types([to_numba(item) for item in items], _find_class(cls, names))
        case EnumType(cls=cls, dtype=dtype, is_int=is_int):
            numba_class = types.IntEnumMember if is_int else types.EnumMember
            return numba_class(_find_class(cls), to_numba(dtype))
        case NoneArgType():
            return types.none
        case PointerType(item=item):
            return types.CPointer(to_numba(item))
        case OptionalType(item=item):
            return types.Optional(to_numba(item))
    raise TypeError(f"no such argument type: {type_!r}")


def has_bfloat16(type_: ScalarType | RecordType) -> bool:
    """True if a number or a field of a record, at any depth, is bfloat16."""
    if isinstance(type_, RecordType):
        return any(has_bfloat16(field.type) for field in type_.fields)
    return type_.name == BFLOAT16_NAME


def _record_to_numba(type_: RecordType) -> types.Record:
    """As `numba.typeof`, which refuses records with fields of types that Numba lacks."""
    fields = []
    for field in type_.fields:
        item = to_numba(field.type)
        field_type = types.NestedArray(item, field.shape) if field.shape else item
        fields.append((field.name, {"type": field_type, "offset": field.offset_nbytes}))
    return RecordOfBFloat16(fields, dtype_of(type_))


def _find_class(ref: ClassRef, names: tuple[str, ...] | None = None) -> type:
    """The class itself. A named tuple that cannot be imported is made anew: only its fields matter on a device."""
    if ref.cls is not None:
        return ref.cls
    found: object = import_module(ref.module)
    for part in ref.qualname.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type):
        return found
    if names is None:
        raise ArgumentError(f"class {ref} cannot be imported; define it at the top level of its module")
    return namedtuple(ref.qualname.rsplit(".", 1)[-1], names)


def from_numba(type_: types.Type) -> ArgType:
    """The argument type for a Numba type of an eager signature. Raises ArgumentError for what no argument can be."""
    match type_:
        case BFloat16():
            return ScalarType(BFLOAT16_NAME, 2)
        case (
            types.Boolean()
            | types.Integer()
            | types.Float()
            | types.Complex()
            | types.NPDatetime()
            | types.NPTimedelta()
            | types.UnicodeCharSeq()
            | types.CharSeq()
            | types.Record()
        ):
            return element_type(numpy_support.as_dtype(type_))
        case types.Array():
            return ArrayType(_item_from_numba(type_.dtype), type_.ndim, type_.layout, not type_.mutable, type_.aligned)
        case types.NamedTuple() | types.NamedUniTuple():
            cls = type_.instance_class
            items = tuple(map(from_numba, type_.types))
            return NamedTupleType(ClassRef(cls.__module__, cls.__qualname__, cls), tuple(type_.fields), items)
        case types.BaseTuple():
            return TupleType(tuple(map(from_numba, type_.types)))
        case types.EnumMember():
            cls = type_.instance_class
            dtype = from_numba(type_.dtype)
            if not isinstance(dtype, (ScalarType, TupleType)):
                raise ArgumentError(
                    f"an enum of {type_.dtype} cannot be passed to a kernel; its values must be numbers or tuples"
                )
            return EnumType.of(cls, dtype, isinstance(type_, types.IntEnumMember))
        case types.NoneType():
            return NoneArgType()
        case types.CPointer():
            item = from_numba(type_.dtype)
            if isinstance(item, (ScalarType, RecordType)):
                return PointerType(item)
        case types.Optional():
            return OptionalType(from_numba(type_.type))
    raise ArgumentError(
        f"an argument of a kernel cannot be of type {type_}; it can be a number, an array, a record, "
        "a tuple of those, an enum member or None"
    )


def _item_from_numba(type_: types.Type) -> ScalarType | RecordType | StructType:
    """The type of an array's items. Raises ArgumentError for what no item can be."""
    if has_struct_model(type_):
        return StructType(str(type_), lay_out_struct(type_, from_numba), type_)
    item = from_numba(type_)
    if not isinstance(item, (ScalarType, RecordType)):
        raise ArgumentError(
            f"items of arrays cannot be of type {type_}; they can be numbers, characters, records and types with a "
            "struct model of numbers"
        )
    return item


def read_signature(signature: Any) -> tuple[tuple[types.Type, ...], types.Type | None]:
    """Argument types and result type of what Numba takes as a signature. Raises TypeError."""
    try:
        return sigutils.normalize_signature(signature)
    except (NameError, SyntaxError, AttributeError) as error:  # of a text, which Numba evaluates
        raise OptionError(f"{signature!r} is no signature: {error}") from error
