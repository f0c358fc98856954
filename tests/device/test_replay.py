"""The CPU device runs the thread that threw again, for the details of its exception.

Kernels without atomics and barriers take the vectorised path, which only knows which thread threw.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import numba_metal as gpu
import numba_ptxplus


class OwnError(Exception):
    pass


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


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


@pytest.mark.parametrize("axes", [(2, 1, 0), (0, 2, 1), (0, 1, 2)])
def test_replay_of_a_thread_in_three_dimensions(package, axes):
    """The item that fails is in blocks 2, 1, 3 of 2, 4 and 3 items; `axes` says which axis of threads runs along which
    of the array."""
    first, second, third = axes

    @package.jit
    def kernel(x, out):
        place = package.grid(3)
        i, j, k = place[first], place[second], place[third]
        if x[i, j, k] > 10:
            raise OwnError("too large", i, j, k, x[i, j, k])
        out[i, j, k] = 1

    x = np.ones((6, 8, 12), np.float32)
    x[5, 6, 9] = 144
    out = np.zeros_like(x)
    grid, block, failing_block, failing_thread = [0] * 3, [0] * 3, [0] * 3, [0] * 3
    for axis, *numbers in zip(axes, (3, 2, 4), (2, 4, 3), (2, 1, 3), (1, 2, 0), strict=True):
        grid[axis], block[axis], failing_block[axis], failing_thread[axis] = numbers
    with pytest.raises(OwnError) as caught:
        kernel[tuple(grid), tuple(block)](x, out)
    assert caught.value.args == ("too large", 5, 6, 9, 144)
    assert (caught.value.block, caught.value.thread) == (tuple(failing_block), tuple(failing_thread))
    np.testing.assert_array_equal(out, x == 1)


def test_numbers_are_of_the_launch_that_failed_first(package):
    """What the first launch wrote keeps its thread from failing again; the second launch fails as it did, with another
    number."""

    @package.jit
    def kernel(x, number, repairs):
        i = package.grid(1)
        if x[i] == 0:
            if repairs:
                x[i] = 1
            raise OwnError("zero", number)
        x[i] += 1

    stream = package.stream()
    first, second = package.to_device(zeros(64)), package.to_device(zeros(64))
    kernel[1, 64, stream](first, 1, True)
    kernel[1, 64, stream](second, 2, False)
    with pytest.raises(OwnError) as caught:
        stream.synchronize()
    assert caught.value.args[1] in (1, "<unknown>")
