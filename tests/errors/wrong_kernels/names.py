"""Names, attributes and calls that a kernel cannot use."""

# ruff: noqa: F821, F841

from __future__ import annotations

import math
import random
import time

import numpy as np

import numba_metal as gpu
from tests.errors.wrong_kernels.given import F32, HOST, HOST_DICTIONARY, HOST_LIST, RECORD, Host, host_only, wrong


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
def stops_in_debugger(x):
    breakpoint()


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
