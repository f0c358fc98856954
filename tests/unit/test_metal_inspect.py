"""`kernel.inspect_msl`: the text that Apple's compiler gets, on machines without a GPU too."""

from __future__ import annotations

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.base.errors import OptionError
from tests.levels import opened_level


def scale(x, factor):
    i = numba_metal.grid(1)
    if i < x.size:
        x[i] *= factor


def launched():
    kernel = numba_metal.jit(scale)
    kernel[1, 4](np.ones(4, np.float32), 2.5)
    return kernel


def test_text_of_the_signatures_that_were_called() -> None:
    kernel = launched()
    ((types, text),) = kernel.inspect_msl().items()
    assert [str(type_) for type_ in types] == ["array(float32, 1d, C)", "weak float32"]
    assert "kernel void kernel_scale(constant Args& args [[buffer(0)]]" in text
    assert "float factor;" in text and "double" not in text


def test_text_of_one_signature_is_that_of_compile_msl() -> None:
    signature = "void(float32[::1], float32)"
    assert numba_metal.jit(scale).inspect_msl(signature) == numba_metal.compile_msl(scale, signature, lineinfo=False)


def test_versions_of_the_language() -> None:
    """bfloat came with MSL 3.1, so does nothing here; an unknown version is refused as by compile_msl."""
    kernel = launched()
    assert kernel.inspect_msl("void(float32[::1], float32)", msl_version=(3, 2))
    with pytest.raises(OptionError, match=r"unknown version '2\.4' of the Metal language; known are msl3\.0, msl3\.1"):
        kernel.inspect_msl("void(float32[::1], float32)", msl_version=(2, 4))


def test_the_device_decides_where_there_is_one() -> None:
    with opened_level("metal double"):
        kernel = launched()
        assert list(kernel.inspect_msl().values()) == list(kernel.inspect_asm().values())


def test_other_targets_have_none() -> None:
    with pytest.raises(OptionError, match="kernels of numba_ptxplus have no MSL"):
        numba_ptxplus.jit(scale).inspect_msl()
