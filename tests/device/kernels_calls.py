"""Functions that kernels call: plain @njit ones, generators, recursion, functions as arguments."""

from __future__ import annotations

import numpy as np
from numba import njit

from numba_gpucore import language as gpu
from numba_gpucore.dtypes import float32, int32
from tests.device.catalogue import Case


@njit
def mix(p, a, b):
    if a > b:
        return p * a + (1 - p) * b
    return max(a, b) - p


def bubble(v, p):
    i = gpu.grid(1)
    if i < v.shape[0]:
        for last in range(v.shape[1] - 1, 0, -1):
            for j in range(last):
                v[i, j] = mix(p[i], v[i, j], v[i, j + 1])


def expect_bubble(v, p):
    wanted = v.astype(np.float64)
    for i in range(v.shape[0]):
        for last in range(v.shape[1] - 1, 0, -1):
            for j in range(last):
                wanted[i, j] = mix.py_func(float(p[i]), wanted[i, j], wanted[i, j + 1])
    return {0: wanted}


@njit
def where_am_i(scale=2):
    return gpu.grid(1) * scale


@njit
def divide(a, b):
    return a // b, a % b


@njit
def fill(view, value):
    for k in range(view.size):
        view[k] = value


def several_calls(out):
    """Defaults and keywords, several results, an array that the callee writes."""
    i = gpu.grid(1)
    quotient, remainder = divide(i, b=3)
    out[i, 0] = where_am_i()
    out[i, 1] = where_am_i(scale=5)
    out[i, 2] = 100 * quotient + remainder
    fill(out[i, 3:], i)


def expect_several_calls(out):
    i = np.arange(16)
    return {0: np.stack([2 * i, 5 * i, 100 * (i // 3) + i % 3, i, i], axis=1)}


@njit
def squares(n):
    for k in range(n):
        yield k * k


def generator(out):
    i = gpu.grid(1)
    total = 0
    for value in squares(i):
        total += value
    out[i] = total


@njit
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def recursion(out):
    i = gpu.grid(1)
    out[i] = fibonacci(i)


@njit
def apply(update, array, index, value):
    return update(array, index, value)


@njit
def local_total(n, size, kind):
    numbers = gpu.local.array(size, kind)
    for k in range(size):
        numbers[k] = n * k
    total = numbers[0]
    for k in range(1, size):
        total += numbers[k]
    return total


def functions_and_types_as_arguments(out):
    i = gpu.grid(1)
    apply(gpu.atomic.add, out, 0, 1)
    apply(gpu.atomic.max, out, 1, i)
    if i == 0:
        out[2] = local_total(2, 4, int32) + local_total(1, 3, float32)


def local_function(x, out):
    def twice(value):
        return 2 * value

    i = gpu.grid(1)
    out[i] = twice(x[i]) + (lambda v: v + 1)(x[i])


CASES = (
    Case(
        bubble,
        lambda rng: (rng.random((6, 5), np.float32), rng.random(6, np.float32)),
        expect_bubble,
        rtol=1e-5,
        atol=1e-5,
        tolerance="ten dependent mixes in float32",
        block=8,
    ),
    Case(several_calls, lambda _rng: (np.zeros((16, 5), np.int64),), expect_several_calls, block=16),
    Case(
        generator,
        lambda _rng: (np.zeros(16, np.int64),),
        lambda out: {0: np.array([sum(k * k for k in range(i)) for i in range(16)])},
        block=16,
    ),
    Case(
        recursion,
        lambda _rng: (np.zeros(12, np.int64),),
        lambda out: {0: np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])},
        block=12,
        needs=frozenset({"recursion"}),
    ),
    Case(
        functions_and_types_as_arguments,
        lambda _rng: (np.zeros(3, np.int32),),
        lambda out: {0: np.array([32, 31, 2 * 6 + 3])},
    ),
    Case(
        local_function,
        lambda rng: (rng.integers(0, 9, 8), np.zeros(8, np.int64)),
        lambda x, out: {1: 3 * x + 1},
        block=8,
    ),
)
