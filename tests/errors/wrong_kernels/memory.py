"""Memory that a kernel cannot have: allocation, and shapes of its arrays."""

from __future__ import annotations

import numpy as np

import numba_metal as gpu
from tests.errors.wrong_kernels.given import F32, I32, allocates, wrong

# -- allocation


@wrong(F32)
def zeros(x):
    x[0] = np.zeros(3, np.float32)[0]


@wrong(F32)
def ones_of_variable_size(x):
    tmp = np.ones(x.size)
    x[0] = tmp[0]


@wrong(F32)
def array_copy(x):
    y = x.copy()
    x[0] = y[1]


@wrong(F32)
def array_expression(x):
    y = x + 1
    x[0] = y[1]


@wrong(F32)
def concatenation(x):
    y = np.concatenate((x, x))
    x[0] = y[1]


@wrong(F32)
def sorted_copy(x):
    y = np.sort(x)
    x[0] = y[1]


@wrong(F32)
def empty_list(x):
    values = []
    values.append(x[0])
    x[0] = values[0]


@wrong(F32)
def list_display(x):
    values = [x[0], x[1]]
    x[0] = values[1]


@wrong(F32)
def list_comprehension(x):
    values = [x[i] for i in range(3)]
    x[0] = values[1]


@wrong(I32)
def set_display(x):
    values = {x[0], x[1]}
    x[0] = len(values)


@wrong(I32)
def dict_display(x):
    values = {1: x[0]}
    x[0] = values[1]


@wrong(I32)
def string_of_number(x):
    text = str(x[0])
    x[0] = len(text)


@wrong(I32)
def two_allocations(x):
    a = np.zeros(3)
    b = [x[0]]
    c = np.ones(2)
    x[0] = a[0] + b[0] + c[0]


@wrong(F32)
def allocation_in_device_function(x):
    x[0] = allocates(3)


# -- shapes and memory


@wrong(F32)
def local_array_of_variable_size(x):
    a = gpu.local.array(x.size, np.float32)
    a[0] = x[0]


@wrong(F32)
def shared_array_of_variable_size(x):
    a = gpu.shared.array((4, x.size), np.float32)
    a[0, 0] = x[0]


@wrong(F32)
def local_array_of_zero(x):
    a = gpu.local.array(0, np.float32)
    x[0] = a.size


@wrong(F32)
def shared_array_of_negative_size(x):
    a = gpu.shared.array((4, -1), np.float32)
    x[0] = a.size


@wrong(F32)
def shared_array_with_odd_alignment(x):
    a = gpu.shared.array(4, np.float32, alignment=12)
    x[0] = a[0]


@wrong(F32)
def unknown_dtype(x):
    a = gpu.local.array(4, "no such type")
    x[0] = a[0]


@wrong(F32)
def const_of_argument_tuple(x):
    a = gpu.const.array_like((1, 2))
    x[0] = a[0]
