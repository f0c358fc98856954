"""bfloat16 beyond the catalogue: every bit on millions of floats, instructions and types, and without ml_dtypes."""

from __future__ import annotations

import re
import sys

import ml_dtypes
import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore import language as gpu
from numba_gpucore.base.errors import UnsupportedKernelError

BF16 = np.dtype(ml_dtypes.bfloat16)
COUNT = 2**22


def narrow(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = x[i]


def test_millions_of_floats_are_rounded_as_by_ml_dtypes() -> None:
    """Random bits, an eighth of them in the middle of two numbers; NaN stays NaN."""
    bits = np.random.default_rng(4).integers(0, 2**32, COUNT, np.uint32)
    bits[::8] = bits[::8] & 0xFFFF0000 | 0x8000
    x, out = bits.view(np.float32), np.zeros(COUNT, BF16)
    numba_ptxplus.jit(narrow)[COUNT // 256, 256](x, out)
    is_nan = np.isnan(x)
    with np.errstate(invalid="ignore"):
        wanted = x.astype(BF16)
    np.testing.assert_array_equal(np.isnan(out.astype(np.float32)), is_nan)
    np.testing.assert_array_equal(out.view(np.uint16)[~is_nan], wanted.view(np.uint16)[~is_nan])


def add(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = x[i] + y[i]


SIGNATURE = "void(bfloat16[::1], bfloat16[::1], bfloat16[::1])"


def test_ptx_has_instructions_of_bfloat16() -> None:
    """PTX ISA: cvt to .bf16 and fma on sm_80 and later, add on sm_90. The sum of floats, rounded, is one of these."""
    ptx, _result = numba_ptxplus.compile_ptx(narrow, "void(float32[::1], bfloat16[::1])", cc=(8, 0))
    assert re.search(r"cvt\.rn\.bf16\.f32\s", ptx)
    ptx, _result = numba_ptxplus.compile_ptx(add, SIGNATURE, cc=(8, 0))
    assert re.search(r"fma\.rn\.bf16\s", ptx)
    ptx, _result = numba_ptxplus.compile_ptx(add, SIGNATURE, cc=(9, 0))
    assert re.search(r"add(\.rn)?\.bf16\s", ptx)


def largest(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = max(x[i], y[i])


def test_ptx_compares_bfloat16_under_fastmath_without_flushing() -> None:
    """ptxas refuses setp.ftz.bf16, which LLVM writes on sm_90 and later."""
    ptx, _result = numba_ptxplus.compile_ptx(largest, SIGNATURE, cc=(9, 0), fastmath=True)
    assert re.search(r"setp\.\w+\.bf16", ptx) and not re.search(r"\.ftz\.bf16", ptx)


def test_msl_has_bfloat_from_version_3_1() -> None:
    """MSL specification 2.1, "Scalar Data Types"."""
    assert "bfloat" in numba_metal.compile_msl(add, SIGNATURE, (3, 1))
    with pytest.raises(UnsupportedKernelError, match=r"bfloat16, which Metal has from MSL 3\.1"):
        numba_metal.compile_msl(add, SIGNATURE, (3, 0))


def weak(x, out):
    out[0] = x[0] + 0.1
    out[1] = x[0] + 1


def test_a_bfloat16_stays_one_beside_weak_floats() -> None:
    """1 + 0.1 is 1.1015625 in eight bits of precision."""
    out = np.zeros(2, np.float32)
    numba_metal.jit(weak)[1, 1](np.ones(1, BF16), out)
    assert out.tolist() == [1.1015625, 2.0]


def tell(x):
    print(x[0])
    if x[0] > 0:
        raise ValueError(f"got {x[0]}")


def test_texts_hold_bfloat16_numbers(capsys) -> None:
    with pytest.raises(ValueError, match=r"got 2\.5"):
        numba_ptxplus.jit(tell)[1, 1](np.array([2.5], BF16))
    assert capsys.readouterr().out == "2.5\n"


def test_without_ml_dtypes_the_type_says_what_is_missing(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match="bfloat16 needs the package ml_dtypes: pip install ml_dtypes"):
        np.zeros(3, numba_metal.bfloat16)
