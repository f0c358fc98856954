"""Small kernels in PTX text for tests of the machine. Before: a body. After: test_machine_*.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.ptx.instructions import HEADER
from tests.ptx.machine import PtxMachine
from tests.ptx.toolchain import check_with_ptxas

REGISTERS = """ .reg .pred %p<8>;
 .reg .b16 %h<8>;
 .reg .b32 %r<32>;
 .reg .b64 %d<16>;
 .reg .b32 %i;
 .reg .b64 %out, %in;
"""


def kernel(body: str, name: str = "k", directives: str = "") -> str:
    """An entry (out, in) with some registers declared; %i is the thread's number in the grid.

    %out and %in point to the thread's own 32-bit word. `ret` is added.
    """
    return f"""
.visible .entry {name}(.param .u64 {name}_out, .param .u64 {name}_in) {directives}
{{
{REGISTERS}
 mov.u32 %r30, %ctaid.x;
 mov.u32 %r31, %ntid.x;
 mov.u32 %i, %tid.x;
 mad.lo.s32 %i, %r30, %r31, %i;
 ld.param.u64 %out, [{name}_out];
 ld.param.u64 %in, [{name}_in];
 mad.wide.u32 %out, %i, 4, %out;
 mad.wide.u32 %in, %i, 4, %in;
{body}
 ret;
}}
"""


def module(text: str, arch: str = "sm_90") -> str:
    return HEADER.format(arch=arch) + text


def run(
    text: str,
    folder: Path,
    data: Sequence[int] | np.ndarray = (0,),
    grid: int = 1,
    block: int = 32,
    arch: str = "sm_90",
    dynamic_shared_nbytes: int = 0,
) -> np.ndarray:
    """Let ptxas check a module, execute its entry `k`, return the words that it wrote; uint32, one for each thread.

    data: 32-bit words that %in points to; the output holds 0xDEAD where nothing was written.
    """
    check_with_ptxas(module(text, arch), arch, folder)
    machine = PtxMachine(module(text, arch))
    out = machine.memory.copy_in(np.full(grid * block, 0xDEAD, np.uint32))
    words = machine.memory.copy_in(np.asarray(data).astype(np.uint32))
    machine.launch("k", grid, block, (out, words), dynamic_shared_nbytes)
    return machine.memory.copy_out(out, grid * block, np.uint32)
