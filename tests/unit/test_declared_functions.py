"""Declared signatures: calls of device functions are converted to them, by Numba's rules; wrong ones are named."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numba.core.errors import TypingError

import numba_metal
import numba_ptxplus as gpu
from numba_gpucore.base.errors import NotAKernelError, OptionError


def add(a, b):
    return a + b


def run(function, x, y, dtype=np.float64):
    @gpu.jit
    def kernel(out, x, y):
        out[0] = function(x, y)

    out = np.zeros(1, dtype)
    kernel[1, 1](out, x, y)
    return out[0]


def test_arguments_are_converted_to_the_declared_types() -> None:
    """1.5 and 2.5 become the integers 1 and 2."""
    assert run(gpu.jit("int64(int64, int64)", device=True)(add), 1.5, 2.5) == 3


def test_results_are_converted_too() -> None:
    assert run(gpu.jit(gpu.int32(gpu.float32, gpu.float32), device=True)(add), 1.25, 2.25) == 3


def test_the_nearest_of_several_signatures_is_called() -> None:
    """float32 loses 2**-25 beside 1, float64 keeps it."""
    function = gpu.jit(["(float32, float32)", "(float64, float64)"], device=True)(add)
    assert run(function, np.float32(1), np.float32(2**-25)) == 1
    assert run(function, 1, 2**-25) == 1 + 2**-25


def test_what_fits_no_signature_is_refused() -> None:
    with pytest.raises(TypingError):
        run(gpu.jit(["(int64, int64)", "(float64, float64)"], device=True)(add), 1j, 1j, np.complex128)


def test_a_device_function_is_no_kernel() -> None:
    with pytest.raises(NotAKernelError, match="'add' was declared with device=True"):
        gpu.jit(device=True)(add)[1, 1]


def test_an_overload_tells_the_types_of_variables() -> None:
    @gpu.jit("void(float32[::1])")
    def kernel(x):
        local = gpu.local.array(10, np.int32)
        twice = 2 * x[0]
        local[0] = twice
        x[0] = local[0]

    (overload,) = kernel.overloads.values()
    found = overload._type_annotation.typemap
    assert found["local"].dtype == gpu.int32 and found["twice"] == gpu.float64 and found["x"] == gpu.float32[::1]


@pytest.mark.parametrize("signature", ["void(quux)", "void(float32[::1]", "void(types.quux)"])
def test_texts_that_are_no_signatures_are_named(signature: str) -> None:
    """Numba evaluates what our own reader does not know."""
    with pytest.raises(TypeError, match=re.escape(f"{signature!r} is no signature: ")):
        gpu.jit(signature)(lambda x: None)
    with pytest.raises(TypeError, match=re.escape(f"{signature!r} is no signature: ")):
        gpu.declare_device("f", signature)


@pytest.mark.parametrize("compile_text", [numba_metal.compile_msl, gpu.compile_ptx], ids=["MSL", "PTX"])
@pytest.mark.parametrize("value", [3, "text", len])
def test_only_functions_are_compiled(compile_text, value) -> None:
    with pytest.raises(OptionError, match=re.escape(f"a Python function is compiled, not {value!r}")):
        compile_text(value, "void(float32[::1])")
