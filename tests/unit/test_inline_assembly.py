"""PTX in users' intrinsics reaches PTX, and is refused where another machine's code is made: LLVM ends the process at
assembly that it cannot read."""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

import numba_metal
import numba_ptxplus
from numba_gpucore.base.errors import UnsupportedKernelError

CLOCK = "mov.u64 $0, %clock64;"


@intrinsic
def read_clock(typing_context):
    def lower(context, builder, signature, arguments):
        function = ir.FunctionType(ir.IntType(64), [])
        return builder.call(ir.InlineAsm(function, CLOCK, "=l", side_effect=True), [])

    return types.uint64(), lower


@numba_metal.jit(device=True)
def now():
    return read_clock()


def in_the_kernel(out):
    out[0] = read_clock()


def in_a_function(out):
    out[0] = now()


@pytest.mark.parametrize("kernel", [in_the_kernel, in_a_function])
def test_ptx_has_it(kernel):
    assert "%clock64;" in numba_ptxplus.compile_ptx(kernel, "void(uint64[::1])", cc=(8, 0))[0]


@pytest.mark.parametrize("gpu", [numba_metal, numba_ptxplus])
@pytest.mark.parametrize(("kernel", "holder"), [(in_the_kernel, in_the_kernel), (in_a_function, now.py_func)])
def test_other_devices_refuse_it(gpu, kernel, holder):
    """With the function that has it, and its text."""
    with pytest.raises(UnsupportedKernelError) as caught:
        gpu.jit(kernel)[1, 1](np.zeros(1, np.uint64))
    (fault,) = caught.value.faults
    assert fault.what.startswith(f"'{holder.__name__}' has inline assembly for NVIDIA GPUs, \"{CLOCK}\"; the back-end ")
    assert (fault.filename, fault.line) == (__file__, holder.__code__.co_firstlineno)


def test_metal_text_refuses_it():
    with pytest.raises(UnsupportedKernelError, match=r"%clock64;\"; the back-end 'metal' cannot use it"):
        numba_metal.compile_msl(in_a_function, "void(uint64[::1])")
