"""From legal LLVM to PTX text. Before: legalize. After: assemble.

llvmlite has no switch for floating-point contraction, so the instructions say it themselves: LLVM's assembly is edited
once, after all optimisation. Source: LLVM Language Reference, "Fast-Math Flags".
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from numba_gpucore.compile.job import Job
from numba_ptxplus.codegen.architectures import target_machine
from numba_ptxplus.codegen.legalize import machine_spec
from numba_ptxplus.codegen.selection import check_selection

_ARITHMETIC = re.compile(r"^(  %\S+ = f(?:add|sub|mul|neg|div)) ", re.MULTILINE)
_DIVISION = re.compile(r"^(  %\S+ = fdiv) ", re.MULTILINE)
_SQUARE_ROOT = re.compile(r"^(  %\S+ = (?:tail )?call) (?=[^@]*@llvm\.sqrt\.)", re.MULTILINE)


def emit_ptx(module: llvm.ModuleRef, job: Job) -> str:
    check_selection(module, job)
    final = llvm.parse_assembly(permit_fast_forms(str(module), job.request.options.fastmath))
    return target_machine(machine_spec(job)).emit_assembly(final)


def permit_fast_forms(text: str, fastmath: bool) -> str:
    """Let multiply-add pairs become `fma`, as CUDA does by default; under fastmath also let division and square root be
    approximate, as nvcc's -use_fast_math does."""
    text = _ARITHMETIC.sub(r"\1 contract ", text)
    if fastmath:
        text = _DIVISION.sub(r"\1 afn arcp ", text)
        text = _SQUARE_ROOT.sub(r"\1 afn ", text)
    return text
