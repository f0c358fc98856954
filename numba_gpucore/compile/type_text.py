"""Numba's types as JSON, for implementations that outlive the process. Before: stored_overloads. After: the disk.

Only types whose content is a few names and numbers; `NotExpressible` for all others, whose implementations are compiled
in each process. What `decode_type` gives equals what `encode_type` was given.
"""

from __future__ import annotations

from typing import Any

from numba_gpucore.compile.numba_api import types


class NotExpressible(Exception):
    """Something has no text here."""


_NAMED = (types.Integer, types.Float, types.Complex, types.Boolean, types.NoneType, types.SliceType)
#: Named types that numba.types has under another name.
_SLICES = {type_.name: type_ for type_ in (types.slice2_type, types.slice3_type)}
_LITERALS = {cls.__name__: cls for cls in (types.IntegerLiteral, types.BooleanLiteral, types.StringLiteral)}
_CONSTANTS = (bool, int, float, str, type(None))


def encode_type(type_: types.Type) -> Any:
    """What JSON can hold. Raises NotExpressible."""
    encoded = _encode(type_)
    if decode_type(encoded) != type_:
        raise NotExpressible(f"type {type_}")
    return encoded


def _encode(type_: types.Type) -> Any:
    cls = type(type_)
    if cls in _NAMED:
        return type_.name
    if cls.__name__ in _LITERALS:
        return [cls.__name__, type_.literal_value]
    if cls is types.Omitted and type(type_.value) in _CONSTANTS:
        return ["Omitted", type_.value]
    if cls is types.Array:
        return ["Array", _encode(type_.dtype), type_.ndim, type_.layout, not type_.mutable, type_.aligned]
    if cls in (types.UniTuple, types.Tuple):
        return ["Tuple", *map(_encode, type_.types)]
    if cls is types.DType:
        return ["DType", _encode(type_.dtype)]
    if cls is types.NumberClass:
        return ["NumberClass", _encode(type_.instance_type)]
    raise NotExpressible(f"type {type_}")


def decode_type(data: Any) -> types.Type:
    """The type that was encoded. Raises NotExpressible for what no type was encoded as."""
    if isinstance(data, str):
        found = _SLICES.get(data) or getattr(types, data, None)
        if not isinstance(found, types.Type):
            raise NotExpressible(f"type {data}")
        return found
    kind, *rest = data
    if kind in _LITERALS:
        return types.literal(*rest)
    if kind == "Omitted":
        return types.Omitted(*rest)
    if kind == "Array":
        dtype, ndim, layout, readonly, aligned = rest
        return types.Array(decode_type(dtype), ndim, layout, readonly=readonly, aligned=aligned)
    if kind == "Tuple":
        return types.Tuple.from_types(tuple(map(decode_type, rest)))
    if kind == "DType":
        return types.DType(decode_type(*rest))
    if kind == "NumberClass":
        return types.NumberClass(decode_type(*rest))
    raise NotExpressible(f"type {data}")
