"""Argument types of values: as numba.typeof decides, without Numba."""

from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from numba import typeof

from numba_gpucore.base.argtypes import ArgType, ArrayType, ClassRef, NamedTupleType, ScalarType, TupleType
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.compile.numba_types import from_numba
from numba_gpucore.elements import dtype_of, element_type
from numba_gpucore.launch.signature import arg_type_of, type_key

Point = namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    LOW = 1


class Weight(enum.Enum):
    HALF = 0.5
    FULL = 1.0


class Mode(enum.Enum):
    ON = 1

    def __str__(self):
        return f"mode {self.name.lower()}"


class Unwritten(enum.Enum):
    ON = 1

    def __repr__(self):
        raise RuntimeError


@dataclass(frozen=True)
class Body:
    mass: float
    position: np.ndarray


ALIGNED = np.dtype([("a", np.int8), ("b", np.float64, (2, 3)), ("c", [("d", np.complex64)])], align=True)
PACKED = np.dtype([("a", np.int8), ("b", np.float64)])
READONLY = np.broadcast_to(np.float32(3), (4,))

#: Values and the text of their argument type. Texts follow from NumPy's flags and Numba's documented rule for
#: integers: int64, beyond that uint64.
VALUES = {
    "int": (5, "int64"),
    "largest int64": (2**63 - 1, "int64"),
    "smallest int64": (-(2**63), "int64"),
    "beyond int64": (2**63, "uint64"),
    "float": (1.5, "float64"),
    "bool": (True, "bool"),
    "complex": (2j, "complex128"),
    "None": (None, "none"),
    "C": (np.zeros((2, 3)), "array(float64, 2d, C)"),
    "F": (np.zeros((2, 3), order="F"), "array(float64, 2d, F)"),
    "C and F": (np.zeros((1, 3), order="F"), "array(float64, 2d, C)"),
    "strided": (np.zeros((4, 4))[::2], "array(float64, 2d, A)"),
    "one row of many": (np.zeros((4, 4))[:1, :2], "array(float64, 2d, C)"),
    "0-d": (np.zeros((), np.int16), "array(int16, 0d, C)"),
    "empty": (np.zeros((0, 3), np.float32)[:, ::2], "array(float32, 2d, C)"),
    "read-only": (READONLY, "array(float32, 1d, A, readonly)"),
    "array of bool": (np.zeros(2, bool), "array(bool, 1d, C)"),
    "array of dates": (np.zeros(2, "M8[s]"), "array(datetime64[s], 1d, C)"),
    "array of texts": (np.zeros(2, "U3"), "array(U3, 1d, C)"),
    "array of bytes": (np.zeros(2, "S3"), "array(S3, 1d, C)"),
    "array of records": (np.zeros(2, PACKED), "array(Record(a:int8@0, b:float64@1; 9), 1d, C, unaligned)"),
    "record": (
        np.zeros(2, ALIGNED)[0],
        "Record(a:int8@0, b:float64[2x3]@8, c:Record(d:complex64@0; 8, aligned)@56; 64, aligned)",
    ),
    "tuple": ((1, 2.0, np.zeros(2)), "Tuple(int64, float64, array(float64, 1d, C))"),
    "empty tuple": ((), "Tuple()"),
    "nested tuple": ((1, (True, None)), "Tuple(int64, Tuple(bool, none))"),
    "named tuple": (Point(1, 2.0), f"{__name__}.Point(x: int64, y: float64)"),
    "enum": (Colour.RED, f"Enum({__name__}.Colour[RED=1, GREEN=2]: int64)"),
    "enum of floats": (Weight.HALF, f"Enum({__name__}.Weight[HALF=0.5, FULL=1.0]: float64)"),
    "enum that writes itself": (Mode.ON, f"Enum({__name__}.Mode[ON=1 'mode on' {Mode.ON!r} 'mode on']: int64)"),
    "enum that cannot be written": (Unwritten.ON, f"Enum({__name__}.Unwritten[ON=1 RuntimeError]: int64)"),
    "int enum": (Level.LOW, f"IntEnum({__name__}.Level[LOW=1]: int64)"),
    "date": (np.datetime64("2020-01-01"), "datetime64[D]"),
    "time span": (np.timedelta64(3, "ms"), "timedelta64[ms]"),
    **{f"np.{t.__name__}": (t(1), np.dtype(t).name) for t in (np.bool_, np.int8, np.uint64, np.float16, np.complex64)},
}


@pytest.mark.parametrize(("value", "text"), VALUES.values(), ids=VALUES)
def test_type_of_value(value: object, text: str) -> None:
    assert str(arg_type_of(value)) == text


@pytest.mark.parametrize("value", [value for value, _ in VALUES.values()], ids=VALUES)
def test_numba_gives_the_same_type(value: object) -> None:
    assert arg_type_of(value) == from_numba(typeof(value))


def test_unaligned_array_is_marked() -> None:
    """Numba's typeof calls every array aligned; a GPU faults on unaligned ones, so the kernel has to know."""
    unaligned = np.zeros(9, np.uint8)[1:].view(np.float32)
    assert str(arg_type_of(unaligned)) == "array(float32, 1d, C, unaligned)"


def test_texts_carry_their_length() -> None:
    assert arg_type_of(np.str_("héllo")) == ScalarType("U5", 20)
    assert arg_type_of(np.bytes_(b"abc")) == ScalarType("S3", 3)


def test_dataclass_is_a_named_tuple() -> None:
    type_ = arg_type_of(Body(1.0, np.zeros(3)))
    assert type_ == NamedTupleType(
        ClassRef(__name__, "Body"), ("mass", "position"), (ScalarType("float64", 8), arg_type_of(np.zeros(3)))
    )


def test_class_made_in_a_function_travels_along() -> None:
    local = namedtuple("local", "a")
    type_ = arg_type_of(local(1))
    assert isinstance(type_, NamedTupleType)
    assert type_.cls.cls is local


def test_keys_are_equal_exactly_where_types_are() -> None:
    values = [value for value, _ in VALUES.values()] + [7, np.ones((2, 3)), np.ones((2, 3)).T, Colour.GREEN, 2**64 - 1]
    keyed = [(type_key(value), arg_type_of(value)) for value in values]
    for key, type_ in keyed:
        same_key = [other for other_key, other in keyed if other_key == key]
        assert set(same_key) == {type_}


def test_key_does_not_depend_on_content() -> None:
    assert type_key(np.zeros((2, 3), np.int8)) == type_key(np.ones((5, 7), np.int8))
    assert type_key(3) == type_key(-4)
    assert type_key(Point(1, 2)) == type_key(Point(3, 4))


class Foreign:
    """What another package's array looks like."""

    def __init__(self, array: np.ndarray, **changes: object):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, **changes}


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros((2, 3), np.float32), "array(float32, 2d, C)"),
        (np.zeros((2, 3), np.float32).T, "array(float32, 2d, F)"),
        (np.zeros((4, 3), np.float32)[::2], "array(float32, 2d, A)"),
        (np.zeros(3, ALIGNED), None),
    ],
)
def test_foreign_array(array: np.ndarray, text: str | None) -> None:
    type_ = arg_type_of(Foreign(array))
    assert isinstance(type_, ArrayType)
    if text is None:
        assert dtype_of(type_.dtype) == array.dtype
    else:
        assert str(type_) == text


def test_masked_foreign_array_is_refused() -> None:
    with pytest.raises(ArgumentError, match="masked arrays") as caught:
        arg_type_of(Foreign(np.zeros(2), mask=np.zeros(2, bool)))
    assert isinstance(caught.value, NotImplementedError)  # as numba.cuda


class Label(enum.Enum):
    A = "a"


class Metres(float):
    pass


def test_subclasses_of_numbers_are_numbers() -> None:
    assert arg_type_of(Metres(2)) == arg_type_of(2.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": (-4,)},
        {"shape": (4.0,)},
        {"strides": (4, 4)},
        {"strides": "x"},
        {"data": (1.5, False)},
        {"data": 3},
        {"typestr": "<zz"},
    ],
    ids=str,
)
def test_malformed_interfaces_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ArgumentError, match="malformed __cuda_array_interface__"):
        arg_type_of(Foreign(np.zeros(4, np.float32), **changes))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1, 2], r"a value of type list cannot be passed to a kernel; what can: NumPy arrays"),
        ("text", r"a value of type str cannot be passed"),
        (object(), r"a value of type object cannot be passed"),
        (2**64, r"the integer 18446744073709551616 fits neither int64 nor uint64"),
        pytest.param(10**5000, r"an integer of 16610 bits fits neither int64 nor uint64", id="large"),
        (Label.A, r"enum .*Label: a value of type str cannot be passed"),
        (np.zeros(2, "m8[25us]"), r"dtype timedelta64\[25us\] cannot be used in a kernel: its unit of time is a mult"),
        (np.zeros(2, "V0"), r"dtype \|V0 cannot be used in a kernel"),
        ((1, {}), r"item '1': a value of type dict"),
        (Point(1, []), r"item 'y': a value of type list"),
        (np.zeros(2, ">f4"), r"dtype >f4 cannot be used in a kernel: its byte order"),
        (np.zeros(2, object), r"dtype object cannot be used"),
        (np.zeros(2, [("a", object)]), r"field 'a': NumPy dtype object"),
        (np.ma.masked_array([1, 2]), r"pass its \.data and \.mask"),
    ],
)
def test_what_cannot_be_passed_is_named(value: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        arg_type_of(value)


def test_longdouble_is_refused() -> None:
    if np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("long double is float64 on this system")
    with pytest.raises(ArgumentError, match="cannot be used in a kernel"):
        arg_type_of(np.longdouble(1))


def test_mixed_enum_is_refused() -> None:
    class Mixed(enum.Enum):
        A = 1
        B = 2.0

    with pytest.raises(ArgumentError, match=r"numbers of one type, or tuples, not of float64, int64"):
        arg_type_of(Mixed.A)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "c16", "M8[ns]", "m8[s]", "U4", "S7", ALIGNED, PACKED])
def test_dtype_comes_back(dtype: object) -> None:
    dtype = np.dtype(dtype)  # type: ignore[call-overload]
    again = dtype_of(element_type(dtype))
    assert again == dtype
    assert (again.itemsize, again.isalignedstruct) == (dtype.itemsize, dtype.isalignedstruct)


def test_types_are_plain_values() -> None:
    first: ArgType = TupleType((ScalarType("int64", 8),))
    assert hash(first) == hash(arg_type_of((1,)))


def test_programs_print_types_as_numba_writes_them() -> None:
    """`print(kernel.signatures)` shows tuples, which show `repr` of what they hold."""
    types = tuple(map(arg_type_of, (np.zeros((2, 3), np.float32), 1, (2.5, None))))
    assert repr(types) == "(array(float32, 2d, C), int64, Tuple(float64, none))"
