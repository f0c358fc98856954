"""Which number types arguments have inside a kernel. Before: the types of values. After: CompileRequest, marshalling.

Where a program has no float64, a Python float is passed as a float32; with the option `float64="float32"` so is all
that is float64 outside.
"""

from __future__ import annotations

from dataclasses import replace

from numba_gpucore.base.argtypes import (
    ArgType,
    ArrayType,
    EnumType,
    NamedTupleType,
    OptionalType,
    RecordType,
    ScalarType,
    TupleType,
)
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.target import Target

_NARROWER = {"float64": ("float32", 4), "complex128": ("complex64", 8)}


def has_float64(target: Target, options: KernelOptions) -> bool:
    """Whether a kernel with these options may compute in double precision."""
    return target.rules.has_float64 and options.float64 is None


def has_weak_literals(target: Target, options: KernelOptions) -> bool:
    """Whether Python floats take the other operand's type."""
    return target.rules.weak_literals or options.weak_literals


def passed_type(type_: ArgType, target: Target, options: KernelOptions) -> ArgType:
    """The type as which a kernel gets an argument of this one. Passing that again changes nothing."""
    if has_float64(target, options):
        return type_
    return _narrow(type_, weak_only=options.float64 != "float32")


def _narrow(type_: ArgType, weak_only: bool) -> ArgType:
    match type_:
        case ScalarType() | RecordType():
            return _narrow_element(type_, weak_only)
        case ArrayType(dtype=ScalarType() | RecordType() as dtype):
            return replace(type_, dtype=_narrow_element(dtype, weak_only))
        # The values of an enum's members are Python's numbers.
        case EnumType(dtype=ScalarType() as dtype):
            return replace(type_, dtype=_narrow_scalar(dtype, weak_only=False))
        case EnumType(dtype=TupleType(items=items)):
            return replace(type_, dtype=TupleType(tuple(_narrow(item, weak_only=False) for item in items)))
        case TupleType(items=items) | NamedTupleType(items=items):
            return replace(type_, items=tuple(_narrow(item, weak_only) for item in items))
        case OptionalType(item=item):
            return OptionalType(_narrow(item, weak_only))
    return type_


def _narrow_element(type_: ScalarType | RecordType, weak_only: bool) -> ScalarType | RecordType:
    if isinstance(type_, ScalarType):
        return _narrow_scalar(type_, weak_only)
    # Fields stay where they are, so that a record keeps its size and alignment.
    return replace(type_, fields=tuple(replace(f, type=_narrow_element(f.type, weak_only)) for f in type_.fields))


def _narrow_scalar(type_: ScalarType, weak_only: bool) -> ScalarType:
    narrow = _NARROWER.get(type_.name)
    return ScalarType(*narrow, type_.is_weak) if narrow and (type_.is_weak or not weak_only) else type_
