"""The PTX of twenty kernels for sm_90, word for word. `REWRITE_GOLDENS=1 python -m pytest tests/golden` rewrites it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.driver import lower_kernel
from numba_gpucore.launch.eager import kernel_arg_types
from numba_ptxplus.architectures import ARCHITECTURES
from numba_ptxplus.codegen import assemble
from numba_ptxplus.compile_api import emit, make_request
from numba_ptxplus.driver.abi import LAUNCH_ABI
from tests.golden.golden import check_golden
from tests.golden.ptx_programs import PROGRAMS, Program


def make_ptx(program: Program, arch: tuple[int, ...] | str, options: KernelOptions) -> str:
    """As our driver launches it: with a mailbox."""
    request = make_request(program.function, kernel_arg_types(program.signature), arch, options)
    request = replace(request, launch_abi=LAUNCH_ABI)
    return emit(lower_kernel(request), request)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_ptx_is_as_kept(program):
    options = KernelOptions.from_keywords({"boundscheck": False, **program.options})
    ptx = make_ptx(program, (9, 0), options)
    check_golden(f"ptx/{program.name}.ptx", ptx)
    ptxas = assemble.newest_ptxas()
    assert ptxas, "pip install nvidia-cuda-nvcc: the tests need ptxas"
    assemble.run_ptxas(ptxas, ptx, "sm_90", options)


#: Architectures for each program: together every one several times. tests/unit/test_ptx_assemble.py has every
#: intrinsic on every architecture; here are whole programs, of which all on all would take minutes.
N_ARCHS = 3


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=lambda number: PROGRAMS[number].name)
def test_ptxas_takes_whole_programs_of_all_architectures(number):
    program = PROGRAMS[number]
    options = KernelOptions.from_keywords({"boundscheck": False, **program.options})
    ptxas = assemble.newest_ptxas()
    assert ptxas
    for arch in archs_of(number):
        ptx = make_ptx(program, arch, options)
        assert f".target {arch}" in ptx
        assemble.run_ptxas(ptxas, ptx, arch, options)


def archs_of(number: int) -> list[str]:
    return [ARCHITECTURES[(number * N_ARCHS + step) % len(ARCHITECTURES)] for step in range(N_ARCHS)]


def test_no_architecture_is_left_out():
    counts = Counter(arch for number in range(len(PROGRAMS)) for arch in archs_of(number))
    assert set(counts) == set(ARCHITECTURES) and min(counts.values()) >= 2


def test_twenty_kernels_are_kept():
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) == 20
