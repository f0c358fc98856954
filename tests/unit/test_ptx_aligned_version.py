"""Vector accesses of global memory: which kernels get a version with them, and that only aligned arrays take it.

They run on the PTX machine, which refuses vector accesses of other addresses.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import numba_ptxplus as gpu
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.jit import jit
from numba_ptxplus import compile_ptx
from tests.ptx.device import PLATFORM, PtxDevice, use_device

ROWS = "void(float32[::1], float32[::1])"


def scale_quads(x, out):
    i = 4 * gpu.grid(1)
    if i + 3 < x.size:
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        out[i], out[i + 1], out[i + 2], out[i + 3] = 2 * a, 2 * b, 2 * c, 2 * d


def sum_rows(x, out):
    i = gpu.grid(1)
    total = x[0]
    for j in range(16 * i, 16 * i + 16):
        total += x[j]
    out[i] = total


def shift(x, out):
    i = gpu.grid(1)
    if 0 < i < x.size - 1:
        out[i] = x[i - 1] + x[i] + x[i + 1]


def accesses(ptx: str, pattern: str) -> int:
    return len(re.findall(pattern, ptx))


def test_four_floats_in_a_row_are_one_access():
    ptx, _ = compile_ptx(scale_quads, ROWS)
    assert accesses(ptx, r"ld\.global\.v4\.b32") == 1 and accesses(ptx, r"st\.global\.v4\.b32") == 1
    # the version for any address
    assert accesses(ptx, r"ld\.global\.b32") == 4 and accesses(ptx, r"st\.global\.b32") == 4


def test_a_loop_over_a_row_of_known_length():
    """16 floats are four accesses; x[0] and the result are one each in both versions."""
    ptx, _ = compile_ptx(sum_rows, ROWS)
    assert accesses(ptx, r"ld\.global\.v4\.b32") == 4


def test_two_doubles_and_read_only_arrays():
    ptx, _ = compile_ptx(scale_quads, "void(float64[::1], float64[::1])")
    assert accesses(ptx, r"ld\.global\.v2\.b64") == 2
    ptx, _ = compile_ptx(scale_quads, "void(Array(float32, 1, 'C', readonly=True), float32[::1])")
    assert accesses(ptx, r"ld\.global\.nc\.v4\.b32") == 1


def test_all_arrays_are_asked_for_their_alignment():
    """The addresses are joined by `or`, of which the four low bits decide; every thread takes the same way."""
    ptx, _ = compile_ptx(scale_quads, ROWS)
    assert re.search(r"or\.b64 \t(%rd\d+), .*\n(?:.*\n)*?\tand\.b64 +\t%rd\d+, \1, 15;", ptx)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [(shift, {}), (scale_quads, {"opt": False}), (scale_quads, {"lineinfo": True})],
)
def test_other_kernels_stay_as_they_are(kernel, options):
    ptx, _ = compile_ptx(kernel, ROWS, **options)
    assert not accesses(ptx, r"\.global\S*\.v[24]") and not accesses(ptx, r"and\.b64 .*, 15;")


@pytest.mark.parametrize(("start", "out_start"), [(0, 0), (4, 8), (1, 0), (0, 2), (1, 1)])
def test_any_view_gives_the_same(start, out_start, monkeypatch):
    use_device(monkeypatch, PtxDevice())
    arrays = Allocator(PLATFORM)
    x = np.arange(80, dtype=np.float32)
    source, target = arrays.to_device(x), arrays.to_device(np.zeros(80, np.float32))
    jit(PLATFORM, scale_quads)[1, 16](source[start : start + 64], target[out_start : out_start + 64])
    expected = np.zeros(80, np.float32)
    expected[out_start : out_start + 64] = 2 * x[start : start + 64]
    np.testing.assert_array_equal(target.copy_to_host(), expected)


def sum_with_gap(x, out):
    out[0] = x[0] + x[1] + x[2] + x[3] + x[4] + x[6]


def sum_seven(x, out):
    out[0] = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6]


@pytest.mark.parametrize(
    ("kernel", "dtype", "total"),
    [(sum_with_gap, np.float32, 22), (sum_seven, np.float32, 28), (sum_seven, np.int32, 28)],
)
def test_what_is_read_lies_in_the_allocation(kernel, dtype, total, monkeypatch):
    """LLVM reads the last items of seven as a vector of four; the machine refuses what lies outside an allocation."""
    use_device(monkeypatch, PtxDevice())
    x, out = np.arange(1, 8, dtype=dtype), np.zeros(1, dtype)
    jit(PLATFORM, kernel)[1, 1](Allocator(PLATFORM).to_device(x), out)
    assert out[0] == total


def take_sines(x, out):
    i = 2 * gpu.grid(1)
    a, b = x[i], x[i + 1]
    out[i] = math.sin(a) + math.sin(b)


def test_functions_that_are_not_inlined_are_shared():
    """libdevice's reduction of large arguments stays one function: its declaration and its definition."""
    ptx, _ = compile_ptx(take_sines, "void(float64[::1], float64[::1])")
    assert accesses(ptx, r"ld\.global\.v2\.b64") == 1 and accesses(ptx, r"\n\.func ") == 2
