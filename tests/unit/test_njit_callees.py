"""Functions decorated @njit serve the CPU and kernels alike, in either order."""

from __future__ import annotations

import numba
import numpy as np

import numba_metal as cuda


@numba.njit
def double(x):
    return x + x


def test_a_function_that_ran_on_the_cpu_works_in_a_kernel():
    @numba.njit
    def triple(x):
        return x + x + x

    @cuda.jit
    def apply(values):
        values[cuda.grid(1)] = triple(values[cuda.grid(1)])

    assert triple(np.float32(1)) == 3
    values = np.arange(4, dtype=np.float32)
    apply[1, 4](values)
    np.testing.assert_array_equal(values, [0, 3, 6, 9])


def test_a_kernel_leaves_the_dispatcher_as_it_was():
    @cuda.jit
    def apply(values):
        values[cuda.grid(1)] = double(values[cuda.grid(1)])

    values = np.arange(4, dtype=np.float32)
    apply[1, 4](values)
    np.testing.assert_array_equal(values, [0, 2, 4, 6])
    assert double.signatures == [], "the kernel's use compiled nothing for Numba's own target"
    assert double(np.float32(2)) == 4
    assert double.signatures == [(numba.float32,)]
