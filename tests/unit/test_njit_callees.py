"""Functions decorated @njit serve the CPU and kernels alike, in either order."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import numba_metal as cuda
import numba_ptxplus
from numba_gpucore.base.errors import UnsupportedKernelError


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


def test_what_disabled_decorators_leave_is_told(monkeypatch):
    """With the function's own decorator there, "decorate it" would be no help."""
    monkeypatch.setattr(numba.core.config, "DISABLE_JIT", 1)

    @numba.njit
    def increase(x):
        return x + 1

    @cuda.jit
    def kernel(x):
        x[0] = increase(x[0])

    with pytest.raises(UnsupportedKernelError, match="'increase' is an ordinary Python function — unset NUMBA_DISABLE"):
        kernel[1, 1](np.zeros(1, np.float32))


def test_declared_types_of_variables_hold_in_kernels():
    """As on the CPU, where 0.1 is rounded to float32 on its way."""

    def rounded(x):
        y = x * 2
        return y  # noqa: RET504 - its type is declared below

    narrow, wide = (numba.njit(locals={"y": type_})(rounded) for type_ in (numba.float32, numba.float64))

    @numba_ptxplus.jit
    def kernel(out):
        out[0], out[1] = narrow(0.1), wide(0.1)

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [np.float32(0.2), 0.2] == [narrow(0.1), wide(0.1)]


@pytest.mark.parametrize("decorate", [numba.njit, numba.jit, numba.njit(numba.float32(numba.float32))])
def test_jit_takes_what_numba_compiles_for_cpus(decorate):
    """As in numba.cuda, of which old programs write `mandel_gpu = cuda.jit(device=True)(mandel)`."""

    @decorate
    def quarter(x):
        return x / 4

    on_device = cuda.jit(device=True)(quarter)

    @numba.njit
    def apply(values):
        for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
            values[i] = on_device(values[i])

    values = np.arange(4, dtype=np.float32)
    cuda.jit(apply)[1, 2](values)
    np.testing.assert_array_equal(values, [0, 0.25, 0.5, 0.75])
    assert quarter(np.float32(2)) == 0.5
