"""Short vectors: names, refusals, and that code generators use vector instructions and types."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numba import types

import numba_metal
import numba_ptxplus
from numba_gpucore import language as gpu
from numba_gpucore.base.errors import KernelLanguageError
from numba_gpucore.vector_types import VECTOR_CLASSES, vector_names

float2, float3, float4, half2 = (vector_names()[name] for name in ("float2", "float3", "float4", "half2"))


@pytest.mark.parametrize("package", [numba_metal, numba_ptxplus], ids=["metal", "ptxplus"])
def test_packages_have_every_name(package) -> None:
    """CUDA C++ Programming Guide, "Built-in Vector Types": long and long long are both 64 bits wide."""
    assert package.float4 is package.float32x4 and package.uchar3 is package.uint8x3
    assert package.long2 is package.longlong2 is package.int64x2 and package.half2 is package.float16x2
    assert len(VECTOR_CLASSES) == 11 * 4


def test_vectors_exist_in_kernels_only() -> None:
    with pytest.raises(KernelLanguageError, match=r"float32x4\(\) exists only while a kernel runs"):
        float4(1, 2, 3, 4)


def too_few(out):
    out[0] = float4(1, float2(2, 3)).x


def changed(out):
    v = float2(1, 2)
    v.x = 3
    out[0] = v.x


def three_in_memory(out):
    out.view(float3)[0] = float3(1, 2, 3)


def other_numbers(out):
    out.view(half2)[0] = half2(1, 2)


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (too_few, r"test_vectors\.py:\d+: .*float32x4\(\) takes 4 components, not 3"),
        (changed, r"a vector cannot be changed: make a new float32x2 with another \.x"),
        (three_in_memory, r"vectors of three take the place of four in memory; use float32x4"),
        (other_numbers, r"view\(float16x2\) needs an array of float16 in C order"),
    ],
)
def test_wrong_use_is_told(kernel, text: str) -> None:
    with pytest.raises(Exception, match=text):
        numba_ptxplus.jit(kernel)[1, 1](np.zeros(8, np.float32))


def double_items(x):
    items = x.view(float4)
    i = gpu.grid(1)
    if i < items.size:
        items[i] = items[i] + items[i]


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (np.zeros(7, np.float32), "the last axis must be a multiple of 4"),
        (np.zeros(9, np.float32)[1:], "the array must start at a multiple of 16 bytes"),
    ],
)
def test_views_that_do_not_fit_are_refused(x: np.ndarray, text: str) -> None:
    """On the CPU device host arrays are used in place, so the second one starts in the middle of a vector."""
    with pytest.raises(ValueError, match=text):
        numba_ptxplus.jit(double_items)[1, 32](x)


def half_pairs(x):
    pairs = x.view(half2)
    i = gpu.grid(1)
    v = pairs[i]
    pairs[i] = gpu.fma(v, v, v * v + v)


def test_ptx_has_packed_halves_and_wide_accesses() -> None:
    """PTX ISA, "Half Precision Floating-Point Instructions"; ld and st with .v4."""
    ptx, _result = numba_ptxplus.compile_ptx(half_pairs, (types.float16[::1],), cc=(8, 0))
    for instruction in (r"mul(\.rn)?", r"add(\.rn)?", r"fma\.rn"):
        assert re.search(rf"{instruction}\.f16x2\s", ptx)
    assert "cvt.f32.f16" not in ptx
    ptx, _result = numba_ptxplus.compile_ptx(double_items, (types.float32[::1],), cc=(8, 0))
    assert re.search(r"ld\.global\.v4", ptx) and re.search(r"st\.global\.v4", ptx)


def test_msl_has_its_own_vectors() -> None:
    """MSL specification 2.2, "Vector Data Types"."""
    text = numba_metal.compile_msl(half_pairs, "void(float16[::1])", lineinfo=False)
    assert re.search(r"\*\(device half2\*\)", text) and re.search(r"half2 \w+ = ", text) and "fma(" in text
    text = numba_metal.compile_msl(double_items, "void(float32[::1])", lineinfo=False)
    assert re.search(r"\*\(device float4\*\)", text)
