"""From legal LLVM to PTX text. Before: legalize. After: assemble."""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_gpucore.compile.job import Job
from numba_ptxplus.codegen.aligned_version import (
    add_aligned_version,
    array_slots,
    count_vectors,
    has_neighbours,
    permit_inlining,
)
from numba_ptxplus.codegen.cache_operators import write_cache_operators
from numba_ptxplus.codegen.entry import drop_mailbox_param
from numba_ptxplus.codegen.legalize import module_has_mailbox, optimise
from numba_ptxplus.codegen.linked_code import merge_ptx
from numba_ptxplus.codegen.loop_counts import drop_loop_counts
from numba_ptxplus.codegen.machine import machine_spec, target_machine
from numba_ptxplus.codegen.mailbox import takes_mailbox
from numba_ptxplus.codegen.merge_guards import merge_guards
from numba_ptxplus.codegen.outline_throws import outline_throws
from numba_ptxplus.codegen.rewrites import (
    keep_barrier_loops_rolled,
    merge_address_sums,
    merge_compile_units,
    permit_fast_forms,
    scope_atomics,
    strip_call_numbers,
    strip_flushing_of_bfloat16,
    strip_linkage_tags,
)
from numba_ptxplus.codegen.selection import check_selection


def emit_ptx(module: llvm.ModuleRef, job: Job) -> str:
    text = str(module)
    check_selection(text, job)
    options = job.request.options
    text = scope_atomics(permit_fast_forms(text, options.fastmath))
    if takes_mailbox(job) and not module_has_mailbox(module):
        text = drop_mailbox_param(text, job)
    has_lines = options.wants_lines
    if has_lines:
        text = strip_linkage_tags(merge_compile_units(text))
    ptx = _select(text, job)
    # Not with lines: a debugger would see each one twice.
    if options.opt and not options.device and not has_lines and array_slots(job) and has_neighbours(ptx):
        both = _select_versions(text, job)
        # The version for any address has as many as before.
        ptx = both if count_vectors(both) > 2 * count_vectors(ptx) else ptx
    return merge_ptx(ptx, job.linked_code, job.request.arch)


def _select(text: str, job: Job) -> str:
    """PTX of LLVM assembly."""
    options = job.request.options
    if options.opt:
        text = outline_throws(merge_guards(drop_loop_counts(merge_address_sums(text))))
    text = write_cache_operators(text)
    ptx = target_machine(machine_spec(job)).emit_assembly(llvm.parse_assembly(text))
    ptx = strip_call_numbers(strip_flushing_of_bfloat16(ptx))
    return keep_barrier_loops_rolled(ptx) if options.opt else ptx


def _select_versions(text: str, job: Job) -> str:
    """PTX of a kernel with a version for aligned arrays: the optimiser finds out what that means for each access."""
    module = llvm.parse_assembly(add_aligned_version(text, job))
    optimise(module, job)
    module = llvm.parse_assembly(permit_inlining(str(module)))
    manager = llvm.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    manager.add_instruction_namer_pass()
    options = llvm.create_pipeline_tuning_options()
    manager.run(module, llvm.create_pass_builder(target_machine(machine_spec(job)), options))
    return _select(str(module), job)
