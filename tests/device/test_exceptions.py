"""Exceptions from kernels arrive whole: class, arguments, index, axis, size, block, thread, on every back-end.

On the CPU, kernels without atomics and barriers take the vectorised path: one thread is run again for the details.
PYTEST_DONT_REWRITE: pytest would put its own calls into the asserts of kernels.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import numba_metal as gpu
import numba_ptxplus
from tests.levels import LEVELS, opened_level


class OwnError(Exception):
    pass


@pytest.fixture(params=LEVELS)
def checked_jit(request):
    """A decorator for each place where kernels can run here, with bounds checks."""
    with opened_level(request.param) as level:
        yield lambda function, **options: level.jit(function, boundscheck=True, **options)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


PARTICLE = np.dtype([("mass", np.float32), ("position", np.float32, 3)])

# -- bounds checks: (kernel, arguments, (index, axis, size))


def read_past_end(x, out):
    i = gpu.grid(1)
    out[i] = x[i + 8]


def write_second_axis(x):
    x[1, gpu.threadIdx.x + 4] = 1


def first_of_three_axes(x):
    i = gpu.threadIdx.x
    x[i, i + 3, i + 9] = 1


def last_of_three_axes(x):
    i = gpu.threadIdx.x
    x[i, i + 1, i - 5] = 1


def negative_that_wraps_not(x):
    x[-gpu.threadIdx.x - 5] = 1


def local_array(x):
    a = gpu.local.array(3, np.float32)
    for k in range(x.size):
        a[k] = x[k]
    x[0] = a[0] + a[1] + a[2]


def shared_array(x):
    a = gpu.shared.array((2, 3), np.float32)
    a[1, gpu.threadIdx.x + 3] = 1
    gpu.syncthreads()
    x[0] = a[1, 0]


TABLE = np.arange(5, dtype=np.float32)


def constant_array(x):
    t = gpu.const.array_like(TABLE)
    x[0] = t[x.size + 1]


def flat_iterator(x):
    x.flat[x.size + 2] = 1


def atomic_update(x):
    gpu.atomic.add(x, x.size, 1)


def atomic_on_second_axis(x):
    gpu.atomic.max(x, (1, x.shape[1]), 1)


def atomic_in_shared_array(x):
    a = gpu.shared.array(4, np.int32)
    gpu.atomic.add(a, x.size + 2, 1)


def array_in_record(records):
    records[1].position[records.size + 1] = 2


def array_of_records(records):
    records[records.size].mass = 1


def slice_at_integer(x):
    row = x[x.shape[0]]
    row[0] = 1


def view_of_slice(x):
    part = x[1:3]
    part[x.size - 2] = 1


def strided_view(x):
    part = x[::2]
    part[-x.size] = 1


def tuple_item(x, i):
    x[0] = (1, 2, 3)[i]


def shape_item(x, i):
    x[0, 0] = x.shape[i]


def after_loop(x, n):
    total = np.float32(0)
    for k in range(n):
        total += x[k]
    x[0] = total


BOUNDS = [
    (read_past_end, (zeros(8), zeros(8)), (8, 0, 8)),
    (write_second_axis, (zeros(2, 4),), (4, 1, 4)),
    (first_of_three_axes, (zeros(2, 3, 4),), (3, 1, 3)),
    (last_of_three_axes, (zeros(2, 3, 4),), (-5, 2, 4)),
    (negative_that_wraps_not, (zeros(4),), (-5, 0, 4)),
    (local_array, (zeros(5),), (3, 0, 3)),
    (shared_array, (zeros(5),), (3, 1, 3)),
    (constant_array, (zeros(5),), (6, 0, 5)),
    (flat_iterator, (zeros(5),), (7, 0, 5)),
    (atomic_update, (zeros(5, dtype=np.int32),), (5, 0, 5)),
    (atomic_on_second_axis, (zeros(2, 3, dtype=np.int32),), (3, 1, 3)),
    (atomic_in_shared_array, (zeros(5, dtype=np.int32),), (7, 0, 4)),
    (array_in_record, (zeros(2, dtype=PARTICLE),), (3, 0, 3)),
    (array_of_records, (zeros(2, dtype=PARTICLE),), (2, 0, 2)),
    (slice_at_integer, (zeros(2, 3),), (2, 0, 2)),
    (view_of_slice, (zeros(5),), (3, 0, 2)),
    (strided_view, (zeros(6),), (-6, 0, 3)),
    (tuple_item, (zeros(5), 3), (3, 0, 3)),
    (shape_item, (zeros(5, 5), -3), (-3, 0, 2)),
    (after_loop, (zeros(5), 9), (5, 0, 5)),
]


@pytest.mark.parametrize(("kernel", "arguments", "place"), BOUNDS, ids=[kernel.__name__ for kernel, *_ in BOUNDS])
def test_bounds_check(kernel, arguments, place, checked_jit):
    """Index, axis and size are read off the kernel's source."""
    with pytest.raises(IndexError) as caught:
        checked_jit(kernel)[1, 1](*arguments)
    error = caught.value
    assert (error.index, error.axis, error.size) == place
    index, axis, size = place
    assert str(error).startswith(f"index {index} is out of bounds for axis {axis} with size {size}\nkernel '")
    assert (error.block, error.thread, error.count) == ((0, 0, 0), (0, 0, 0), 1)
    assert error.kernel == kernel.__qualname__


def test_negative_index_that_wraps(checked_jit):
    @checked_jit
    def kernel(x):
        x[-1] = 3
        x[-x.size] = 1

    x = zeros(4)
    kernel[1, 1](x)
    np.testing.assert_array_equal(x, [1, 0, 0, 3])


def test_first_failing_thread_is_named_with_its_block(checked_jit):
    @checked_jit
    def kernel(x):
        i = gpu.grid(1)
        x[i] = i

    x = zeros(100)
    with pytest.raises(IndexError) as caught:
        kernel[4, 32](x)
    assert caught.value.block == (3, 0, 0)
    assert 4 <= caught.value.thread[0] < 32
    assert caught.value.index == 96 + caught.value.thread[0]
    np.testing.assert_array_equal(x, np.arange(100))


# -- what users raise: (kernel, arguments, class, arguments of the exception up to the place)


def raises_class(x):
    raise ValueError


def raises_text(x):
    raise OwnError("own text")


def raises_numbers(x):
    raise ValueError("bad cell", x.size, x.size > 2, 2.5)


def raises_fstring(x):
    i = gpu.threadIdx.x
    raise ValueError(f"cell {i} of {x.size} holds {x[i]}")


def raises_formatted(x):
    raise ValueError(f"{x.size:>5}: {x[0]:.3f}")


def fails_assertion(x):
    assert x[0] > 0, "x must be positive"


def fails_assertion_with_fstring(x):
    assert x[0] > 0, f"x is {x[0]}"


RAISED = [
    (raises_class, ValueError, ""),
    (raises_text, OwnError, "own text\n"),
    (raises_fstring, ValueError, "cell 0 of 3 holds 0.0\n"),
    (raises_formatted, ValueError, "    3: 0.000\n"),
    (fails_assertion, AssertionError, "x must be positive\n"),
    (fails_assertion_with_fstring, AssertionError, "x is 0.0\n"),
]


@pytest.mark.parametrize(("kernel", "cls", "text"), RAISED, ids=[kernel.__name__ for kernel, *_ in RAISED])
def test_raise(kernel, cls, text, checked_jit):
    with pytest.raises(cls) as caught:
        checked_jit(kernel)[1, 1](zeros(3))
    assert str(caught.value).startswith(f"{text}kernel '{kernel.__qualname__}' (test_exceptions.py:")
    assert type(caught.value) is cls


def test_raise_with_numbers(checked_jit):
    with pytest.raises(ValueError) as caught:
        checked_jit(raises_numbers)[1, 1](zeros(3))
    assert caught.value.args == ("bad cell", 3, True, 2.5)
    (note,) = caught.value.__notes__
    assert note.startswith("kernel 'raises_numbers' (test_exceptions.py:")


def test_division_by_zero_follows_the_error_model(checked_jit):
    def kernel(x, y):
        x[0] = y[0] // y[1]

    numbers = np.array([3, 0], np.int32)
    checked_jit(kernel)[1, 1](zeros(1), numbers)
    with pytest.raises(ZeroDivisionError):
        checked_jit(kernel, debug=True, opt=False)[1, 1](zeros(1), numbers)


def test_caught_exception_stays_on_the_device(checked_jit):
    @checked_jit
    def kernel(x):
        try:
            if x[0] == 0:
                raise ValueError("caught")
            x[1] = 1
        except Exception:
            x[2] = 2

    x = zeros(3)
    kernel[1, 1](x)
    np.testing.assert_array_equal(x, [0, 0, 2])


def test_exceptions_of_called_functions_are_caught(checked_jit):
    """Raised two calls deep, by an index and by a division of Numba's; only what nobody catches reaches the host."""

    @gpu.jit(device=True)
    def item(x, i):
        if i == 2:
            raise OwnError("two")
        return x[i]

    @gpu.jit(device=True)
    def next_item(x, i):
        return item(x, i + 1) + 1

    def kernel(x, out):
        for i in range(5):
            try:
                out[i] = next_item(x, i)
            except Exception:
                out[i] = -1
        if out[5] > 0:
            out[5] = next_item(x, 7)

    x, out = np.arange(4, dtype=np.float32), zeros(6)
    checked_jit(kernel)[1, 1](x, out)
    np.testing.assert_array_equal(out, [2, -1, 4, -1, -1, 0])
    out[5] = 1
    with pytest.raises(IndexError) as caught:
        checked_jit(kernel)[1, 1](x, out)
    assert (caught.value.index, caught.value.size) == (8, 4)


def test_a_function_that_catches_is_called_inside_try(checked_jit):
    @gpu.jit(device=True)
    def inner(x, i):
        try:
            return x[i]
        except Exception:
            return x[i + 1]

    def kernel(x, out):
        for i in range(4):
            try:
                out[i] = inner(x, 2 * i - 5)
            except Exception:
                out[i] = -1

    x, out = np.arange(1, 4, dtype=np.float32), zeros(4)
    checked_jit(kernel)[1, 1](x, out)
    # x[-5] and x[-4] fail, x[-3] is 1, x[-1] is 3, x[1] is 2
    np.testing.assert_array_equal(out, [-1, 1, 3, 2])


def test_device_stays_usable_and_nothing_piles_up(checked_jit):
    kernel = checked_jit(raises_fstring)
    for _ in range(50):
        with pytest.raises(ValueError, match="cell 0 of 3 holds"):
            kernel[1, 1](zeros(3))
    fine = checked_jit(read_past_end)
    out = zeros(4)
    fine[1, 4](np.arange(12, dtype=np.float32), out)
    np.testing.assert_array_equal(out, [8, 9, 10, 11])


# -- the replay of the CPU device


@pytest.fixture(params=[gpu, numba_ptxplus], ids=["metal", "ptxplus"])
def package(request):
    return request.param


def test_replay_changes_no_memory(package):
    """The failing thread has stored before it failed; run again, it must not store twice."""

    @package.jit(boundscheck=True)
    def kernel(x, y):
        i = package.grid(1)
        x[i] += 1
        y[i] = x[i]

    x, y = zeros(64), zeros(40)
    with pytest.raises(IndexError) as caught:
        kernel[1, 64](x, y)
    assert caught.value.index == 40 and 1 <= caught.value.count <= 24
    np.testing.assert_array_equal(x, np.ones(64))


def test_replay_of_a_loop_that_waits_for_its_own_store_ends(package):
    """Without its stores the loop has no end: the details may stay unknown, and the message says so."""

    @package.jit(boundscheck=True)
    def kernel(x, n):
        while x[0] < 3:
            x[0] += 1
        if x[0] == 3:
            x[0] = 0
            x[n] = 1

    with pytest.raises(IndexError, match=r"index is out of bounds \(which index, axis and size is unknown\)|index 9"):
        kernel[1, 1](zeros(4), 9)


def test_replay_with_functions_and_special_cases(package):
    @package.jit
    def kernel(x, out):
        i = package.grid(1)
        value = math.sqrt(x[i]) + math.sin(x[i])
        if value > 10:
            raise OwnError("too large", i, value)
        out[i] = value

    x = np.ones(1000, np.float32)
    x[613] = 144
    with pytest.raises(OwnError) as caught:
        kernel[10, 100](x, zeros(1000))
    text, index, value = caught.value.args
    assert (text, index) == ("too large", 613)
    assert value == pytest.approx(12 + math.sin(144), rel=1e-6)
