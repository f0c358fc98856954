"""Kernels that cannot be compiled, each for reasons that a user meets. Before: nothing. After: test_messages.

`WRONG` in the order of this file: (kernel, arguments). Functions that kernels call come before them.
"""

# ruff: noqa: F821, F841, F401, B016, RET503, RUF059, PLC0415

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import numba_metal as gpu

F32, F64, I8, I32, I64 = (np.zeros(4, dtype) for dtype in (np.float32, np.float64, np.int8, np.int32, np.int64))
M32 = np.zeros((2, 2), np.float32)
C64 = np.zeros(4, np.complex64)
B8 = np.zeros(4, np.bool_)
RECORD = np.zeros(2, np.dtype([("mass", np.float32), ("count", np.int32)]))
READ_ONLY = np.zeros(4, np.float32)
READ_ONLY.flags.writeable = False

WRONG: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def wrong(*args: Any) -> Callable[..., Any]:
    """Decorator: this kernel, launched with `args`, is refused."""

    def add(kernel: Callable[..., Any]) -> Callable[..., Any]:
        WRONG.append((kernel, args))
        return kernel

    return add


def host_only(x):
    return x


class Host:
    """An object that no device knows."""

    value = 3


HOST = Host()
HOST_LIST = [1, 2, 3]
HOST_DICTIONARY = {"a": 1}


@gpu.jit(device=True)
def allocates(n):
    return np.zeros(n)[0]


@gpu.jit(device=True)
def adds_text(x):
    return x + "text"


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


# -- names and functions


@wrong(F32)
def unknown_name(x):
    x[0] = undefined_name


@wrong(F32)
def unknown_function(x):
    x[0] = undefined_function(x[1])


@wrong(F32)
def unbound_local(x):
    x[0] = y
    y = 3


@wrong(F32)
def undecorated_function(x):
    x[0] = host_only(x[0])


@wrong(F32)
def host_object(x):
    x[0] = HOST.value


@wrong(F32)
def clock(x):
    x[0] = time.time()


@wrong(F32)
def file_access(x):
    open("/tmp/x")


@wrong(F32)
def random_number(x):
    x[0] = random.random()


@wrong(F32)
def numpy_random_number(x):
    x[0] = np.random.rand()


@wrong(F32)
def unknown_numpy_attribute(x):
    x[0] = np.no_such_function(x[0])


@wrong(F32)
def unknown_math_attribute(x):
    x[0] = math.no_such_function(x[0])


@wrong(F32)
def unknown_array_attribute(x):
    x[0] = x.no_such_attribute


@wrong(F32)
def unsupported_numpy_function(x):
    x[0] = np.linalg.norm(x)


@wrong(RECORD)
def unknown_record_field(r):
    r[0].colour = 1


@wrong(F32)
def too_few_arguments(x):
    x[0] = math.pow(x[0])


@wrong(F32)
def calls_number(x):
    x[0] = x[0](3)


@wrong(F32)
def calls_kernel_language_wrongly(x):
    i = gpu.grid(4)
    x[0] = i


@wrong(F32)
def grid_of_variable(x):
    i = gpu.grid(x.size)
    x[0] = i


@wrong(F32)
def host_list(x):
    x[0] = HOST_LIST[0]


@wrong(F32)
def host_dictionary(x):
    x[0] = HOST_DICTIONARY["a"]


@wrong(F32)
def makes_object(x):
    x[0] = Host().value


@wrong(F32)
def sorts_in_place(x):
    x.sort()


@wrong(F32)
def unknown_coordinate(x):
    x[0] = gpu.threadIdx.w


@wrong(F32)
def shared_array_without_dtype(x):
    a = gpu.shared.array(4)
    x[0] = a[0]


@wrong(F32)
def calls_method_of_number(x):
    x[0] = x[0].conjugate(1)


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


# -- statements


@wrong(F32)
def returns_number(x):
    return x[0]


@wrong(F32)
def returns_sometimes(x):
    if x[0] > 0:
        return 1
    x[0] = 1


@wrong(F32)
def yields(x):
    yield x[0]


@wrong(F32)
def with_statement(x):
    with open("/tmp/x") as file:
        x[0] = 1


@wrong(F32)
def local_class(x):
    class Inner:
        pass

    x[0] = 1


@wrong(F32)
def local_import(x):
    import os

    x[0] = 1


@wrong(F32)
def global_statement(x):
    global HOST
    HOST = 3


@wrong(F32)
def catches_named_exception(x):
    try:
        x[9] = 1
    except IndexError:
        x[0] = 1


@wrong(F32)
def raises_number(x):
    raise 3


@wrong(F32)
def raises_array(x):
    raise ValueError("bad", x)


@wrong(I32)
def raises_too_many_numbers(x):
    raise ValueError(x[0], x[1], x[2], x[3], x[0] + x[1])


# -- printing


@wrong(F32)
def prints_array(x):
    print("x =", x)


@wrong(F32)
def prints_to_file(x):
    print(x[0], file=None)


@wrong(F32)
def prints_with_variable_end(x):
    print(x[0], end=x[1])


@wrong(F32)
def integer_format_of_float(x):
    print(f"{x[0]:d}")


@wrong(F32)
def variable_format(x):
    print(f"{x[0]:{x.size}}")


@wrong(F32)
def text_that_is_not_printed(x):
    text = f"{x[0]:.3f}"
    x[0] = len(text)


@wrong(F32)
def prints_unpacked_array(x):
    print(*x)


@wrong(F32)
def prints_unpacked_with_keyword(x):
    print(*x.shape, sep="")


# -- what the user promised


@wrong(F32)
def static_assert_of_false(x):
    gpu.static_assert(x.ndim == 2, "x must have two axes")
    x[0] = 1


# -- what Numba alone gives no place, or no reason, for


@wrong(F32)
def shared_array_of_objects(x):
    a = gpu.shared.array(4, np.dtype("O"))
    x[0] = 1


@wrong(F32)
def shared_array_of_unknown_dtype(x):
    a = gpu.shared.array(4, "int33")
    x[0] = 1


@wrong(F32)
def attribute_of_class(x):
    x[0] = float.as_integer_ratio(1.5)


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


# -- several reasons of several kinds, and what Python has for exceptions


@wrong(F32)
def unknown_names_and_allocations(x):
    a = np.zeros(x.size)
    b = [i + 1 for i in range(3)]
    print(no_such_name)
    x[0] = undefined_function(3)


@wrong(F32)
def keeps_an_exception(x):
    try:
        x[0] = 1
    except Exception as error:
        x[0] = 2


@wrong(F32)
def raises_again(x):
    try:
        x[0] = 1
    except Exception:
        raise


@wrong(F32)
def generator_expression(x):
    for value in (2 * i for i in range(3)):
        x[0] += value


@wrong(F32)
def deletes_a_variable(x):
    y = x[0]
    del y
