"""The program of a kernel whose threads wait for each other: each is a coroutine. Before: codegen chooses the shape.
After: emit.
"""

from __future__ import annotations

import re
from dataclasses import replace

import llvmlite.binding as llvm

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.params import POINTER_NBYTES, round_up
from numba_gpucore.cpu.definitions import FRAME_ALIGN_NBYTES, SIZE_SYMBOL
from numba_gpucore.cpu.frame_size import frame_size, limit_alignment
from numba_gpucore.cpu.launch_record import LINE_NBYTES, THREAD_NBYTES
from numba_gpucore.cpu.program import ProgramBuilder
from numba_gpucore.cpu.resume_together import resume_together
from numba_gpucore.cpu.shape import ProgramShape

#: What is left of a coroutine whose frame did not fit behind its thread's record.
_ALLOCATED_FRAME = late_pattern(r"call [^@\n]*@gpu\.allocate_frame\(i32 (?:noundef )?(\d+)\)")
_THREAD_SIZE = late_pattern(r"^(@gpu\.thread_nbytes = [^\n]*)global i64 \d+", re.MULTILINE)
#: A quarter of the period of a first-level cache of 32 KiB with 8 ways: threads that far apart share its sets.
CACHE_SET_PERIOD_NBYTES = 1024

#: What ir/coroutine_blocks.ll and its kin call and read.
_VISIBLE = frozenset({"gpu.run_thread", "gpu.uses_grid_barrier", SIZE_SYMBOL})


def build_coroutine(builder: ProgramBuilder, shape: ProgramShape) -> llvm.ModuleRef:
    """The optimised program. It is built with room to spare for frames first, and again where LLVM asks for more or
    does not show what it uses."""
    builder = replace(builder, kernel=limit_alignment(builder.kernel, FRAME_ALIGN_NBYTES))
    text = str(_build(builder, shape))
    frame_nbytes = _allocated_frame(text)
    if frame_nbytes:
        text = str(_build(builder, shape.with_frame(round_up(frame_nbytes, FRAME_ALIGN_NBYTES))))
    else:
        frame_nbytes = frame_size(text) or _ask_frame_size(builder, shape)
    nbytes = _thread_nbytes(frame_nbytes)
    text = _THREAD_SIZE.sub(rf"\g<1>constant i64 {nbytes}", text)
    text, turns = (text, []) if shape.uses_warps else resume_together(text)
    program = builder.inline_all([text], _VISIBLE)
    for name in turns:
        builder.simplify(program, name)
    return builder.finish(program, shape)


def _build(builder: ProgramBuilder, shape: ProgramShape) -> llvm.ModuleRef:
    """The threads' code alone."""
    program = builder.link(shape, _VISIBLE)
    builder.optimize(program)
    return program


def _thread_nbytes(frame_nbytes: int) -> int:
    """How far apart threads lie."""
    nbytes = THREAD_NBYTES + round_up(max(frame_nbytes, 1), FRAME_ALIGN_NBYTES)
    return nbytes + LINE_NBYTES if nbytes % CACHE_SET_PERIOD_NBYTES == 0 else nbytes


def _ask_frame_size(builder: ProgramBuilder, shape: ProgramShape) -> int:
    """Build with too little room: LLVM then asks for as much as it needs."""
    return _allocated_frame(str(_build(builder, shape.with_frame(POINTER_NBYTES))))


def _allocated_frame(text: str) -> int:
    return max((int(nbytes) for nbytes in _ALLOCATED_FRAME.findall(text)), default=0)
