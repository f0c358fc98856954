"""From legal LLVM to PTX text. Before: legalize. After: assemble."""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_gpucore.compile.job import Job
from numba_ptxplus.codegen.linked_code import merge_ptx
from numba_ptxplus.codegen.machine import machine_spec, target_machine
from numba_ptxplus.codegen.merge_guards import merge_guards
from numba_ptxplus.codegen.rewrites import (
    keep_barrier_loops_rolled,
    merge_address_sums,
    merge_compile_units,
    permit_fast_forms,
    scope_atomics,
    strip_call_numbers,
    strip_linkage_tags,
)
from numba_ptxplus.codegen.selection import check_selection


def emit_ptx(module: llvm.ModuleRef, job: Job) -> str:
    check_selection(module, job)
    options = job.request.options
    text = scope_atomics(permit_fast_forms(str(module), options.fastmath))
    if options.debug or options.lineinfo:
        text = strip_linkage_tags(merge_compile_units(text))
    if options.opt:
        text = merge_guards(merge_address_sums(text))
    ptx = strip_call_numbers(target_machine(machine_spec(job)).emit_assembly(llvm.parse_assembly(text)))
    return merge_ptx(keep_barrier_loops_rolled(ptx) if options.opt else ptx, job.linked_code)
