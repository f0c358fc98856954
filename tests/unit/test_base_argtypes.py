"""Argument types that mean something in the process only in which they were made."""

from __future__ import annotations

import pytest

from numba_gpucore.base.argtypes import (
    ArgType,
    ArrayType,
    ClassRef,
    EnumType,
    FieldType,
    NamedTupleType,
    NoneArgType,
    OptionalType,
    PointerType,
    RecordType,
    ScalarType,
    StructType,
    TupleType,
    is_of_one_process,
)

FLOAT = ScalarType("float32", 4)
RECORD = RecordType((FieldType("x", FLOAT, 0),), 4, aligned=True)
STRUCT = StructType("Point", RECORD, numba_type=object())
NAMED = ClassRef("program", "Pair")
FLOATS, RECORDS, STRUCTS = (ArrayType(dtype, 1, "C") for dtype in (FLOAT, RECORD, STRUCT))


@pytest.mark.parametrize(
    "type_",
    [
        STRUCTS,
        ArrayType(STRUCT, 3, "A", readonly=True, aligned=False),
        TupleType((FLOAT, STRUCTS)),
        NamedTupleType(NAMED, ("a", "b"), (FLOAT, STRUCTS)),
        OptionalType(STRUCTS),
        TupleType((FLOAT, TupleType((OptionalType(NamedTupleType(NAMED, ("a",), (STRUCTS,))),)))),
    ],
    ids=str,
)
def test_users_types_at_any_depth_are_of_one_process(type_: ArgType) -> None:
    assert is_of_one_process(type_)


@pytest.mark.parametrize(
    "type_",
    [
        FLOAT,
        ScalarType("float64", 8, is_weak=True),
        FLOATS,
        RECORD,
        RECORDS,
        PointerType(RECORD),
        NoneArgType(),
        EnumType(NAMED, ScalarType("int64", 8), is_int=True, members="A=1, B=2"),
        TupleType(()),
        TupleType((FLOAT, RECORDS)),
        NamedTupleType(NAMED, ("a", "b"), (FLOAT, RECORDS)),
        OptionalType(FLOATS),
    ],
    ids=str,
)
def test_what_a_text_tells_holds_in_every_process(type_: ArgType) -> None:
    assert not is_of_one_process(type_)
