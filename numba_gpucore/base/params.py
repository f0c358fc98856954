"""How arguments lie in memory when a kernel starts. Before: argument types. After: marshalling and the kernel's entry.

One layout for every back-end, so that the launch half and the compile half cannot disagree. An argument becomes a
list of slots in this order; a slot lies at the next multiple of its own size:

=================  ==========================================================================
argument           slots
=================  ==========================================================================
integer, bool,     one slot of its own size (bool: 1 byte; datetime64, timedelta64: int64)
float, enum
complex            real part, imaginary part
array, C or F      address, then `ndim` extents (int64)
array, A           address, then `ndim` extents, then `ndim` strides in bytes (int64)
record, characters address of its bytes
tuple              the slots of each item
pointer            address
None               no slot
Optional           the slots of its item, then one byte: 1 if there is a value
=================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

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
from numba_gpucore.base.records import dataclass

POINTER_NBYTES = 8
SlotKind = Literal["address", "extent", "stride", "int", "uint", "float", "valid"]


@dataclass(frozen=True)
class ParamSlot:
    """One number in the parameter block. `argument` is the position of the Python argument that it belongs to."""

    argument: int
    kind: SlotKind
    offset_nbytes: int
    nbytes: int


def is_by_address(type_: ArgType) -> bool:
    """True for scalars that are passed as the address of their bytes: records and character strings."""
    return isinstance(type_, RecordType) or (isinstance(type_, ScalarType) and type_.name[0] in "US")


def _scalar_slots(type_: ScalarType) -> Iterator[tuple[SlotKind, int]]:
    name = type_.name
    if is_by_address(type_):
        yield "address", POINTER_NBYTES
    elif name.startswith("complex"):
        yield "float", type_.nbytes // 2
        yield "float", type_.nbytes // 2
    elif name.startswith("float"):
        yield "float", type_.nbytes
    elif name.startswith(("uint", "bool", "bfloat")):  # bfloat16: its bits
        yield "uint", type_.nbytes
    else:
        yield "int", type_.nbytes


def _slots_of(type_: ArgType) -> Iterator[tuple[SlotKind, int]]:
    match type_:
        case ScalarType():
            yield from _scalar_slots(type_)
        case RecordType():
            yield "address", POINTER_NBYTES
        case ArrayType(ndim=ndim, layout=layout):
            yield "address", POINTER_NBYTES
            for _ in range(ndim):
                yield "extent", 8
            for _ in range(ndim if layout == "A" else 0):
                yield "stride", 8
        case TupleType(items=items) | NamedTupleType(items=items):
            for item in items:
                yield from _slots_of(item)
        case EnumType(dtype=dtype):
            yield from _slots_of(dtype)
        case NoneArgType():
            return
        case PointerType():
            yield "address", POINTER_NBYTES
        case OptionalType(item=item):
            yield from _slots_of(item)
            yield "valid", 1


def round_up(nbytes: int, unit: int) -> int:
    """The smallest multiple of `unit` that is not below `nbytes`."""
    return -(-nbytes // unit) * unit


def lay_out_params(types: Iterable[ArgType]) -> tuple[ParamSlot, ...]:
    """The slots of a kernel's parameter block, in order of their addresses."""
    slots: list[ParamSlot] = []
    end = 0
    for argument, type_ in enumerate(types):
        for kind, nbytes in _slots_of(type_):
            offset = round_up(end, nbytes)
            slots.append(ParamSlot(argument, kind, offset, nbytes))
            end = offset + nbytes
    return tuple(slots)


def params_nbytes(slots: tuple[ParamSlot, ...]) -> int:
    """Size of the parameter block in bytes, without padding at its end."""
    return slots[-1].offset_nbytes + slots[-1].nbytes if slots else 0
