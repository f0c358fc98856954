"""What Python has and a kernel has not: patterns, comprehensions, keywords; and calls that do not fit."""

# ruff: noqa: B009, C416, F841, PIE804

from __future__ import annotations

import contextlib

import numpy as np

import numba_metal as gpu
from tests.errors.wrong_kernels.given import F32, wrong

# -- Python's other statements and calls


@wrong(F32)
def catches_two_exceptions(x):
    try:
        x[9] = 1
    except (IndexError, ValueError):
        x[0] = 1


@wrong(F32)
def context_manager(x):
    with contextlib.suppress(ValueError):
        x[0] = 1


@wrong(F32)
def unpacks_the_rest(x):
    first, *rest = (1, 2, 3)
    x[0] = rest[0]


@wrong(F32)
def matches_a_tuple(x):
    match (x[0], x[1]):
        case (a, b):
            x[0] = a + b


@wrong(F32)
def yields_from(x):
    yield from range(3)


@wrong(F32)
def call_with_dictionary(x):
    x[0] = max(1, **{"key": 2})


@wrong(F32)
def raises_with_dictionary(x):
    raise ValueError({})


@wrong(F32)
def set_comprehension(x):
    x[0] = len({i for i in range(3)})


@wrong(F32)
def dict_comprehension(x):
    x[0] = {i: i for i in range(3)}[1]


@wrong(F32)
def inner_function_that_calls_itself(x):
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    x[0] = factorial(3)


@wrong(F32)
def looks_up_attribute(x):
    x[0] = getattr(x, "size")


@wrong(F32)
def upper_case(x):
    print("a".upper())


@wrong(F32)
def joins_texts(x):
    print(",".join(("a", "b")))


@wrong(F32)
def goes_back(x):
    for i in reversed(range(4)):
        x[i] = i


@wrong(F32)
def sets_thread_index(x):
    gpu.threadIdx.x = 3


LARGE, FOREIGN, OBJECTS = 2**100, np.zeros(2, ">f4"), np.array([None])


@wrong(F32)
def large_global(x):
    x[0] = LARGE


@wrong(F32)
def array_of_another_order_of_bytes(x):
    x[0] = FOREIGN[0]


@wrong(F32)
def array_of_objects(x):
    x[0] = OBJECTS[0]


# -- calls that do not fit


@gpu.jit(device=True)
def adds(a, b=3):
    return a + b


@gpu.jit(device=True)
def takes_keywords(a, **others):
    return a


@gpu.jit(device=True)
def takes_keyword_only(a, *, b=2):
    return a + b


@gpu.jit(device=True)
def calls_itself(n):
    return calls_itself(n + 1)


@wrong(F32)
def call_without_argument(x):
    x[0] = adds()


@wrong(F32)
def call_with_too_many(x):
    x[0] = adds(1, 2, 3)


@wrong(F32)
def call_with_unknown_keyword(x):
    x[0] = adds(1, c=2)


@wrong(F32)
def call_with_others(x):
    x[0] = takes_keywords(1, c=3)


@wrong(F32)
def call_with_keyword_only(x):
    x[0] = takes_keyword_only(1, b=3)


@wrong(F32)
def recursion_without_result(x):
    x[0] = calls_itself(1)
