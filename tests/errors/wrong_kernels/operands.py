"""Operations on types that do not have them, atomic ones and short vectors among them."""

# ruff: noqa: F841, RUF059

from __future__ import annotations

import math

import numpy as np

import numba_metal as gpu
from tests.errors.wrong_kernels.given import B8, C64, F32, I8, I32, M32, READ_ONLY, adds_text, stores_wide_member, wrong

# -- types


@wrong(F32)
def index_into_number(x):
    y = x[0]
    x[1] = y[0]


@wrong(F32)
def stores_into_number(x):
    y = x[0]
    y[0] = 1


@wrong(F32)
def expression_of_two_types(x):
    x[0] = x[1] if x[0] > 0 else "text"


@wrong(F32)
def adds_tuple(x):
    x[0] += (1,)


@wrong(F32)
def unpacks_number(x):
    a, b = x[0]
    x[1] = a


@wrong(F32)
def multiplies_matrices_of_numbers(x):
    x[0] = x[1] @ x[2]


@wrong(F32)
def number_of_text(x):
    x[0] = np.float32("1")


@wrong(F32)
def stores_none(x):
    x[0] = None


@wrong(F32)
def text_as_index(x):
    x["a"] = 1


@wrong(F32)
def chosen_items(x):
    y = np.where(x > 0, x, x)
    x[0] = y[0]


@wrong(F32)
def adds_text_to_number(x):
    x[0] = x[0] + "text"


@wrong(F32)
def adds_text_in_device_function(x):
    x[0] = adds_text(x[0])


@wrong(F32)
def two_type_errors(x):
    x[0] = x[1] + "a"
    x[2] = math.sqrt("b")


@wrong(F32)
def variable_of_two_types(x):
    if x[0] > 0:
        y = 1
    else:
        y = (1, 2)
    x[0] = y[0]


@wrong(F32)
def stores_text(x):
    x[0] = "text"


@wrong(F32)
def stores_tuple(x):
    x[0] = (1, 2)


@wrong(F32)
def float_index(x):
    x[1.5] = 1


@wrong(M32)
def too_many_indices(x):
    x[0, 1, 1] = 1


@wrong(F32)
def shifts_float(x):
    x[0] = x[0] << 2


@wrong(C64)
def stores_another_type_of_member(x):
    x[0] = stores_wide_member()


@wrong(C64)
def compares_complex(x):
    if x[0] < x[1]:
        x[0] = 1


@wrong(F32)
def unpacks_too_many(x):
    a, b = (1, 2, 3)
    x[0] = a


@wrong(F32)
def index_beyond_tuple(x):
    t = (1, 2)
    x[0] = t[5]


@wrong(F32)
def size_of_missing_axis(x):
    x[0] = x.shape[1]


@wrong(F32)
def unpacks_place_on_a_line(x):
    i, j = gpu.grid(1)
    x[i] = j


@wrong(F32)
def iterates_number(x):
    for i in 3:
        x[0] = i


@wrong(READ_ONLY)
def writes_read_only(x):
    x[0] = 1


@wrong(F32)
def deletes_item(x):
    del x[0]


@wrong(F32)
def sets_array_attribute(x):
    x.colour = 3


# -- types whose names have commas

UNALIGNED_READ_ONLY = np.frombuffer(bytes(17), np.uint8)[1:].view(np.float32)


@wrong(UNALIGNED_READ_ONLY)
def writes_unaligned_read_only(x):
    x[0] = 1


@wrong(UNALIGNED_READ_ONLY)
def indexes_unaligned_with_float(x):
    x.shape[x[0.5]]


@wrong(F32)
def tuple_of_several_types_by_variable(x):
    pair = (x[0], x.size)
    x[0] = pair[gpu.grid(1)]


@wrong(F32)
def nested_tuple_by_variable(x):
    pair = (x.size, (1, 2.5))
    x[0] = pair[gpu.grid(1)][0]


@wrong(F32)
def changes_tuple(x):
    pair = (1, (2, 3))
    pair[0] = 4


# -- atomics


@wrong(I8)
def atomic_on_int8(x):
    gpu.atomic.add(x, 0, 1)


@wrong(B8)
def atomic_on_bool(x):
    gpu.atomic.max(x, 0, True)


@wrong(C64)
def atomic_on_complex(x):
    gpu.atomic.add(x, 0, 1)


@wrong(F32)
def atomic_and_on_float(x):
    gpu.atomic.and_(x, 0, 1)


@wrong(I32)
def atomic_inc_on_signed(x):
    gpu.atomic.inc(x, 0, 5)


@wrong(M32)
def atomic_with_too_few_indices(x):
    gpu.atomic.add(x, 0, 1)


@wrong(F32)
def atomic_on_number(x):
    gpu.atomic.add(x[0], 0, 1)


@wrong(READ_ONLY)
def atomic_on_read_only(x):
    gpu.atomic.add(x, 0, 1)


# -- short vectors


@wrong(F32)
def item_of_vector(x):
    v = gpu.float32x4(x[0], 1, 2, 3)
    x[0] = v[gpu.threadIdx.x]


@wrong(F32)
def compares_vectors(x):
    v = gpu.float32x2(x[0], 1)
    x[0] = v == v


@wrong(F32)
def loops_over_tuple_of_several_types(x):
    for item in (1, x[0], 2):
        x[0] = item
