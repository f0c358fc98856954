"""Passing a value as another type, where the user declared one. Before: an eager signature. After: marshal.

Only what keeps the number is done; the rest is an error, since a kernel would silently get a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numba_gpucore.base.argtypes import (
    ArgType,
    ArrayType,
    EnumType,
    NamedTupleType,
    NoneArgType,
    OptionalType,
    RecordType,
    ScalarType,
    TupleType,
)
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.launch.elements import dtype_of

_COST = {"no": 0, "safe": 1, "same_kind": 2, "unsafe": 3}


def passing_cost(given: ArgType, declared: ArgType) -> int | None:
    """How far `given` is from `declared`: 0 for equal types, None where it cannot be passed as that."""
    if given == declared:
        return 0
    match given, declared:
        case _, OptionalType(item=item):
            return 1 if isinstance(given, NoneArgType) else _one_more(passing_cost(given, item))
        case ArrayType(), ArrayType():
            fits = (
                (given.dtype, given.ndim) == (declared.dtype, declared.ndim)
                and declared.layout in ("A", given.layout)
                and declared.readonly >= given.readonly
            )
            return 1 if fits else None
        case EnumType(dtype=dtype), ScalarType():
            return _one_more(passing_cost(dtype, declared))
        case ScalarType(), ScalarType():
            return _number_cost(given, declared)
        case (TupleType() | NamedTupleType(), TupleType() | NamedTupleType()):
            return _items_cost(given.items, declared.items)
    return None


def _one_more(cost: int | None) -> int | None:
    return None if cost is None else cost + 1


def _items_cost(given: Sequence[ArgType], declared: Sequence[ArgType]) -> int | None:
    if len(given) != len(declared):
        return None
    costs = [passing_cost(g, d) for g, d in zip(given, declared, strict=True)]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _number_cost(given: ScalarType, declared: ScalarType) -> int | None:
    source, target = dtype_of(given), dtype_of(declared)
    if source.kind not in "biufc" or target.kind not in "biufc":
        return None
    for casting, cost in _COST.items():
        if np.can_cast(source, target, casting=casting):  # type: ignore[arg-type]
            return cost
    return None


def choose_signature(given: Sequence[ArgType], signatures: Sequence[tuple[ArgType, ...]]) -> tuple[ArgType, ...] | None:
    """The declared signature nearest to the given types, the first of several equally near; None if none fits."""
    best, best_cost = None, None
    for signature in signatures:
        cost = _items_cost(given, signature)
        if cost is not None and (best_cost is None or cost < best_cost):
            best, best_cost = signature, cost
    return best


def number_converter(type_: ScalarType) -> Callable[[Any], Any]:
    """A function that turns any number into one that `type_` can hold. It raises ArgumentError where that changes it
    by more than rounding."""
    dtype = dtype_of(type_)
    if dtype.kind in "iu":
        bits = 8 * type_.nbytes
        low, end = -(2 ** (bits - 1)), 2**bits
        wrap_from = end if dtype.kind == "u" else end // 2

        def to_int(value: Any) -> int:
            number = int(value.real) if isinstance(value, (complex, np.complexfloating)) else int(value)
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
        case ArrayType(dtype=dtype, ndim=ndim):
            return np.zeros((0,) * ndim, dtype_of(dtype))
        case TupleType(items=items):
            return tuple(map(zero_value, items))
        case NoneArgType():
            return None
    raise ArgumentError(f"None cannot be passed as {OptionalType(type_)}")
