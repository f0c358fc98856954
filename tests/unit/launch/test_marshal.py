"""Parameter blocks: bytes at the offsets that base.params documents, and data that gets to the device and back."""

from __future__ import annotations

import ctypes
import enum
import struct
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from numba_gpucore.base.argtypes import ArgType, ArrayType, NoneArgType, OptionalType, PointerType, ScalarType
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.convert import nearest_signatures, number_converter
from numba_gpucore.launch.marshal import make_packer
from numba_gpucore.launch.signature import arg_type_of
from numba_gpucore.launch.staging import Staging
from numba_gpucore.launch.wrappers import In, InOut, Out
from tests.unit.launch import fake_device
from tests.unit.launch.fake_device import FakeDevice

FLOAT32 = ScalarType("float32", 4)
RECORD = np.dtype([("x", np.float32), ("id", np.int32)], align=True)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 300


def pack(device: FakeDevice, *args: Any, declared: tuple[ArgType, ...] | None = None) -> bytes:
    """The parameter block of a launch with these arguments; the launch is over when this returns."""
    types = declared or tuple(map(arg_type_of, args))
    packer = make_packer(args, types, device)  # type: ignore[arg-type]
    staging = Staging(device, None)  # type: ignore[arg-type]
    params = packer.pack(args, staging if packer.needs_staging else None)
    if device.kernel is not None:
        device.kernel(device, params)
    staging.download()
    return params


def address(array: np.ndarray) -> int:
    return array.ctypes.data


@pytest.mark.parametrize(
    ("args", "format_", "numbers"),
    [
        ((1, 2.5, True), "<qd?", (1, 2.5, True)),
        ((np.int8(-1), np.uint16(7), np.float32(0.5)), "<bxHf", (-1, 7, 0.5)),
        ((np.float16(1.5), np.int64(-2)), "<e6xq", (1.5, -2)),
        ((True, 1 + 2j), "<?7xdd", (True, 1.0, 2.0)),
        ((np.True_, np.False_), "<??", (True, False)),
        ((np.complex64(3 - 4j),), "<ff", (3.0, -4.0)),
        ((2**63,), "<Q", (2**63,)),
        ((None, 5, None), "<q", (5,)),
        ((np.datetime64("1970-01-02"), np.timedelta64(-3, "s")), "<qq", (1, -3)),
        ((np.datetime64("NaT", "s"),), "<q", (-(2**63),)),
        (((1, (np.int8(2), 3.0)),), "<qb7xd", (1, 2, 3.0)),
        ((Level.HIGH,), "<q", (300,)),
        ((), "<", ()),
    ],
)
def test_scalars_lie_where_the_layout_says(
    host: FakeDevice, args: tuple[Any, ...], format_: str, numbers: tuple[Any, ...]
) -> None:
    assert pack(host, *args) == struct.pack(format_, *numbers)


def test_named_tuples_and_dataclasses_are_their_items(host: FakeDevice) -> None:
    @dataclass
    class Body:
        mass: float
        alive: bool

    pair = namedtuple("pair", "a b")
    assert pack(host, pair(1, 2.0)) == struct.pack("<qd", 1, 2.0)
    assert pack(host, Body(1.5, True)) == struct.pack("<d?", 1.5, True)


def test_host_arrays_are_used_in_place(host: FakeDevice) -> None:
    c, f = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32, order="F")
    view = np.zeros((8, 6))[::2, ::-1]
    line = np.zeros(5)
    numbers = (address(c), 2, 3, address(f), 2, 3, address(view), 4, 6, 96, -8, address(line), 5)
    assert pack(host, c, f, view, line) == struct.pack("<13q", *numbers)
    assert host.memories == []


def test_device_arrays_are_passed_by_address(remote: FakeDevice) -> None:
    array = Allocator(fake_device.platform("REMOTE")).to_device(np.zeros((4, 6)))
    before = len(remote.memories)
    base = array.memory.address
    assert pack(remote, array, array[1:, ::2]) == struct.pack("<3q5q", base, 4, 6, base + 48, 3, 3, 48, 16)
    assert len(remote.memories) == before


def test_device_array_of_another_device_is_refused(remote: FakeDevice, host: FakeDevice) -> None:
    array = Allocator(fake_device.platform("REMOTE")).to_device(np.zeros(3))
    with pytest.raises(ArgumentError, match=r"cannot be used on Fake Device; copy it there"):
        pack(host, array)


def add_one(device: FakeDevice, params: bytes) -> None:
    """A kernel: add one to every byte of the array in the first slot."""
    device.bytes_at(struct.unpack_from("<Q", params)[0])[:] += 1


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.uint8).reshape(4, 6),
        np.arange(24, dtype=np.uint8).reshape(4, 6).T,
        np.arange(48, dtype=np.uint8).reshape(4, 12)[:, ::2],
        np.arange(24, dtype=np.uint8)[::-1],
        np.array(3, np.uint8),
    ],
    ids=["C", "F", "strided", "reversed", "0-d"],
)
def test_host_arrays_go_to_a_remote_device_and_back(remote: FakeDevice, array: np.ndarray) -> None:
    remote.kernel = add_one
    expected = array + 1
    pack(remote, array)
    np.testing.assert_array_equal(array, expected)
    assert all(memory.is_released for memory in remote.memories)


def test_remote_strides_are_those_of_the_dense_copy(remote: FakeDevice) -> None:
    view = np.zeros((4, 12), np.float32)[:, ::2]
    params = pack(remote, view)
    assert struct.unpack("<5q", params)[1:] == (4, 6, 24, 4)


def test_columns_outside_a_view_stay(remote: FakeDevice) -> None:
    remote.kernel = add_one
    whole = np.zeros((3, 4), np.uint8)
    pack(remote, whole[:, ::2])
    np.testing.assert_array_equal(whole, [[1, 0, 1, 0]] * 3)


def test_read_only_arrays_are_not_copied_back(remote: FakeDevice) -> None:
    remote.kernel = add_one
    broadcast = np.broadcast_to(np.uint8(3), (4,))
    pack(remote, broadcast)
    np.testing.assert_array_equal(broadcast, 3)
    frozen = np.zeros(4, np.uint8)
    frozen.setflags(write=False)
    pack(remote, frozen)
    np.testing.assert_array_equal(frozen, 0)


def test_dates_and_texts_can_be_copied(remote: FakeDevice) -> None:
    remote.kernel = add_one
    dates = np.array(["1970-01-01"], "M8[D]")
    pack(remote, dates)
    assert dates.view(np.int64)[0] == 0x0101010101010101
    texts = np.array([b"AB"])
    pack(remote, texts)
    assert texts[0] == b"BC"


@pytest.mark.parametrize("device_name", ["host", "remote"])
def test_wrappers_say_what_is_copied(device_name: str, request: pytest.FixtureRequest) -> None:
    """In: the kernel sees the content, the host array stays. Out and InOut: results come back."""
    device: FakeDevice = request.getfixturevalue(device_name)
    seen: list[int] = []

    def kernel(device: FakeDevice, params: bytes) -> None:
        where, count = struct.unpack("<2q", params)
        memory = _bytes_anywhere(device, where, count)
        seen.append(int(memory[0]))
        memory[:] = 9

    device.kernel = kernel
    array = np.full(3, 5, np.uint8)
    pack(device, In(array))
    np.testing.assert_array_equal(array, 5)
    pack(device, InOut(array))
    np.testing.assert_array_equal(array, 9)
    assert seen == [5, 5]
    array[:] = 1
    pack(device, Out(array))
    np.testing.assert_array_equal(array, 9)


def test_out_is_not_copied_in(remote: FakeDevice) -> None:
    remote.kernel = add_one
    array = np.full(3, 5, np.uint8)
    pack(remote, Out(array))
    np.testing.assert_array_equal(array, 1)  # fake memory starts as zeros


def _bytes_anywhere(device: FakeDevice, where: int, count: int) -> np.ndarray:
    if not device.uses_host_memory:
        return device.bytes_at(where)
    return np.frombuffer((ctypes.c_uint8 * count).from_address(where), np.uint8)


@pytest.mark.parametrize("device_name", ["host", "remote"])
def test_a_kernel_writes_into_a_record(device_name: str, request: pytest.FixtureRequest) -> None:
    device: FakeDevice = request.getfixturevalue(device_name)

    def kernel(device: FakeDevice, params: bytes) -> None:
        (where,) = struct.unpack("<Q", params)
        _bytes_anywhere(device, where, 8)[:] = np.frombuffer(struct.pack("<fi", 2.5, 7), np.uint8)

    device.kernel = kernel
    array = np.zeros(3, RECORD)
    pack(device, array[1])
    assert array.tolist() == [(0, 0), (2.5, 7), (0, 0)]
    alone = array[0].copy()
    pack(device, alone)
    assert alone.tolist() == (2.5, 7)


def test_texts_are_passed_by_address(host: FakeDevice) -> None:
    seen = []

    def kernel(device: FakeDevice, params: bytes) -> None:
        where = struct.unpack("<Q", params)[0]
        seen.append(_bytes_anywhere(device, where, 12).view("U3")[0])

    host.kernel = kernel
    pack(host, np.str_("abc"))
    assert seen == ["abc"]


def test_optional_is_value_and_flag(host: FakeDevice) -> None:
    declared = (OptionalType(ScalarType("int32", 4)), ScalarType("int8", 1))
    assert pack(host, 5, 1, declared=declared) == struct.pack("<i?b", 5, True, 1)
    assert pack(host, None, 1, declared=declared) == struct.pack("<i?b", 0, False, 1)


def test_optional_array(host: FakeDevice) -> None:
    declared = (OptionalType(ArrayType(FLOAT32, 1, "C")),)
    array = np.zeros(4, np.float32)
    assert pack(host, array, declared=declared) == struct.pack("<2q?", address(array), 4, True)
    assert struct.unpack("<2q?", pack(host, None, declared=declared))[1:] == (0, False)


class Foreign:
    def __init__(self, array: np.ndarray, where: int | None = None):
        self.array = array
        interface = {**array.__array_interface__, "version": 3}
        self.__cuda_array_interface__ = interface if where is None else {**interface, "data": (where, False)}


def test_foreign_array_in_host_memory(host: FakeDevice) -> None:
    array = np.zeros((4, 6))[::2]
    assert pack(host, Foreign(array)) == struct.pack("<5q", address(array), 2, 6, 96, 8)


def test_foreign_array_out_of_reach_is_refused(host: FakeDevice, remote: FakeDevice) -> None:
    """Address 16 is in the first page, which no process has mapped."""
    foreign = Foreign(np.zeros(3), where=16)
    with pytest.raises(ArgumentError, match=r"at address 0x10 lies in memory that the CPU device cannot reach"):
        pack(host, foreign)
    assert pack(remote, foreign) == struct.pack("<2q", 16, 3)


@pytest.mark.parametrize(
    ("value", "type_", "format_"),
    [(True, "int8", "<b"), (7, "float32", "<f"), (np.float64(0.1), "float32", "<f"), (2, "bool", "<?")],
)
def test_declared_types_convert(host: FakeDevice, value: Any, type_: str, format_: str) -> None:
    declared = (ScalarType(type_, np.dtype(type_).itemsize),)
    assert pack(host, value, declared=declared) == struct.pack(format_, value)


@pytest.mark.parametrize("value", [3.0, 3 + 0j])
def test_whole_numbers_convert_to_integers(host: FakeDevice, value: Any) -> None:
    assert pack(host, value, declared=(ScalarType("int32", 4),)) == struct.pack("<i", 3)


@pytest.mark.parametrize(
    ("value", "type_", "bits"),
    [(0xFFFFFFFF, "int32", 0xFFFFFFFF), (-1, "uint32", 0xFFFFFFFF), (-128, "int8", 0x80), (128, "int8", 0x80)],
)
def test_masks_keep_their_bits(host: FakeDevice, value: int, type_: str, bits: int) -> None:
    nbytes = np.dtype(type_).itemsize
    assert pack(host, value, declared=(ScalarType(type_, nbytes),)) == bits.to_bytes(nbytes, "little")


def test_large_float_becomes_infinite(host: FakeDevice) -> None:
    assert pack(host, 1e300, declared=(FLOAT32,)) == struct.pack("<f", float("inf"))


@pytest.mark.parametrize(
    ("value", "type_", "message"),
    [
        (300, "int8", r"300 cannot be passed as int8: it must be a whole number of 8 bits"),
        (-129, "uint8", r"-129 cannot be passed as uint8"),
        (1.5, "int64", r"1\.5 cannot be passed as int64"),
        (float("nan"), "int32", r"nan cannot be passed as int32: it must be a whole number of 32 bits"),
        (np.float32("inf"), "uint8", r"inf\)? cannot be passed as uint8"),
        (1j, "float32", r"the complex number 1j cannot be passed as float32"),
        (2 + 1j, "int32", r"\(2\+1j\) cannot be passed as int32"),
    ],
)
def test_conversions_that_change_a_number_are_refused(value: Any, type_: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        number_converter(ScalarType(type_, np.dtype(type_).itemsize))(value)


def _types(*texts: str) -> tuple[ArgType, ...]:
    return tuple(ScalarType(text, np.dtype(text).itemsize) for text in texts)


@pytest.mark.parametrize(
    ("given", "signatures", "chosen"),
    [
        (_types("int64"), [_types("float32"), _types("int64")], 1),
        (_types("int64"), [_types("float32"), _types("float64")], 1),
        (_types("int32"), [_types("int16"), _types("int64")], 1),
        (_types("float64"), [_types("int32"), _types("float32")], 1),
        (_types("int64"), [_types("int64", "int64")], None),
        ((ArrayType(FLOAT32, 2, "C"),), [(ArrayType(FLOAT32, 2, "F"),), (ArrayType(FLOAT32, 2, "A"),)], 1),
        ((ArrayType(FLOAT32, 1, "A"),), [(ArrayType(FLOAT32, 1, "C"),)], None),
        ((ArrayType(FLOAT32, 1, "C", readonly=True),), [(ArrayType(FLOAT32, 1, "C"),)], None),
        ((ArrayType(FLOAT32, 1, "C"),), [(ArrayType(FLOAT32, 1, "C", readonly=True),)], 0),
        ((ArrayType(FLOAT32, 1, "C"),), [(ArrayType(ScalarType("float64", 8), 1, "C"),)], None),
        ((ArrayType(ScalarType("uint32", 4), 1, "C"),), [(ArrayType(ScalarType("int32", 4), 1, "A"),)], 0),
        (_types("int64", "float64"), [_types("float32", "float64"), _types("float64", "float32")], 0),
        (_types("datetime64[s]"), [_types("int64")], None),
        (_types("datetime64[s]"), [(OptionalType(FLOAT32),)], None),
        (_types("float32"), [(OptionalType(FLOAT32),), _types("float32")], 1),
        ((NoneArgType(),), [_types("float32"), (OptionalType(FLOAT32),)], 1),
        ((ArrayType(FLOAT32, 1, "C"),), [(PointerType(ScalarType("float64", 8)),), (PointerType(FLOAT32),)], 1),
        (_types("int64"), [(PointerType(FLOAT32),)], 0),
        (_types("float64"), [(PointerType(FLOAT32),)], None),
    ],
)
def test_nearest_declared_signature(given: Any, signatures: Any, chosen: int | None) -> None:
    assert nearest_signatures(given, signatures) == ([] if chosen is None else [signatures[chosen]])


def test_equally_near_signatures_are_all_told() -> None:
    signatures = [_types("float32", "float64"), _types("float64", "float32"), _types("int64", "int64")]
    assert nearest_signatures(_types("float64", "float64"), signatures) == signatures[:2]
