"""The PTX of twenty kernels for sm_90, word for word. `REWRITE_GOLDENS=1 python -m pytest tests/golden` rewrites it."""

from __future__ import annotations

import pytest

from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.driver import lower_kernel
from numba_gpucore.launch.eager import kernel_arg_types
from numba_ptxplus.codegen import assemble
from numba_ptxplus.compile_api import emit, make_request
from tests.golden.golden import check_golden
from tests.golden.ptx_programs import PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_ptx_is_as_kept(program):
    options = KernelOptions.from_keywords({"boundscheck": False, **program.options})
    request = make_request(program.function, kernel_arg_types(program.signature), (9, 0), options)
    ptx = emit(lower_kernel(request), request)
    check_golden(f"ptx/{program.name}.ptx", ptx)
    ptxas = assemble.newest_ptxas()
    assert ptxas, "pip install nvidia-cuda-nvcc: the tests need ptxas"
    assemble.run_ptxas(ptxas, ptx, "sm_90", options)


def test_twenty_kernels_are_kept():
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) == 20
