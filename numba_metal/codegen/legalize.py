"""Device IR made ready for printing: inlined, optimised, in words that MSL has. Before: job. After: `ir_reader`.

Neutral intrinsics stay calls: the printer has a word for each. LLVM's own O2 pipeline runs without vectorising and
unrolling, which Apple's compiler does better for its hardware. It runs with the NVPTX target machine because a pass
builder needs one and that one knows divergence, shared memory and costs of a GPU; nothing is generated for it.
"""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_gpucore.compile.job import Job
from numba_metal.codegen.name_hints import name_values_after_variables

_TRIPLE = "nvptx64-nvidia-cuda"
_CPU = "sm_75"


def legalize_module(module: llvm.ModuleRef, job: Job) -> None:
    """Change `module` in place."""
    name_values_after_variables(module)
    module.triple = _TRIPLE
    for function in module.functions:
        if function.is_declaration or function.name == job.entry:
            continue
        function.linkage = "internal"
        if b"noinline" in _attributes(function):
            function.remove_function_attribute("noinline")
        function.add_function_attribute("alwaysinline")
    _optimise(module, job)


def _attributes(function: llvm.ValueRef) -> set[bytes]:
    return set(b" ".join(function.attributes).split())


def _optimise(module: llvm.ModuleRef, job: Job) -> None:
    machine = _target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=max(1, job.request.options.opt))
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    final = llvm.create_new_module_pass_manager()
    # The printer has no switch: it would take `break` away from the loops around it.
    final.add_lower_switch_pass()
    final.run(module, builder)


def _target_machine() -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(_TRIPLE).create_target_machine(cpu=_CPU, opt=2)


