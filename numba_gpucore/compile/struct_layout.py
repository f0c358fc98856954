"""Where the members of users' struct types lie in arrays. Before: numba_types. After: arguments, marshalling."""

from __future__ import annotations

from collections.abc import Callable

from numba_gpucore.base.argtypes import ArgType, FieldType, RecordType, ScalarType
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.base.params import round_up
from numba_gpucore.compile.data_models import DATA_MODELS
from numba_gpucore.compile.numba_api import datamodel, types

#: Types of Numba's own that have struct models too: what they hold is of their process, or no memory at all.
_NUMBAS_OWN = ("numba.core.types", "numba_gpucore")


def has_struct_model(type_: types.Type) -> bool:
    """True for a type of the user's own whose data model is a `StructModel`."""
    if type(type_).__module__.startswith(_NUMBAS_OWN):
        return False
    try:
        return isinstance(DATA_MODELS[type_], datamodel.models.StructModel)
    except KeyError:
        return False


def lay_out_struct(type_: types.Type, from_numba: Callable[[types.Type], ArgType]) -> RecordType:
    """The record that lies as LLVM lays out a type's data model. Raises ArgumentError for members that are neither
    numbers nor structs of them."""
    model = DATA_MODELS[type_]
    fields, end, widest = [], 0, 1
    for name, member in zip(model._fields, model._members, strict=True):
        item = lay_out_struct(member, from_numba) if has_struct_model(member) else from_numba(member)
        # Records are bytes to LLVM, so that they would lie where no field of NumPy's aligned records does.
        if not isinstance(item, (ScalarType, RecordType)) or isinstance(member, types.Record):
            raise ArgumentError(
                f"member '{name}' of {type_} is of type {member}; members of items can be numbers, and structs of them"
            )
        align_nbytes = _align_nbytes(item)
        offset_nbytes = round_up(end, align_nbytes)
        fields.append(FieldType(name, item, offset_nbytes))
        end, widest = offset_nbytes + item.nbytes, max(widest, align_nbytes)
    return RecordType(tuple(fields), round_up(end, widest), aligned=True)


def _align_nbytes(item: ScalarType | RecordType) -> int:
    """That of LLVM's structs, and of NumPy's aligned records."""
    if isinstance(item, RecordType):
        return max((_align_nbytes(field.type) for field in item.fields), default=1)
    if item.name[0] in "US":
        return 4 if item.name[0] == "U" else 1
    return item.nbytes // 2 if item.name.startswith("complex") else item.nbytes
