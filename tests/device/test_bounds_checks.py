"""Every kind of index beyond an array is told with index, axis, size, block and thread, on every back-end."""

from __future__ import annotations

import numpy as np
import pytest

import numba_metal as gpu


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


PARTICLE = np.dtype([("mass", np.float32), ("position", np.float32, 3)])


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


def item(x, i):
    x[0, 0] = x[1, i]


def row(x, i):
    x[i][0] = 1


def stepped_slice(x, i):
    x[i, ::2] = 1


def view_of_stepped_slice(x, i):
    x[0, 0] = x[1, ::2][i]


def new_axis(x, i):
    x[None, i, ...] = 1


def flat_item(x, i):
    x.flat[i] = 1


def tuple_item_from_start(x, i):
    x[0, 0] = (1, 2, 3)[i]


def atomic_item(x, i):
    gpu.atomic.add(x, (1, i), 1)


def field_item(records, i):
    records[1].position[i] = 1


def local_item(x, i):
    a = gpu.local.array(3, np.float32)
    a[i] = x[0, 0]
    x[0, 0] = a[0]


#: Integers that would be negative with a sign.
HUGE, LARGEST = np.uint64(2**63 + 5), np.uint64(2**64 - 1)
#: Kernel, arguments, (index, axis, size).
BOUNDS = [
    (item, (zeros(2, 3), HUGE), (2**63 + 5, 1, 3)),
    (row, (zeros(2, 3), LARGEST), (2**64 - 1, 0, 2)),
    (stepped_slice, (zeros(2, 3), HUGE), (2**63 + 5, 0, 2)),
    (view_of_stepped_slice, (zeros(2, 3), LARGEST), (2**64 - 1, 0, 2)),
    (new_axis, (zeros(2, 3), HUGE), (2**63 + 5, 0, 2)),
    (flat_item, (zeros(2, 3), LARGEST), (2**64 - 1, 0, 6)),
    (tuple_item_from_start, (zeros(2, 3), LARGEST), (2**64 - 1, 0, 3)),
    (atomic_item, (zeros(2, 3, dtype=np.int32), LARGEST), (2**64 - 1, 1, 3)),
    (field_item, (zeros(2, dtype=PARTICLE), HUGE), (2**63 + 5, 0, 3)),
    (local_item, (zeros(2, 3), HUGE), (2**63 + 5, 0, 3)),
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
