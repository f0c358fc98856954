"""The MSL of 42 kernels of `tests.device`, word for word, and each accepted by the checker.

`REWRITE_GOLDENS=1 python -m pytest tests/golden` rewrites it.
"""

from __future__ import annotations

import numba
import numpy as np
import pytest

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.driver import inspect_stage
from numba_gpucore.compile.numba_types import from_numba
from numba_metal.target import TARGET
from tests.device.catalogue import Case, all_cases
from tests.golden.golden import check_golden
from tests.msl import check_msl

NAMES = """
    thread_numbers grid_1d grid_2d grid_stride lanes
    reverse_block tree_sum barrier_votes early_return flood fences
    matmul_ragged two_shared_arrays shared_in_device_function dynamic_of_two_types local_sort local_matrix
    constant_table add_tickets add_and_sub_float32 bitwise_uint32 extremes_int32 extremes_float32
    count_increments_uint32 lock_by_cas
    shared_histogram negative_index
    shuffles_int64 warp_sum warp_votes matches
    wrapping integer_division_int64 shifts conversions selections
    views_of_views slices records strided_records tuples loops
""".split()
CASES = {case.name: case for case in all_cases()}


def msl_of(case: Case, msl_version: str = "3.2") -> str:
    arguments = case.make_args(np.random.default_rng(case.seed))
    types = tuple(from_numba(numba.typeof(argument)) for argument in arguments)
    options = KernelOptions(boundscheck=False, lineinfo=True)
    arch = f"apple-msl{msl_version}"
    request = CompileRequest(case.kernel, TARGET, "metal", "numba_metal.codegen:CODEGEN", 1, arch, types, options)
    return inspect_stage(request, "asm")


@pytest.mark.parametrize("name", NAMES)
def test_msl_is_as_kept(name):
    text = msl_of(CASES[name])
    check_golden(f"msl/{name}.metal", text)
    report = check_msl(text, (3, 2))
    assert report.ok, f"{report}\n{text}"


def test_42_kernels_are_kept():
    assert len(set(NAMES)) == len(NAMES) == 42
