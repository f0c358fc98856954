"""Whether every `static_assert` holds. Before: linking. After: Codegen.legalize, on a module without them.

A copy of the module is optimised; a promise whose failure can still be reached there was not kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import llvmlite.binding as llvm

from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.code_library import DATA_LAYOUT, DeviceLibrary
from numba_gpucore.compile.intrinsics import parse_assert_symbol
from numba_gpucore.compile.job import Job


def check_promises(module: llvm.ModuleRef, job: Job, library: DeviceLibrary) -> None:
    """Raise UnsupportedKernelError that names every `static_assert` that does not hold; else remove them."""
    symbols = [f.name for f in module.functions if f.is_declaration and parse_assert_symbol(f.name) is not None]
    if not symbols:
        return
    faults = list(_broken(module, job, library))
    if faults:
        raise UnsupportedKernelError(job.request.py_func.__name__, faults)
    definitions = "\n".join(f"define void @{symbol}() alwaysinline {{\n  ret void\n}}" for symbol in symbols)
    module.link_in(llvm.parse_assembly(f'target datalayout = "{DATA_LAYOUT}"\n{definitions}'))
    for symbol in symbols:
        module.get_function(symbol).linkage = "internal"


def _broken(module: llvm.ModuleRef, job: Job, library: DeviceLibrary) -> Iterator[Fault]:
    promises = library.all_promises()
    for symbol in _reachable_symbols(module, job):
        content_id = parse_assert_symbol(symbol)
        if content_id is not None:
            frame, text = promises[content_id]
            yield Fault(frame.filename, frame.line, f"static_assert failed: {text}" if text else "static_assert failed")


def _reachable_symbols(module: llvm.ModuleRef, job: Job) -> list[str]:
    """Functions that the optimised kernel still declares."""
    copy = llvm.parse_bitcode(module.as_bitcode())
    for function in copy.functions:
        if not function.is_declaration and function.name != job.entry and not job.has_recursion:
            function.add_function_attribute("alwaysinline")
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    manager = builder.getModulePassManager()
    manager.add_strip_dead_prototype_pass()
    manager.run(copy, builder)
    return [function.name for function in copy.functions if function.is_declaration]
