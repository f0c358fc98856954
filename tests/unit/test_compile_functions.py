"""Functions that a kernel mentions: ours and Numba's, whatever else the process has imported."""

import numba
import numba.experimental
import numpy as np

import numba_metal
import numba_ptxplus as cuda


@numba.njit
def plain(x):
    return x + 1


@cuda.jit(device=True)
def ours(x):
    return x + 2


@numba_metal.jit(device=True)
def of_the_other_package(x):
    return x + 4


def test_functions_of_every_kind_are_called():
    @cuda.jit
    def kernel(x):
        x[0] = of_the_other_package(plain(ours(x[0])))

    data = np.array([0.0])
    kernel[1, 1](data)
    assert data[0] == 7  # 1 + 2 + 4
    assert plain(1) == 2  # the CPU's own dispatcher is as it was
