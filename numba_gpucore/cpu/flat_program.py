"""The program of a kernel without barriers and warp operations. Before: codegen chooses the shape. After: emit.

First the code of one thread alone is simplified. In its text passes of our own find what the loops around it may do;
then those loops are optimised. What runs them, row by row and block by block, is the same for every kernel and is
linked last, as is the thread's replay.
"""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_gpucore.cpu.bound_rows import bound_rows
from numba_gpucore.cpu.merge_blocks import merge_blocks
from numba_gpucore.cpu.program import ProgramBuilder
from numba_gpucore.cpu.settle_throws import settle_throws
from numba_gpucore.cpu.shape import ProgramShape, may_choose_rows
from numba_gpucore.cpu.stride_rows import stride_rows
from numba_gpucore.cpu.thread_text import SYMBOL, name_plainly

#: What ir/blocks.ll calls and reads.
_ROW_SYMBOLS = frozenset({"gpu.find_bounds", "gpu.run_threads", "gpu.run_plain_threads", "gpu.row_threads"})
#: What ir/replay.ll calls of the thread's module.
_REPLAY_NEEDS = frozenset({"gpu.load_params", "gpu.block_extent"})
#: Of values. Threads with loops do not run in vectors, and LLVM would make up to ten versions of such loops, for each
#: condition that does not change in them and for vectors: larger ones are compiled with less effort. (A ufunc of
#: four-dimensional arrays: 3 s instead of 12.)
MAX_DEFINITIONS_WITH_LOOPS = 150


def build_flat(builder: ProgramBuilder, shape: ProgramShape) -> llvm.ModuleRef:
    """The optimised program."""
    text = _simplify_thread(builder, shape)
    if may_choose_rows(builder.job, shape):
        from numba_gpucore.cpu.choose_row_axis import choose_row_axis  # noqa: PLC0415  0.3 ms, not for kernels of one axis

        axis = choose_row_axis(text)
        if axis != shape.row_axis:
            shape = shape.with_rows_along(axis)
            text = _simplify_thread(builder, shape)
    rows = settle_throws(bound_rows(stride_rows(merge_blocks(text, shape.keeps_blocks))), shape.reports_throws)
    program = builder.inline_all([rows.text], visible=_ROW_SYMBOLS)
    is_large_with_loops = rows.has_loops and rows.n_definitions > MAX_DEFINITIONS_WITH_LOOPS
    builder.optimize(program, copies_loops=not is_large_with_loops)
    program = builder.finish(program, shape)
    if rows.needs_replay:
        from numba_gpucore.cpu.replay import build_replay  # noqa: PLC0415  0.4 ms, and few kernels need it

        replay = build_replay(builder, text)
        if replay is not None:
            program.link_in(replay)
    return program


def _simplify_thread(builder: ProgramBuilder, shape: ProgramShape) -> str:
    """A module with the code of one thread, all values named."""
    thread = builder.link(shape, visible=_ROW_SYMBOLS | _REPLAY_NEEDS | {SYMBOL})
    builder.simplify(thread, SYMBOL)
    builder.name_values(thread)
    return name_plainly(str(thread))
