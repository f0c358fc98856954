"""Device arrays do what NumPy does, on memory that the host cannot touch."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.arrays import DeviceArray
from numba_gpucore.launch.mapped import MappedArray
from tests.unit.launch import fake_device
from tests.unit.launch.fake_device import FakeDevice

ARRAYS = Allocator(fake_device.platform("REMOTE"))
HOST_ARRAYS = Allocator(fake_device.platform("HOST"))
RECORD = np.dtype([("x", np.float32), ("id", np.int32)], align=True)

SOURCES = {
    "1-d": np.arange(7),
    "C": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "F": np.asfortranarray(np.arange(24).reshape(4, 6)),
    "strided": np.arange(48).reshape(6, 8)[::2, 1::3],
    "reversed": np.arange(12).reshape(3, 4)[::-1, ::-1],
    "broadcast": np.broadcast_to(np.int16(3), (4, 5)),
    "0-d": np.array(2.5),
    "empty": np.zeros((0, 3)),
    "dates": np.array(["2020-01-01", "NaT"], "M8[D]"),
    "texts": np.array(["a", "bcd"]),
    "records": np.array([(1.5, 2), (3.5, 4)], RECORD),
    "bool": np.array([True, False]),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_round_trip(source: np.ndarray) -> None:
    array = ARRAYS.to_device(source)
    assert (array.shape, array.dtype, array.size, array.ndim) == (source.shape, source.dtype, source.size, source.ndim)
    result = array.copy_to_host()
    np.testing.assert_array_equal(result, source)
    assert result.flags.writeable


def test_to_device_keeps_a_snapshot() -> None:
    source = np.arange(3)
    array = HOST_ARRAYS.to_device(source)
    source[:] = 0
    np.testing.assert_array_equal(array.copy_to_host(), [0, 1, 2])


def test_order_is_kept() -> None:
    assert ARRAYS.to_device(SOURCES["F"]).strides == SOURCES["F"].strides
    assert ARRAYS.to_device(SOURCES["F"]).copy_to_host().flags.f_contiguous


INDICES = [
    np.s_[1], np.s_[-1], np.s_[1, 2], np.s_[:, 1], np.s_[::2], np.s_[::-1], np.s_[1:1], np.s_[..., 0],
    np.s_[:, None, 2:], np.s_[1, ..., ::-2], np.s_[-2:, 3::-1], np.s_[:, :, :], np.s_[None],
    np.s_[..., None], np.s_[1, 2, ...],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_views_are_numpys(index: object) -> None:
    source = np.arange(60).reshape(3, 4, 5)
    array = ARRAYS.to_device(source)
    view, expected = array[index], source[index]
    assert isinstance(view, DeviceArray)
    assert (view.shape, view.strides) == (expected.shape, expected.strides)
    np.testing.assert_array_equal(view.copy_to_host(), expected)


def test_one_element_is_a_scalar() -> None:
    array = ARRAYS.to_device(np.arange(12, dtype=np.int16).reshape(3, 4))
    element = array[2, -1]
    assert element == 11 and isinstance(element, np.int16)
    assert [int(x) for x in array[1]] == [4, 5, 6, 7]


def test_view_shares_memory() -> None:
    array = ARRAYS.to_device(np.zeros((3, 4)))
    array[1:, ::2] = 5
    array[0] = [1, 2, 3, 4]
    array[2, 3] = 9
    np.testing.assert_array_equal(array.copy_to_host(), [[1, 2, 3, 4], [5, 0, 5, 0], [5, 0, 5, 9]])


def test_assignment_broadcasts_and_converts() -> None:
    array = ARRAYS.to_device(np.zeros((2, 3), np.float32))
    array[:] = np.arange(3)
    array[:, 1] = ARRAYS.to_device(np.array([7, 8]))
    np.testing.assert_array_equal(array.copy_to_host(), [[0, 7, 2], [0, 8, 2]])
    with pytest.raises(ValueError, match="Can't assign 3-D array to 2-D self"):
        array[:] = np.zeros((1, 2, 3))
    with pytest.raises(ValueError, match="broadcast"):
        array[:] = np.zeros(4)


@pytest.mark.parametrize("index", [np.s_[[0, 1]], np.s_[np.array([True, False, True])], 1.5, "x", True, np.True_])
def test_other_indices_are_refused(index: object) -> None:
    with pytest.raises((TypeError, IndexError)):
        ARRAYS.to_device(np.zeros((3, 4)))[index]


def test_index_out_of_range() -> None:
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        ARRAYS.to_device(np.zeros(3))[3]


def test_shape_changes_share_memory() -> None:
    source = np.arange(24)
    array = ARRAYS.to_device(source)
    for view, expected in [
        (array.reshape(4, 6), source.reshape(4, 6)),
        (array.reshape((2, -1)), source.reshape(2, -1)),
        (array.reshape(4, 6, order="F"), source.reshape(4, 6, order="F")),
        (array.reshape(2, 3, 4).transpose((1, 0, 2)), source.reshape(2, 3, 4).transpose(1, 0, 2)),
        (array.reshape(4, 6).ravel(), source),
        (array.reshape(2, 3, 4).T.ravel(order="F"), source),
        (array.reshape(1, 24, 1).squeeze(), source),
        (array.view(np.float64), source.view(np.float64)),
        (array.view(np.int16), source.view(np.int16)),
    ]:
        np.testing.assert_array_equal(view.copy_to_host(), expected)
        assert view.memory is array.memory


def test_reshape_that_needs_a_copy_is_refused() -> None:
    array = ARRAYS.to_device(np.zeros((4, 6)))
    with pytest.raises(NotImplementedError, match="reshape of a device array that is not C-contiguous"):
        array.reshape(2, 2, 6).T.reshape(24)
    with pytest.raises(NotImplementedError, match="ravel of a device array"):
        array[:, ::2].ravel()


def test_the_transpose_of_a_matrix_is_a_copy_in_c_order() -> None:
    """As in numba.cuda (numba issue 4974)."""
    source = np.arange(120).reshape(10, 12)
    array = ARRAYS.to_device(source)
    for matrix, view in ((source.T, array.T), (source[::2, ::2].T, array[::2, ::2].transpose())):
        np.testing.assert_array_equal(view.copy_to_host(), matrix)
        assert view.is_c_contiguous() and view.memory is not array.memory
    assert array.transpose((0, 1)).memory is array.memory


def test_split() -> None:
    parts = list(ARRAYS.to_device(np.arange(7)).split(3))
    assert [part.copy_to_host().tolist() for part in parts] == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize("section", [0, -2])
def test_split_into_nothing_is_refused(section: int) -> None:
    with pytest.raises(ValueError, match=f"sections of 1 or more elements, not {section}"):
        list(ARRAYS.to_device(np.arange(7)).split(section))


def test_fields_of_records() -> None:
    array = ARRAYS.to_device(SOURCES["records"])
    np.testing.assert_array_equal(array["id"].copy_to_host(), [2, 4])
    assert array[1].tolist() == (3.5, 4)


def test_copy_into_an_array() -> None:
    array = ARRAYS.to_device(np.arange(6).reshape(2, 3))
    target = np.zeros((2, 3), int)
    assert array.copy_to_host(target) is target
    np.testing.assert_array_equal(target, [[0, 1, 2], [3, 4, 5]])
    transposed = np.zeros((3, 2), int).T
    array.copy_to_host(transposed)
    np.testing.assert_array_equal(transposed, target)
    with pytest.raises(TypeError, match="incompatible dtype"):
        array.copy_to_host(np.zeros((2, 3), np.int8))
    with pytest.raises(ValueError, match="incompatible shape"):
        array.copy_to_host(np.zeros(6, int))


@pytest.mark.parametrize("view", [np.s_[:], np.s_[::2, 1:], np.s_[::-1]])
def test_copy_to_device(view: object) -> None:
    expected = np.zeros((4, 5))
    array = ARRAYS.to_device(expected)
    values = np.random.default_rng(1).random(expected[view].shape)
    array[view].copy_to_device(values)
    expected[view] = values
    np.testing.assert_array_equal(array.copy_to_host(), expected)
    array.copy_to_device(ARRAYS.to_device(expected + 1))
    np.testing.assert_array_equal(array.copy_to_host(), expected + 1)
    with pytest.raises(ValueError, match="incompatible shape"):
        array.copy_to_device(np.zeros(3))


def test_device_array_of_read_only_source_is_writable() -> None:
    array = ARRAYS.to_device(SOURCES["broadcast"])
    assert not array.gpu_arg_type.readonly
    array[0] = 1


@pytest.mark.parametrize(
    ("like", "strides"),
    [
        (np.zeros((3, 4)), (32, 8)),
        (np.zeros((3, 4), order="F"), (8, 24)),
        (np.zeros((6, 8))[::2, ::2], (32, 8)),
        (np.zeros((6, 8), order="F")[::2, ::2], (8, 24)),
        (np.zeros(9)[::3], (8,)),
        (np.zeros((2, 3, 4)).transpose(1, 0, 2), (32, 96, 8)),
        (np.zeros((3, 4))[::-1], (32, 8)),
    ],
)
def test_like_arrays_are_dense_in_the_same_order(like: np.ndarray, strides: tuple[int, ...]) -> None:
    """The strides that numpy.empty_like(order="K") gives, negative strides apart."""
    for function in (ARRAYS.device_array_like, ARRAYS.pinned_array_like, ARRAYS.mapped_array_like):
        made = function(like)
        assert (made.shape, made.dtype, made.strides) == (like.shape, like.dtype, strides)
    assert np.empty_like(like).strides == strides


def test_device_array_arguments() -> None:
    assert ARRAYS.device_array(5).dtype == np.float64
    assert ARRAYS.device_array((2, 3), np.int16, order="F").strides == (2, 4)
    spaced = ARRAYS.device_array((2, 3), np.int16, strides=(16, 4))
    assert spaced.memory.nbytes == 16 + 8 + 2
    assert not spaced.is_c_contiguous()
    for shape, error in [((2, -1), ValueError), (2.5, TypeError)]:
        with pytest.raises(error):
            ARRAYS.device_array(shape)


def test_len_and_flags() -> None:
    array = ARRAYS.to_device(np.zeros((3, 1)))
    assert len(array) == 3
    assert array.flags["C_CONTIGUOUS"] and array.flags["F_CONTIGUOUS"]
    with pytest.raises(TypeError, match="0-d"):
        len(ARRAYS.to_device(np.array(1)))


def test_numpy_can_read_it() -> None:
    array = ARRAYS.to_device(np.arange(3))
    np.testing.assert_array_equal(np.asarray(array), [0, 1, 2])
    assert np.asarray(array, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy=False"):
        array.__array__(copy=False)


def test_mapped_block() -> None:
    one, two = np.arange(4), np.asfortranarray(np.zeros((2, 3)))
    with ARRAYS.mapped(one) as view:
        view[1] = 9
    with ARRAYS.mapped(one, two) as views:
        views[0][0] = 7
        views[1][:] = 5
    np.testing.assert_array_equal(one, [7, 9, 2, 3])
    assert (two == 5).all()


def test_mapped_arrays_are_numpy_arrays() -> None:
    array = HOST_ARRAYS.mapped_array((2, 3), np.float32)
    assert isinstance(array, MappedArray)
    array[:] = 4
    np.testing.assert_array_equal(array.copy_to_host(), np.full((2, 3), 4))
    assert type(array.copy_to_host()) is np.ndarray
    array.copy_to_device(np.zeros((2, 3)))
    assert not array.any()


def test_pinned_block() -> None:
    with HOST_ARRAYS.pinned(np.zeros(3)):
        pass
    with pytest.raises(ArgumentError, match=r"pinned\(\) takes NumPy arrays, not list"), HOST_ARRAYS.pinned([1]):  # type: ignore[arg-type]
        pass
    with pytest.raises(ArgumentError, match=r"mapped\(\) takes NumPy arrays, not int"), HOST_ARRAYS.mapped(3):  # type: ignore[arg-type]
        pass


def test_views_keep_memory_alive(remote: FakeDevice) -> None:
    view = ARRAYS.to_device(np.arange(5))[2:]
    assert view.copy_to_host().tolist() == [2, 3, 4]
    assert not remote.memories[0].is_released


MAKERS = [ARRAYS.device_array, HOST_ARRAYS.pinned_array, HOST_ARRAYS.mapped_array, HOST_ARRAYS.managed_array]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_orders_and_strides_that_make_no_sense(make: Any) -> None:
    with pytest.raises(ValueError, match="order must be 'C' or 'F', not 'A'"):
        make((2, 3), np.float32, order="A")
    with pytest.raises(ValueError, match=r"strides \(4,\) must have as many items as shape \(2, 3\)"):
        make((2, 3), np.float32, strides=4)
    assert make(3, np.float32, strides=8).strides == (8,)


@pytest.mark.parametrize("shape", [3.5, "x", (2, 2.0), None])
def test_shapes_are_integers(shape: Any) -> None:
    with pytest.raises(TypeError, match="a shape is an integer or a tuple of integers, not "):
        ARRAYS.device_array(shape)


@pytest.mark.parametrize("shape", [np.int8(3), np.array(3), (np.array(2), 3), [2, 3], np.array([2, 3]), ()], ids=repr)
def test_shapes_are_what_numpy_takes(shape: Any) -> None:
    assert ARRAYS.device_array(shape).shape == np.empty(shape).shape


@pytest.mark.parametrize("send", [pickle.dumps, copy.copy, copy.deepcopy])
def test_arrays_stay_on_their_device(send: Any) -> None:
    with pytest.raises(TypeError, match="neither pickled nor copied"):
        send(ARRAYS.device_array(3, np.float32))


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("sum", r": copy_to_host\(\) gives a NumPy array, which has it"),
        ("to_host", r": write array\.copy_to_host\(\)"),
        ("get_ipc_handle", ": only NVIDIA's driver"),
        ("colour", "$"),
        ("__array_finalize__", "$"),
    ],
)
def test_names_that_device_arrays_lack(name: str, advice: str) -> None:
    array = ARRAYS.to_device(np.arange(3))
    assert not hasattr(array, name)
    with pytest.raises(AttributeError, match=f"^a device array has no attribute '{name}'{advice}"):
        getattr(array, name)
