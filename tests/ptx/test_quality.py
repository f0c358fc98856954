"""No benchmark kernel needs more registers, spills or machine instructions on sm_90 than with numba-cuda.

Its figures are noted in benchmarks/ptx_quality.py, which measures it where it is installed.
"""

from __future__ import annotations

import numpy as np
import pytest

import numba_ptxplus
from benchmarks import ptx_quality
from benchmarks.ptx_kernels import Kernel, make_kernels

ARCH = "sm_90"
KERNELS = [
    (kernel, literals)
    for literals, number in (("plain", float), ("float32", np.float32))
    for kernel in make_kernels(numba_ptxplus, number)
]


@pytest.mark.parametrize(("kernel", "literals"), KERNELS, ids=lambda value: getattr(value, "name", value))
def test_kernel_is_as_good_as_numba_cudas(kernel: Kernel, literals: str) -> None:
    ptx, _result = numba_ptxplus.compile_ptx(kernel.function, kernel.signature, cc=ARCH)
    quality = ptx_quality.measure({"ptx": ptx, "compile_s": 0.0}, ARCH)
    registers, instructions = ptx_quality.NOTED_PEER[kernel.name, literals]
    assert quality.registers <= registers
    assert quality.instructions <= instructions
    assert quality.spill_nbytes == 0
    if literals == "float32":
        assert quality.float64_instructions == 0
