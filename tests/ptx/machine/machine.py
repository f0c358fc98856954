"""The PTX machine: load text, put arrays into its memory, launch kernels. Before: program.py, wave.py. After: tests.

>>> machine = PtxMachine(ptx)
>>> x = machine.memory.copy_in(np.arange(256, dtype=np.float32))
>>> machine.launch("scale", grid=1, block=256, params=(x, 2.0))
>>> machine.memory.copy_out(x, 256, np.float32)
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from .errors import PtxError
from .layout import lay_out_in_order
from .memory import GlobalMemory
from .program import FunctionCode, Program
from .syntax import Variable
from .wave import Dim3, Geometry, LaunchParts, Wave

#: Lanes that execute together; larger grids run in several waves, one after another.
MAX_WAVE_LANES = 1 << 15
DEFAULT_INSTRUCTION_BUDGET = 3_000_000
MAX_THREADS_PER_BLOCK = 1024
GRID_WORKSPACE_NBYTES = 16
Param = int | float | bool | bytes | np.generic


class PtxMachine:
    """One loaded module and the memory that it works on.

    text: PTX. memory: to share with other machines; a fresh one by default.
    Raises PtxSyntaxError or UnsupportedInstruction, which name the line.
    """

    def __init__(self, text: str, memory: GlobalMemory | None = None):
        self.memory = GlobalMemory() if memory is None else memory
        self.text = text
        self.program = Program(text, self.memory)

    @property
    def entries(self) -> list[str]:
        return [name for name, code in self.program.functions.items() if code.function.is_entry]

    def address_of(self, variable: str) -> int:
        """Address of a module's .global or .const variable."""
        return self.program.statics.places[variable].address

    def launch(
        self,
        entry: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        params: bytes | Sequence[Param] = (),
        dynamic_shared_nbytes: int = 0,
        is_cooperative: bool = False,
        instruction_budget: int = DEFAULT_INSTRUCTION_BUDGET,
    ) -> None:
        """Execute a kernel to its end.

        grid, block: extents (x, y, z), missing ones are 1. params: the whole parameter block, or one value for each
        parameter. is_cooperative: all blocks execute at the same time and get a workspace for grid barriers.
        instruction_budget: instructions, counted once for a group of lanes, that a wave may execute.
        Blocks of a wave run at the same time; where threads race, the one with the highest number wins.
        Raises PtxFault, which names instruction, block and thread; PtxError for a launch that cannot be.
        """
        code = self.program.entry(entry)
        grid, block = _dim3(grid), _dim3(block)
        _check_shape(code, grid, block)
        data = params if isinstance(params, bytes) else pack_params(code.function.params, params)
        _check_params(code, data)
        per_wave = max(MAX_WAVE_LANES // Geometry(grid, block, 0, 1).padded_nthreads, 1)
        nblocks = int(np.prod(grid))
        if is_cooperative and nblocks > per_wave:
            raise PtxError(f"a cooperative launch of {nblocks} blocks; {per_wave} of this size fit at once")
        workspace = self.memory.allocate(GRID_WORKSPACE_NBYTES) if is_cooperative else 0
        parts = LaunchParts(
            self.memory,
            data,
            self.program.statics.with_dynamic(dynamic_shared_nbytes),
            dynamic_shared_nbytes,
            workspace,
            instruction_budget,
        )
        for first in range(0, nblocks, per_wave):
            geometry = Geometry(grid, block, first, min(per_wave, nblocks - first))
            Wave(self.program, code, geometry, parts).run()
        if workspace:
            self.memory.release(workspace)
        if self.program.uses_nc:
            self.memory.forget_launch()


def _dim3(extents: int | Sequence[int]) -> Dim3:
    x, y, z = (*((extents,) if isinstance(extents, int) else extents), 1, 1)[:3]
    return int(x), int(y), int(z)


def _check_shape(code: FunctionCode, grid: Dim3, block: Dim3) -> None:
    nthreads = int(np.prod(block))
    if min(*grid, *block) < 1 or nthreads > MAX_THREADS_PER_BLOCK:
        raise PtxError(f"a grid of {grid} blocks of {block} threads cannot be launched")
    for name, is_exact in (("maxntid", False), ("reqntid", True)):
        limit = code.function.directives.get(name)
        if limit and (nthreads > np.prod(limit) or (is_exact and nthreads != np.prod(limit))):
            raise PtxError(f"block {block} has {nthreads} threads; .{name} of {code.function.name} is {limit}")


def pack_params(declared: Sequence[Variable], values: Sequence[Param]) -> bytes:
    """The parameter block of a kernel from one value for each .param: numbers, or bytes for arrays of bytes."""
    if len(declared) != len(values):
        raise PtxError(f"{len(values)} parameters given, {len(declared)} declared")
    block = bytearray()
    for (variable, start), value in zip(lay_out_in_order(declared), values, strict=True):
        block = block.ljust(start, b"\0") + _param_bytes(variable, value)
    return bytes(block)


def _param_bytes(variable: Variable, value: Param) -> bytes:
    nbytes = variable.nbytes
    if isinstance(value, np.generic):
        value = value.tobytes()
    if isinstance(value, bytes):
        if len(value) != nbytes:
            raise PtxError(f"{len(value)} bytes given for parameter {variable.name} of {nbytes} bytes")
        return value
    if isinstance(value, float):
        return struct.pack({2: "<e", 4: "<f", 8: "<d"}[nbytes], value)
    return (int(value) & ((1 << 8 * nbytes) - 1)).to_bytes(nbytes, "little")


def _check_params(code: FunctionCode, data: bytes) -> None:
    placed = lay_out_in_order(code.function.params)
    nbytes = placed[-1][1] + placed[-1][0].nbytes if placed else 0
    if len(data) != nbytes:
        raise PtxError(f"{len(data)} bytes of parameters given; {code.function.name} declares {nbytes}")
