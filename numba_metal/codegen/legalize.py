"""Device IR made ready for printing: inlined, optimised, in words that MSL has. Before: job. After: `ir_reader`.

LLVM's own O2 pipeline runs without vectorising and unrolling, which Apple's compiler does better for its hardware. It
runs with the NVPTX target machine because a pass builder needs one and that one knows divergence and the costs of a
GPU; nothing is generated for it.
"""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_gpucore.compile.job import Job
from numba_metal.codegen.definitions import define_intrinsics
from numba_metal.codegen.name_hints import name_values_after_variables

_TRIPLE = "nvptx64-nvidia-cuda"
_CPU = "sm_75"
#: Device IR's layout, with the integers that a GPU computes with: without `n` LLVM does not tidy induction variables.
_DATA_LAYOUT = (
    "e-p:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f16:16:16-f32:32:32-f64:64:64-n16:32:64"
)


def legalize_module(module: llvm.ModuleRef, job: Job) -> None:
    """Change `module` in place."""
    module.triple = _TRIPLE
    module.data_layout = _DATA_LAYOUT
    header = f'target triple = "{_TRIPLE}"\ntarget datalayout = "{_DATA_LAYOUT}"\n'
    module.link_in(llvm.parse_assembly(header + define_intrinsics(job)))
    options = llvm.create_pipeline_tuning_options(speed_level=max(1, job.request.options.opt))
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(_target_machine(), options)
    # Intrinsics first: a value that is named before its call is inlined loses the name.
    inline = llvm.create_new_module_pass_manager()
    inline.add_always_inliner_pass()
    inline.run(module, builder)
    name_values_after_variables(module)
    _inline_everything(module, job)
    builder.getModulePassManager().run(module, builder)
    final = llvm.create_new_module_pass_manager()
    # A switch in C++ would take `break` away from the loop around it.
    final.add_lower_switch_pass()
    final.run(module, builder)


def _inline_everything(module: llvm.ModuleRef, job: Job) -> None:
    for function in module.functions:
        if function.is_declaration or function.name == job.entry:
            continue
        function.linkage = "internal"
        if b"noinline" in b" ".join(function.attributes).split():
            function.remove_function_attribute("noinline")
        function.add_function_attribute("alwaysinline")


def _target_machine() -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(_TRIPLE).create_target_machine(cpu=_CPU, opt=2)
