"""Signature strings: what is understood without Numba means the same as Numba says, the rest is left to Numba."""

from __future__ import annotations

import pytest
from numba.core import types

from numba_gpucore import dtypes
from numba_gpucore.base.argtypes import ScalarType
from numba_gpucore.base.errors import OptionError
from numba_gpucore.compile.driver import parse_signature as parse_with_numba
from numba_gpucore.launch import miss
from numba_gpucore.launch.eager import kernel_arg_types
from numba_gpucore.launch.signature_text import parse_signature_text

UNDERSTOOD = [
    "void()",
    "void(float32[::1], int32, float64[:,::1], f4, UniTuple(int64, 2))",
    "void(float32[:], float32[:,:], float32[::1,:], complex64[:,:,::1])",
    "(int8, uint8, i2, u2, i4, u4, i8, u8)",
    "(int32,)",
    "void(boolean, b1, bool_, byte, intp, uintp, intc, double, f2, float16, c8, c16)",
    "none(Tuple((int32, float64)), optional(int32))",
    "void(Array(float32, 2, 'F'), Array(int8, 1, 'A'))",
    "void(types.int32, types.float64[:])",
    "void( int32 ,\n float32 [ : , : ] )",
    "void(Tuple((int32, UniTuple(float32[:], 3))))",
]
#: Left to Numba, or not a signature at all.
LEFT = ["void(foo)", "void(int32", "int32 int32", "void(float32[1])", "void(ListType(int32))", "void(long_)",
        "void(float32[:, ::1, :])", "void(int32)[:]", "", "void(Array(float32, n, 'C'))"]  # fmt: skip


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_means_what_numba_says(text: str) -> None:
    parsed = parse_signature_text(text)
    assert parsed is not None
    assert parsed.args == parse_with_numba(text)
    assert parsed.result is None


@pytest.mark.parametrize("text", LEFT)
def test_rest_is_left_to_numba(text: str) -> None:
    assert parse_signature_text(text) is None


def test_result_type_is_kept() -> None:
    parsed = parse_signature_text("float32(int32)")
    assert parsed is not None
    assert parsed.result == ScalarType("float32", 4)


def test_kernel_must_return_nothing() -> None:
    with pytest.raises(OptionError, match=r"must have void return type, not float32, in signature 'float32\(int32\)'"):
        kernel_arg_types("float32(int32)")


def test_every_form_gives_the_same_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(miss, "parse_signature", lambda _: pytest.fail("numba was asked"))
    expected = kernel_arg_types("void(float32[:, ::1], int64)")
    assert kernel_arg_types(dtypes.void(dtypes.float32[:, ::1], dtypes.int64)) == expected
    assert kernel_arg_types((dtypes.float32[:, ::1], dtypes.int64)) == expected
    assert kernel_arg_types(expected) == expected


def test_types_of_numba_can_be_mixed_in() -> None:
    expected = kernel_arg_types("void(int32, float32[:], UniTuple(int64, 2))")
    mixed = dtypes.void(dtypes.int32, types.float32[:], types.UniTuple(types.int64, 2))
    assert kernel_arg_types(mixed) == expected
    assert kernel_arg_types((dtypes.int32, types.float32[:], types.UniTuple(types.int64, 2))) == expected
    assert kernel_arg_types(types.void(types.int32, types.float32[:], types.UniTuple(types.int64, 2))) == expected
