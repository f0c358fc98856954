"""Array fields of records whose items lie at odd addresses. Before: typing of a field. After: loads and stores.

Numba reads numbers of packed records byte by byte, but takes the items of their array fields for aligned: GPUs fault
on that, and C++ leaves it open.
"""

from __future__ import annotations

from numba_gpucore.compile.numba_api import datamodel, numpy_support, types
from numba_gpucore.compile.typing.bfloat16 import BFloat16


class UnalignedNestedArray(types.NestedArray):
    """An array field of a record, to be read and written byte by byte."""

    def __init__(self, dtype: types.Type, shape: tuple[int, ...]):
        super().__init__(dtype, shape)
        self.name = f"unaligned nestedarray({dtype}, {shape})"
        self.aligned = False


datamodel.register_default(UnalignedNestedArray)(datamodel.models.NestedArrayModel)


class FieldTyping:
    """Mixed into a typing context."""

    def resolve_getattr(self, typ, attr):
        return _place_field(typ, attr, super().resolve_getattr(typ, attr))

    def resolve_static_getitem(self, value, index):
        signature = super().resolve_static_getitem(value, index)
        if signature is not None:
            signature = signature.replace(return_type=_place_field(value, index, signature.return_type))
        return signature


def _place_field(owner, name, field_type):
    """The type of a record's field, or of that field of all records of an array, unaligned if its items can lie at odd
    addresses."""
    record = owner.dtype if isinstance(owner, types.Array) else owner
    if not isinstance(record, types.Record) or name not in record.fields or not isinstance(field_type, types.Array):
        return field_type
    alignment = _alignment(field_type.dtype)
    if record.offset(name) % alignment == 0 and record.size % alignment == 0:
        return field_type
    if isinstance(field_type, types.NestedArray):
        return UnalignedNestedArray(field_type.dtype, field_type.shape)
    return types.Array(
        field_type.dtype, field_type.ndim, field_type.layout, readonly=not field_type.mutable, aligned=False
    )


def _alignment(item: types.Type) -> int:
    """In bytes. Numbers of packed records need none: each is read by its own rules."""
    if isinstance(item, types.NestedArray):
        return _alignment(item.dtype)
    return item.bitwidth // 8 if isinstance(item, BFloat16) else numpy_support.as_dtype(item).alignment
