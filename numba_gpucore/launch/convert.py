"""Passing a value as another type, where the user declared one. Before: an eager signature. After: marshal.

Only what keeps the number is done; the rest is an error, since a kernel would silently get a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

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
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.dtypes import BFLOAT16_NAME
from numba_gpucore.elements import dtype_of

#: How far a type is from another: how many of its parts change unsafely, within their kind, safely.
Distance = tuple[int, int, int]
_SAME: Distance = (0, 0, 0)
_SAFE: Distance = (0, 0, 1)
_UNSAFE: Distance = (1, 0, 0)
_CASTINGS: tuple[tuple[Literal["safe", "same_kind", "unsafe"], Distance], ...] = (
    ("safe", _SAFE),
    ("same_kind", (0, 1, 0)),
    ("unsafe", _UNSAFE),
)


def passing_distance(given: ArgType, declared: ArgType) -> Distance | None:
    """How far `given` is from `declared`; None where it cannot be passed as that."""
    if given == declared:
        return _SAME
    match given, declared:
        case NoneArgType(), OptionalType():
            return _SAFE
        case _, OptionalType(item=item):
            inner = passing_distance(given, item)
            return None if inner is None else _add(inner, _SAFE)
        case ScalarType(), PointerType():
            return _SAFE if dtype_of(given).kind in "iu" else None
        case ArrayType(dtype=dtype), PointerType(item=item):
            return _SAFE if dtype == item else None
        case ArrayType(), ArrayType():
            return _array_distance(given, declared)
        case EnumType(dtype=ScalarType() as dtype), ScalarType():
            return _number_distance(dtype, declared)
        case ScalarType(), ScalarType():
            return _number_distance(given, declared)
        case (TupleType() | NamedTupleType(), TupleType() | NamedTupleType()):
            return total_distance(given.items, declared.items)
    return None


def _add(first: Distance, second: Distance) -> Distance:
    return first[0] + second[0], first[1] + second[1], first[2] + second[2]


def total_distance(given: Sequence[ArgType], declared: Sequence[ArgType]) -> Distance | None:
    """The sum over all items; None where the numbers of items differ or one cannot be passed."""
    total = _SAME
    if len(given) != len(declared):
        return None
    for given_item, declared_item in zip(given, declared, strict=True):
        distance = passing_distance(given_item, declared_item)
        if distance is None:
            return None
        total = _add(total, distance)
    return total


def _array_distance(given: ArrayType, declared: ArrayType) -> Distance | None:
    if given.ndim != declared.ndim or declared.layout not in ("A", given.layout):
        return None
    if given.readonly and not declared.readonly:
        return None
    if given.dtype == declared.item:
        return _SAFE
    # The same bits as signed and unsigned integers: numba.cuda passes such arrays too.
    kinds = {dtype_of(given.item).kind, dtype_of(declared.item).kind}
    return _UNSAFE if kinds == {"i", "u"} and given.item.nbytes == declared.item.nbytes else None


def _dtype_like(type_: ScalarType) -> np.dtype:
    """The dtype of numbers that convert like those of a type: NumPy's casting rules do not know bfloat16."""
    return np.dtype(np.float32) if type_.name == BFLOAT16_NAME else dtype_of(type_)


def _number_distance(given: ScalarType, declared: ScalarType) -> Distance | None:
    source, target = _dtype_like(given), _dtype_like(declared)
    if given.name == declared.name:
        return _SAME
    if source.kind not in "biufc" or target.kind not in "biufc":
        return None
    return next((distance for casting, distance in _CASTINGS if np.can_cast(source, target, casting)), None)


def nearest_signatures(
    given: Sequence[ArgType], signatures: Sequence[tuple[ArgType, ...]]
) -> list[tuple[ArgType, ...]]:
    """The declared signatures nearest to the given types: none if none fits, several if they are equally near.

    Fewest unsafe conversions count first, then fewest within a kind, then fewest safe ones (Numba's order).
    """
    distances = [(total_distance(given, signature), signature) for signature in signatures]
    fitting = [(distance, signature) for distance, signature in distances if distance is not None]
    if not fitting:
        return []
    smallest = min(distance for distance, _ in fitting)
    return list(dict.fromkeys(signature for distance, signature in fitting if distance == smallest))


def number_converter(type_: ScalarType) -> Callable[[Any], Any]:
    """A function that turns any number into one that `type_` can hold. It raises ArgumentError where that changes it
    by more than rounding."""
    dtype = dtype_of(type_)
    if dtype.kind in "iu":
        bits = 8 * type_.nbytes
        low, end = -(2 ** (bits - 1)), 2**bits
        wrap_from = end if dtype.kind == "u" else end // 2

        def to_int(value: Any) -> int:
            try:
                number = int(value.real) if isinstance(value, (complex, np.complexfloating)) else int(value)
            except (ValueError, OverflowError):  # NaN and infinities
                number = end
            if number != value or not low <= number < end:
                raise ArgumentError(f"{value!r} cannot be passed as {type_}: it must be a whole number of {bits} bits")
            # Masks are written as 0xFFFFFFFF and as -1, whatever the sign of the type: the bits are what counts.
            return number - end if number >= wrap_from else number % end if dtype.kind == "u" else number

        return to_int
    if dtype.kind == "b":
        return bool

    def to_float(value: Any) -> Any:
        if dtype.kind == "f" and isinstance(value, (complex, np.complexfloating)):
            raise ArgumentError(f"the complex number {value!r} cannot be passed as {type_}; pass its .real")
        with np.errstate(over="ignore"):
            return dtype.type(value)

    return to_float


def zero_value(type_: ArgType) -> Any:
    """A value of that type, which stands in for None. Raises ArgumentError where there is none."""
    match type_:
        case ScalarType() | RecordType():
            return np.zeros((), dtype_of(type_))[()]
        case ArrayType(ndim=ndim):
            return np.zeros((0,) * ndim, dtype_of(type_.item))
        case TupleType(items=items):
            return tuple(map(zero_value, items))
        case NoneArgType():
            return None
    raise ArgumentError(f"None cannot be passed as {OptionalType(type_)}")
