"""What bounds checks cost in NVIDIA's machine code: up to 30 % more instructions in the kernel, and no spills."""

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
from numba_ptxplus.driver.abi import PROGRAM_VARIABLE
from tests.ptx.sass import Sass

#: Of the loop over tiles: matrices of 256 × 256.
ROUNDS = 16
#: Of executed instructions, and of those that the kernel has beside its calls of code that throws. Ours without checks,
#: ptxas of CUDA 13.5; the matrix product checks nine extents in a loop that is short without them.
MAX_EXECUTED_RATIO = 1.25
MAX_RATIOS = {"saxpy": 1.25, "stencil": 1.25, "tiled matmul": 1.3}
#: With more, fewer than the 2,048 threads that a multiprocessor can hold would run. The matrix product takes 36
#: without checks on sm_120.
MAX_REGISTERS = 32


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


def registers(report: str) -> int:
    return int(re.findall(r"Used (\d+) registers", report)[-1])


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_instructions_registers_and_spills(kernel, arch):
    unchecked, report_unchecked = assemble(kernel, arch, boundscheck=False)
    checked, report = assemble(kernel, arch, boundscheck=True)
    assert not unchecked.throws and checked.throws, "the comparison would show nothing"
    assert set(re.findall(r"(\d+) bytes spill", report)) == {"0"}
    assert registers(report) <= max(MAX_REGISTERS, registers(report_unchecked) + 1)
    executed = checked.executed(ROUNDS) / unchecked.executed(ROUNDS)
    assert 1 < executed <= MAX_EXECUTED_RATIO, f"{checked.executed(ROUNDS)} for {unchecked.executed(ROUNDS)}"
    ratio = checked.count / unchecked.count
    assert 1 < ratio <= MAX_RATIOS[kernel.name], f"{checked.count} instructions for {unchecked.count}"


def test_a_kernel_that_cannot_throw_has_no_mailbox():
    signature = "void(float32[::1])"
    for boundscheck in (False, True):
        assert PROGRAM_VARIABLE not in gpu.jit(fill, boundscheck=boundscheck).inspect_asm(signature, cc=(9, 0))
        assert "mailbox" not in numba_metal.jit(fill, boundscheck=boundscheck).inspect_msl(signature)
    saxpy = KERNELS["saxpy"]
    checked = gpu.jit(saxpy.function, boundscheck=True)
    assert PROGRAM_VARIABLE in checked.inspect_asm(saxpy.signature, cc=(9, 0))
    assert "mailbox" in numba_metal.jit(saxpy.function, boundscheck=True).inspect_msl(saxpy.signature)
