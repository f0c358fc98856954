"""What bounds checks cost in NVIDIA's machine code: at most 30 % more executed instructions, and no spills."""

from __future__ import annotations

import re

import numpy as np
import pytest

import numba_metal
import numba_ptxplus as gpu
from numba_gpucore.base.options import KernelOptions
from numba_ptxplus.codegen.assemble import newest_ptxas, run_ptxas
from numba_ptxplus.codegen.disassemble import disassemble_cubin
from numba_ptxplus.driver.abi import MAILBOX_VARIABLE
from tests.ptx.sass import Sass

TILE = 16
#: Of the loop over tiles: matrices of 256 × 256.
ROUNDS = 16
MAX_RATIO = 1.3


def saxpy(a, x, y):
    i = gpu.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]


def stencil(source, target):
    y, x = gpu.grid(2)
    if 0 < y < source.shape[0] - 1 and 0 < x < source.shape[1] - 1:
        around = source[y - 1, x] + source[y + 1, x] + source[y, x - 1] + source[y, x + 1]
        target[y, x] = np.float32(0.25) * around


def matmul(a, b, c):
    tile_a = gpu.shared.array((TILE, TILE), np.float32)
    tile_b = gpu.shared.array((TILE, TILE), np.float32)
    tx, ty = gpu.threadIdx.x, gpu.threadIdx.y
    row = gpu.blockIdx.y * TILE + ty
    column = gpu.blockIdx.x * TILE + tx
    total = np.float32(0)
    for first in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = a[row, first + tx]
        tile_b[ty, tx] = b[first + ty, column]
        gpu.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        gpu.syncthreads()
    c[row, column] = total


def fill(x):
    """The guard proves what the check would ask."""
    i = gpu.grid(1)
    if i < x.size:
        x[i] = 1


SIGNATURES = {
    saxpy: "void(float32, float32[::1], float32[::1])",
    stencil: "void(float32[:,::1], float32[:,::1])",
    matmul: "void(float32[:,::1], float32[:,::1], float32[:,::1])",
}


def assemble(kernel, arch: str, boundscheck: bool) -> tuple[Sass, str]:
    """The disassembly, and ptxas's report."""
    ptx = gpu.jit(kernel, boundscheck=boundscheck).inspect_asm(SIGNATURES[kernel], cc=arch)
    ptxas = newest_ptxas()
    assert ptxas is not None
    cubin, report = run_ptxas(ptxas, ptx, arch, KernelOptions())
    return Sass(disassemble_cubin(cubin)), report


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("kernel", SIGNATURES, ids=lambda kernel: kernel.__name__)
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
    checked = gpu.jit(saxpy, boundscheck=True)
    assert MAILBOX_VARIABLE in checked.inspect_asm(SIGNATURES[saxpy], cc=(9, 0))
    assert "mailbox" in numba_metal.jit(saxpy, boundscheck=True).inspect_msl(SIGNATURES[saxpy])
