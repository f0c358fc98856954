"""What bounds checks cost in NVIDIA's machine code: at most 30 % more executed instructions, and no spills."""

from __future__ import annotations

import re

import numpy as np
import pytest

import numba_metal
import numba_ptxplus as gpu
from benchmarks.ptx_kernels import make_kernels
from numba_gpucore.base.options import KernelOptions
from numba_ptxplus.codegen.assemble import newest_ptxas, run_ptxas
from numba_ptxplus.codegen.disassemble import disassemble_cubin
from numba_ptxplus.driver.abi import MAILBOX_VARIABLE
from tests.ptx.sass import Sass

#: Of the loop over tiles: matrices of 256 × 256.
ROUNDS = 16
MAX_RATIO = 1.3


def fill(x):
    """The guard proves what the check would ask."""
    i = gpu.grid(1)
    if i < x.size:
        x[i] = 1


NAMES = ("saxpy", "stencil", "tiled matmul")
KERNELS = {kernel.name: kernel for kernel in make_kernels(gpu, np.float32) if kernel.name in NAMES}


def assemble(kernel, arch: str, boundscheck: bool) -> tuple[Sass, str]:
    """The disassembly, and ptxas's report."""
    ptx = gpu.jit(kernel.function, boundscheck=boundscheck).inspect_asm(kernel.signature, cc=arch)
    ptxas = newest_ptxas()
    assert ptxas is not None
    cubin, report = run_ptxas(ptxas, ptx, arch, KernelOptions())
    return Sass(disassemble_cubin(cubin)), report


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_executed_instructions_and_spills(kernel, arch):
    unchecked, _report = assemble(kernel, arch, boundscheck=False)
    checked, report = assemble(kernel, arch, boundscheck=True)
    assert not unchecked.throws and checked.throws, "the comparison would show nothing"
    assert re.findall(r"(\d+) bytes spill", report) == ["0", "0"]
    ratio = checked.executed(ROUNDS) / unchecked.executed(ROUNDS)
    assert 1 < ratio <= MAX_RATIO, f"{checked.executed(ROUNDS)} instructions for {unchecked.executed(ROUNDS)}"


def test_a_kernel_that_cannot_throw_has_no_mailbox():
    signature = "void(float32[::1])"
    for boundscheck in (False, True):
        assert MAILBOX_VARIABLE not in gpu.jit(fill, boundscheck=boundscheck).inspect_asm(signature, cc=(9, 0))
        assert "mailbox" not in numba_metal.jit(fill, boundscheck=boundscheck).inspect_msl(signature)
    saxpy = KERNELS["saxpy"]
    checked = gpu.jit(saxpy.function, boundscheck=True)
    assert MAILBOX_VARIABLE in checked.inspect_asm(saxpy.signature, cc=(9, 0))
    assert "mailbox" in numba_metal.jit(saxpy.function, boundscheck=True).inspect_msl(saxpy.signature)
