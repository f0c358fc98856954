"""Statements, prints and promises that a kernel cannot have."""

# ruff: noqa: F821, F841, F401, B016, RET503, PLC0415, UP031, UP032

from __future__ import annotations

import enum

import numpy as np

import numba_metal as gpu
from tests.errors.wrong_kernels.given import F32, HOST, I32, wrong


class OwnError(Exception):
    def __init__(self, text, code=0):
        super().__init__(text)
        self.code = code


# -- statements


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Weight(enum.Enum):
    LIGHT = 1.5
    HEAVY = 2.5


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


@wrong(F32)
def chains_exceptions(x):
    if x[0] > 0:
        raise ValueError("text") from None


@wrong(F32)
def raises_one_of_two(x):
    if x[0] > 0:
        raise (ValueError if x[1] > 0 else KeyError)("text")


@wrong(F32)
def exception_with_keywords(x):
    if x[0] > 0:
        raise OwnError("text", code=3)


@wrong(F32)
def raises_a_string(x):
    if x[0] > 0:
        raise "text"


@wrong(F32)
def raises_what_ends_python(x):
    if x[0] > 0:
        raise SystemExit(3)


@wrong(F32)
def exception_with_tuple(x):
    if x[0] > 0:
        raise ValueError(x.shape, (1, x))


@wrong(F32)
def exception_with_many_numbers(x):
    if x[0] > 0:
        raise ValueError(x[0], x[1], x[2], x[3], x.size)


@wrong(F32)
def formats_with_percent(x):
    if x[0] > 0:
        raise ValueError("x is %f" % x[0])


@wrong(F32)
def formats_by_method(x):
    print("x is {}".format(x[0]))


# -- what Numba's reading of bytecode does not take, and kernels in kernels


@wrong(F32)
def assignment_expression(x):
    if (n := gpu.grid(1)) > 0:
        x[n] = n


@wrong(F32)
def inner_function_with_keywords(x):
    def scaled(value, factor):
        return value * factor

    x[0] = scaled(x[1], factor=2)


# -- what a device cannot keep or make


@wrong(F32, Colour.RED)
def exception_with_member_of_enum(x, colour):
    raise ValueError(colour)


@wrong(F32)
def exception_with_thread_index(x):
    raise ValueError(gpu.threadIdx)


@wrong(F32)
def prints_member_with_float(x):
    print(Weight.LIGHT)


@wrong(F32)
def text_of_float(x):
    x[0] = len(str(x[1]))


@wrong(F32)
def text_of_tuple(x):
    x[0] = len(f"{x.shape}")


@wrong(F32)
def large_local_array(x):
    a = gpu.local.array((400, 400), np.float32)
    a[0, 0] = x[0]


@gpu.jit
def launched(x):
    x[0] = 1


@wrong(F32)
def launches_a_kernel(x):
    launched[1, 1](x)
