"""Turn device IR into LLVM that NVPTX selects: link what it lacks, inline, optimise. Before: job. After: emit.

A device function (`options.device`) keeps its own entry; a kernel's is wrapped by what the driver launches.

The order matters: definitions of neutral intrinsics call libdevice, so libdevice is linked after them; everything is
internal before the optimiser runs, so that what was inlined disappears.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.intrinsics import SharedArray, site_symbol
from numba_gpucore.compile.job import Job
from numba_ptxplus.codegen.definitions import DYNAMIC_SHARED, define_intrinsics
from numba_ptxplus.codegen.entry import check_params, define_exported_function, define_kernel, inner_name
from numba_ptxplus.codegen.faults import libdevice_missing
from numba_ptxplus.codegen.libdevice import ReflectAnswers, open_libdevice
from numba_ptxplus.codegen.linked_code import define_foreign_functions
from numba_ptxplus.codegen.machine import TRIPLE, data_layout, machine_spec, target_machine
from numba_ptxplus.codegen.mailbox import takes_mailbox
from numba_ptxplus.codegen.symbols import strip_abi_tags
from numba_ptxplus.driver.abi import PROGRAM_VARIABLE
from numba_ptxplus.toolchain import find_libdevice

_LIBDEVICE_CALL = late_pattern(r"call \w+ @(__nv_\w+)\(")


def legalize_module(module: llvm.ModuleRef, job: Job) -> None:
    check_params(job)
    module.triple = TRIPLE
    module.data_layout = data_layout()
    if not job.has_recursion:
        _inline_all(module)
    parts = [
        define_intrinsics(job.intrinsics, job.request.options, takes_mailbox(job)),
        *map(_define_shared, job.shared_arrays),
        *_define_sites(job),
        *define_foreign_functions(module, job),
        _wrap_entry(module, job),
    ]
    definitions = "\n".join(parts)
    _link(module, definitions)
    _link_libdevice(module, frozenset(_LIBDEVICE_CALL.findall(definitions)), job)
    _make_internal(module, job)
    optimise(module, job)
    _drop_unused_mailbox(module, job)


def _inline_all(module: llvm.ModuleRef) -> None:
    """Mark the functions of device IR. What is linked to them says itself whether it is inlined."""
    for function in module.functions:
        if not function.is_declaration:
            function.add_function_attribute("alwaysinline")


def _link(module: llvm.ModuleRef, text: str) -> None:
    """Link LLVM assembly into `module`."""
    addition = llvm.parse_assembly(f'target triple = "{TRIPLE}"\ntarget datalayout = "{data_layout()}"\n{text}')
    module.link_in(addition)


def _define_shared(array: SharedArray) -> str:
    # Tiles are read in vectors where their address allows it: PTX takes 16 bytes at a time.
    align_nbytes = max(array.align_nbytes, 16)
    variable = array.symbol.replace("gpu.shared.", "shared.", 1)
    return (
        f'@"{variable}" = internal addrspace(3) global [{array.nbytes} x i8] undef, align {align_nbytes}\n'
        f'define ptr @"{array.symbol}"(ptr %context) alwaysinline nounwind {{\n'
        f' ret ptr addrspacecast (ptr addrspace(3) @"{variable}" to ptr)\n}}'
    )


def _define_sites(job: Job) -> list[str]:
    return [
        f"define i32 @{site_symbol(site.content_id)}() alwaysinline nounwind {{\n ret i32 {index}\n}}"
        for index, site in enumerate(job.sites)
    ]


def _link_libdevice(module: llvm.ModuleRef, names: frozenset[str], job: Job) -> None:
    """Link the functions of these names."""
    if not names:
        return
    path = find_libdevice()
    if path is None:
        raise libdevice_missing(job, _needs_of_libdevice(job))
    fastmath = job.request.options.fastmath
    arch = int("".join(filter(str.isdigit, job.request.arch))) * 10
    answers = ReflectAnswers(flushes_to_zero=fastmath, has_exact_sqrt=not fastmath, arch=arch)
    library = open_libdevice(path)
    unknown = names - library.names
    if unknown:
        raise ToolchainError(f"{path} lacks {', '.join(sorted(unknown))}; install a newer nvidia-nvvm")
    _link(module, library.extract(names, answers))


def _needs_of_libdevice(job: Job) -> dict[str, str]:
    """Functions of libdevice, each with an intrinsic whose definition calls it."""
    texts = {name: define_intrinsics([name], job.request.options) for name in sorted(job.intrinsics)}
    return {function: name for name, text in texts.items() for function in _LIBDEVICE_CALL.findall(text)}


def _wrap_entry(module: llvm.ModuleRef, job: Job) -> str:
    """Give the entry's name to the kernel or exported function, whose definition is returned."""
    body = module.get_function(job.entry)
    result, _, params = str(body.global_value_type).removesuffix(")").partition(" (")
    body.name = inner_name(job.entry)
    if job.request.options.device:
        return define_exported_function(job, result, [str(argument.type) for argument in body.arguments])
    return define_kernel(job, params.split(", ")[1:])  # the context, then addresses and numbers


def _make_internal(module: llvm.ModuleRef, job: Job) -> None:
    """Only the kernel and the driver's variable stay visible."""
    for function in module.functions:
        if function.is_declaration or function.name == job.entry:
            continue
        function.linkage = "internal"
        if function.name.startswith("_Z"):
            function.name = strip_abi_tags(function.name)
    for variable in module.global_variables:
        if not variable.is_declaration and variable.name not in (PROGRAM_VARIABLE, DYNAMIC_SHARED):
            variable.linkage = "internal"


def _drop_unused_mailbox(module: llvm.ModuleRef, job: Job) -> None:
    """Remove the driver's variable where LLVM has proved that no check can fail."""
    if not module_has_mailbox(module) or len(re.findall(rf"@{PROGRAM_VARIABLE}\b", str(module))) > 1:
        return
    module.get_global_variable(PROGRAM_VARIABLE).linkage = "internal"
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(
        module,
        llvm.create_pass_builder(target_machine(machine_spec(job)), llvm.create_pipeline_tuning_options(speed_level=0)),
    )


def module_has_mailbox(module: llvm.ModuleRef) -> bool:
    """Whether threads of the program can throw or print."""
    return any(variable.name == PROGRAM_VARIABLE for variable in module.global_variables)


def optimise(module: llvm.ModuleRef, job: Job) -> None:
    """LLVM's pipeline without what suits only CPUs: a GPU's vector lanes are its threads."""
    options = llvm.create_pipeline_tuning_options(speed_level=job.request.options.opt)
    options.slp_vectorization = False
    options.loop_vectorization = False
    builder = llvm.create_pass_builder(target_machine(machine_spec(job)), options)
    manager = builder.getModulePassManager()
    if job.request.options.opt:
        # Values computed near their use keep fewer registers: a tiled matrix product takes 30 instead of 32.
        manager.add_sinking_pass()
    # rewrites.py works on text, where only named values can be moved
    manager.add_instruction_namer_pass()
    manager.run(module, builder)
