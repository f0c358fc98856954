"""The kernel language and its number types on the host, where only the types do anything."""

from __future__ import annotations

import numpy as np
import pytest

from numba_gpucore import dtypes, language
from numba_gpucore.base.argtypes import ArrayType, ScalarType
from numba_gpucore.base.errors import KernelLanguageError

FLOAT32 = ScalarType("float32", 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda: language.grid(1),
        lambda: language.syncthreads(),
        lambda: language.shared.array(3, np.float32),
        lambda: language.atomic.add(np.zeros(1), 0, 1),
        lambda: language.threadIdx.x,
        lambda: language.laneid + 1 if language.laneid else 0,
        lambda: language.laneid == 0,
        lambda: range(language.laneid),
    ],
)
def test_the_host_is_told_where_the_language_works(call):
    with pytest.raises(KernelLanguageError, match="exists only while a kernel runs"):
        call()


def test_the_error_names_what_was_used():
    with pytest.raises(KernelLanguageError, match=r"^shared\.array\(\) exists"):
        language.shared.array(3, np.float32)


def test_laneid_is_itself():
    """Numba finds globals in a dictionary, which compares them."""
    assert {language.laneid: 1}[language.laneid] == 1


def test_warpsize_is_a_number():
    assert language.warpsize == 32


@pytest.mark.parametrize("dtype", dtypes.DTYPES, ids=str)
def test_light_dtypes_are_numpy_dtypes(dtype):
    assert np.zeros(2, dtype).dtype == np.dtype(dtype.name)
    assert dtype(1) == np.dtype(dtype.name).type(1)
    assert type(dtype(1)) is np.dtype(dtype.name).type


def test_light_dtypes_make_array_types():
    f = dtypes.float32
    assert f[:] == ArrayType(FLOAT32, 1, "A")
    assert f[::1] == ArrayType(FLOAT32, 1, "C")
    assert f[:, ::1] == ArrayType(FLOAT32, 2, "C")
    assert f[::1, :] == ArrayType(FLOAT32, 2, "F")
    assert f[:, :, :] == ArrayType(FLOAT32, 3, "A")


@pytest.mark.parametrize("index", [0, slice(0, 2), slice(None, None, 2), (slice(None), 1)])
def test_array_types_take_colons_only(index):
    with pytest.raises(TypeError, match="an axis of an array type is ':' or '::1'"):
        dtypes.float32[index]


def test_array_types_have_one_contiguous_axis_at_an_end():
    one, free = slice(None, None, 1), slice(None)
    for index in ((one, one), (free, one, free)):
        with pytest.raises(TypeError, match="only the first or the last axis"):
            dtypes.float32[index]


def test_calls_of_types_with_types_are_signatures():
    signature = dtypes.void(dtypes.float32[::1], dtypes.int32)
    assert str(signature) == "void(array(float32, 1d, C), int32)"
    assert str(dtypes.float32(dtypes.int32, dtypes.int32)) == "float32(int32, int32)"
    assert dtypes.signature_of((dtypes.float32[:],)).args == (ArrayType(FLOAT32, 1, "A"),)
    assert dtypes.signature_of("void(int32)") is None
    with pytest.raises(TypeError, match="is not a type"):
        dtypes.void(3)


@pytest.mark.parametrize("dtype", dtypes.DTYPES, ids=str)
def test_light_dtypes_equal_what_they_stand_for(dtype):
    assert dtype == dtype.arg_type and dtype.arg_type == dtype
    assert hash(dtype) == hash(dtype.arg_type)
    assert (dtype == dtypes.float32) == (dtype.name == "float32")
