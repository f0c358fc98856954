"""Constant arrays as MSL initialisers. Before: `ir_reader`. After: `print_kernel`.

An array is flattened to its bytes and read back as numbers of its element type, so that records and arrays of arrays
need no structs of their own.
"""

from __future__ import annotations

import struct

from numba_metal.codegen.expressions import float_literal, int_literal
from numba_metal.codegen.ir_types import (
    Aggregate,
    ArrayType,
    ConstBytes,
    ConstFloat,
    ConstInt,
    FloatType,
    IntType,
    StructType,
    Type,
    Undefined,
    Value,
    Zero,
    field_offset,
    size_of,
)
from numba_metal.codegen.values import CannotPrint

_INTEGERS = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q", "ulong": "Q"}
_FLOATS = {"half": ("e", 2), "float": ("f", 4)}


def constant_initializer(value: Value, type_: Type, element: str) -> list[str]:
    """The numbers of a constant, as literals of MSL type `element`."""
    data = constant_bytes(value, type_)
    if element in _INTEGERS:
        code = _INTEGERS[element]
        nbytes = struct.calcsize(code)
        data += bytes(-len(data) % nbytes)
        numbers = struct.unpack(f"<{len(data) // nbytes}{code}", data)
        plain = element in ("char", "uchar", "short", "ushort")
        return [str(number) if plain else int_literal(number, element).text for number in numbers]
    code, nbytes = _FLOATS[element]
    data += bytes(-len(data) % nbytes)
    reals = struct.unpack(f"<{len(data) // nbytes}{code}", data)
    return [float_literal(_constant(real, element)).text for real in reals]


def _constant(value: float, element: str) -> ConstFloat:
    return ConstFloat(value, struct.unpack("<Q", struct.pack("<d", value))[0], FloatType(element))


def constant_bytes(value: Value, type_: Type) -> bytes:
    """The little-endian bytes of a constant, padding included. Raises CannotPrint."""
    nbytes = size_of(type_)
    match value, type_:
        case ((Zero() | Undefined()), _):
            return bytes(nbytes)
        case ConstInt(value=number), IntType():
            return (number & ((1 << 8 * nbytes) - 1)).to_bytes(nbytes, "little")
        case ConstFloat(value=number), FloatType(name=name):
            if name == "bfloat":
                return struct.pack("<f", number)[2:]
            return struct.pack({"half": "<e", "float": "<f", "double": "<d"}[name], number)
        case ConstBytes(data=data), _:
            return data
        case Aggregate(items=items), ArrayType(item=item):
            return b"".join(constant_bytes(each, item) for each in items)
        case Aggregate(items=items), StructType(items=types):
            fields = b""
            for index, (each, each_type) in enumerate(zip(items, types, strict=True)):
                fields = fields.ljust(field_offset(type_, index), b"\0") + constant_bytes(each, each_type)
            return fields.ljust(nbytes, b"\0")
    raise CannotPrint(f"a constant of type {type_}")
