"""What is thrown in an `except` leaves it; what goes through a `finally` is told to be lost. On every back-end."""

# ruff: noqa: B904 - a kernel cannot chain exceptions

from __future__ import annotations

import numpy as np
import pytest

import numba_metal as gpu


class OwnError(Exception):
    pass


def zeros(n):
    return np.zeros(n, np.float32)


def raises_in_handler(x, which):
    try:
        x[9] = 1
    except Exception:
        if which == 0:
            raise OwnError("text")
        elif which == 1:
            raise OwnError("numbers", x.size)
        elif which == 2:
            x[20] = 1
        elif which == 3:
            raises_numbers_on_device(x)
        x[0] = 5


@gpu.jit(device=True)
def raises_numbers_on_device(x):
    raise OwnError("called", x.size)


@pytest.mark.parametrize(
    ("which", "error", "arguments"),
    [
        (0, OwnError, ("text",)),
        (1, OwnError, ("numbers", 3)),
        (2, IndexError, ("index 20 is out of bounds for axis 0 with size 3",)),
        (3, OwnError, ("called", 3)),
    ],
)
def test_handlers_can_raise(which, error, arguments, checked_jit):
    x = zeros(3)
    with pytest.raises(error) as caught:
        checked_jit(raises_in_handler)[1, 1](x, np.int32(which))
    first, *others = caught.value.args
    assert (first.partition("\n")[0], *others) == arguments
    assert caught.value.count == 1
    assert x[0] == 0
    checked_jit(raises_in_handler)[1, 1](x, np.int32(4))
    assert x[0] == 5


def raises_in_inner_handler(x):
    try:
        try:
            x[9] = 1
        except Exception:
            raise OwnError("inner")
    except Exception:
        x[0] = 8


def test_outer_handlers_catch_what_inner_ones_raise(checked_jit):
    x = zeros(3)
    checked_jit(raises_in_inner_handler)[1, 1](x)
    assert x[0] == 8


def finishes(x, i):
    try:
        x[i] = 1
    finally:
        x[0] = 5


def test_what_goes_through_finally_is_told_to_be_lost(checked_jit):
    x = zeros(3)
    checked_jit(finishes)[1, 1](x, 1)
    np.testing.assert_array_equal(x, [5, 1, 0])
    with pytest.raises(RuntimeError, match="an exception has gone through a 'finally'") as caught:
        checked_jit(finishes)[1, 1](zeros(3), 9)
    assert caught.value.count == 1
