"""From a request to an Artifact, step by step. Before: launch.miss. After: the cache, Device.load.

Each step takes what the step before it made; `StageDump` writes the texts for whoever wants to look.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import llvmlite.binding as llvm

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import Artifact, CompileRequest
from numba_gpucore.base.backend import Codegen
from numba_gpucore.base.errors import ArgumentError, Fault, ToolchainError, UnsupportedKernelError
from numba_gpucore.base.overload_store import OverloadStore
from numba_gpucore.base.params import ParamSlot, lay_out_params
from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.call_chains import sites_with_traces, user_place
from numba_gpucore.compile.dispatcher import descriptor_for
from numba_gpucore.compile.double_literals import warn_about_double_literals
from numba_gpucore.compile.dump import StageDump
from numba_gpucore.compile.foreign import refuse_nvidia_code
from numba_gpucore.compile.intrinsics import parse_libdevice_symbol, shared_nbytes
from numba_gpucore.compile.job import Job
from numba_gpucore.compile.kept_input import keeping_input
from numba_gpucore.compile.kernel_entry import build_entry
from numba_gpucore.compile.linking import link_kernel
from numba_gpucore.compile.numba_api import errors, global_compiler_lock, types
from numba_gpucore.compile.numba_types import from_numba, read_signature
from numba_gpucore.compile.run_passes import lower_function
from numba_gpucore.compile.sources import check_sources
from numba_gpucore.compile.target_rules import check_target_rules
from numba_gpucore.compile.validate import validate_module


@dataclass(frozen=True)
class Lowered:
    """A kernel as linked device IR."""

    module: Any
    job: Job
    result: Any


@global_compiler_lock
def compile_kernel(
    request: CompileRequest, dump_folder: str | None = None, overload_store: OverloadStore | None = None
) -> Artifact:
    """Compile one kernel. Raises Numba's typing errors, UnsupportedKernelError, ToolchainError.

    dump_folder: gets the text of every stage. overload_store: where lowered implementations of Numba's functions are.
    """
    descriptor_for(request.target.name).overload_store = overload_store
    dump = StageDump(request, dump_folder)
    loaded_before = frozenset(sys.modules)
    lowered = lower_kernel(request)
    warn_about_double_literals(lowered.result, request)
    codegen, job = load_codegen(request), lowered.job
    dump.write("1-types.txt", lowered.result.type_annotation)
    dump.write("2-device.ll", lowered.module)
    device_ir = lowered.module.as_bitcode()
    with keeping_input(request.py_func.__name__, lambda: str(llvm.parse_bitcode(device_ir))):
        program = codegen.legalize(lowered.module, job)
        dump.write("3-legalized.ll", program)
        text = emit_text(codegen, program, lowered)
        dump.write("4-emitted.txt", text)
        code = codegen.assemble(text, job)
        dump.write("5-code.bin", code)
    return Artifact(
        kernel_name=request.py_func.__qualname__,
        entry=job.entry,
        backend=request.backend,
        arch=request.arch,
        launch_abi=request.launch_abi,
        arg_types=request.arg_types,
        code=code,
        shared_nbytes=shared_nbytes(job.shared_arrays),
        sites=job.sites,
        print_lines=job.print_lines,
        backend_facts=codegen.facts(program, job),
        sources=check_sources(lowered.result.library.all_overload_modules(), loaded_before),
        held=lowered.result.library.all_captured(),
    )


def lower_kernel_into(overload_store: OverloadStore, request: CompileRequest) -> None:
    """Lower a kernel for what that puts into a store. Raises as `lower_kernel`."""
    descriptor_for(request.target.name).overload_store = overload_store
    lower_kernel(request)


@global_compiler_lock
def lower_kernel(request: CompileRequest) -> Lowered:
    """Type, lower, link and validate: everything that does not depend on the back-end.

    Raises UnsupportedKernelError, a TypeError, if the kernel returns a value or cannot run on a device.
    """
    result = lower_function(request)
    check_target_rules(result, request)
    _require_no_result(result, request)
    entry = kernel_symbol(request.py_func.__name__)
    slots = lay_out_params(request.arg_types)
    return link_lowered(result, request, entry, slots, build_entry(result, request, slots, entry))


def link_lowered(
    result: Any, request: CompileRequest, entry: str, slots: tuple[ParamSlot, ...], entry_module: Any
) -> Lowered:
    """Link what was lowered behind the function that `entry_module` defines, and check it whole."""
    library = result.library
    counterparts = []
    if not load_codegen(request).links_nvidia_code:
        refuse_nvidia_code(library, request)
        if any(parse_libdevice_symbol(symbol) for symbol in library.all_symbols()):
            # 3 ms, and few kernels use libdevice
            from numba_gpucore.compile.libdevice_counterparts import libdevice_counterparts  # noqa: PLC0415

            counterparts = libdevice_counterparts(library, request)
    texts = [str(entry_module), *counterparts, *library.module_texts()]
    sites = sites_with_traces(library, result.fndesc.llvm_func_name)
    with keeping_input(request.py_func.__name__, lambda: "\n".join(texts)):
        module, job = link_kernel(request, entry, slots, texts, sites, library.all_print_lines())
    job = replace(
        job,
        linked_code=tuple(dict.fromkeys((*request.options.link, *library.all_linked_code()))),
        find_place=partial(user_place, library=library, request=request),
    )
    validate_module(module, job, library)
    if library.all_promises():
        from numba_gpucore.compile.promises import check_promises  # noqa: PLC0415  0.3 ms, with a walk over all functions

        check_promises(module, job, library)
    return Lowered(module, job, result)


def emit_text(codegen: Codegen, program: Any, lowered: Lowered) -> str:
    """What the back-end emits for the program that it made of a kernel. Raises UnsupportedKernelError, whose faults
    name their lines.

    Only code with line information knows them, so a kernel that is refused without it is compiled once more with it.
    """
    request = lowered.job.request
    try:
        return codegen.emit(program, lowered.job)
    except UnsupportedKernelError as error:
        if request.options.wants_lines:
            raise
        refusal = error
    with warnings.catch_warnings():
        # where there is no source to read, its lines are known all the same
        warnings.simplefilter("ignore", errors.NumbaDebugInfoWarning)
        again = lower_kernel(replace(request, options=replace(request.options, lineinfo=True)))
    codegen.emit(codegen.legalize(again.module, again.job), again.job)
    raise refusal


def _require_no_result(result: Any, request: CompileRequest) -> None:
    type_ = result.signature.return_type
    if type_ in (types.none, types.void):
        return
    from numba_gpucore.compile.explain import simplify_types  # noqa: PLC0415 - 3 ms, and for errors only

    code = request.py_func.__code__
    what = f"a kernel must have void return type, this one returns {simplify_types(str(type_))}"
    if isinstance(type_, types.Generator):
        what = "a kernel must have void return type, this one is a generator"
    lines = result.library.returning_lines or [code.co_firstlineno]
    faults = [Fault(code.co_filename, line, what, "store results in an array argument") for line in lines]
    raise UnsupportedKernelError(request.py_func.__name__, faults)


def kernel_symbol(name: str) -> str:
    """A symbol for a Python function name that every assembler takes."""
    return f"kernel_{plain_symbol(name)}"


def plain_symbol(name: str) -> str:
    """A name without the characters of lambdas and other alphabets, at which LLVM would end the process."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)


def load_codegen(request: CompileRequest) -> Codegen:
    module_name, _, attribute = request.codegen.partition(":")
    return getattr(import_module(module_name), attribute)


def parse_signature(signature: Any) -> tuple[ArgType, ...]:
    """The argument types of an eager signature: a string, a Numba signature, or a tuple of Numba types.

    Raises TypeError if it names a return type other than void.
    """
    args, return_type = read_signature(signature)
    if return_type not in (None, types.none, types.void):
        raise TypeError(f"a kernel must have void return type, not {return_type}, in signature {signature!r}")
    return tuple(map(from_numba, args))


@global_compiler_lock
def variable_types(request: CompileRequest) -> dict[str, ArgType]:
    """The types of a kernel's variables, by name, as far as arguments can have them."""
    found = {}
    for name, type_ in lower_function(request).type_annotation.typemap.items():
        try:
            found[name] = from_numba(type_)
        except ArgumentError:
            continue
    return found


def inspect_stage(request: CompileRequest, stage: str) -> str:
    """Compile again and return one stage's text: "types", "llvm" (device IR), "asm" (what the back-end emits) or
    "machine" (that, assembled and disassembled). Raises ToolchainError for a stage that the back-end lacks."""
    if stage == "types":
        with global_compiler_lock:
            return str(lower_function(request).type_annotation)
    lowered = lower_kernel(request)
    if stage == "llvm":
        return str(lowered.module)
    codegen = load_codegen(request)
    text = emit_text(codegen, codegen.legalize(lowered.module, lowered.job), lowered)
    return _disassemble(codegen, text, lowered.job) if stage == "machine" else text


def _disassemble(codegen: Codegen, text: str, job: Job) -> str:
    disassemble = getattr(codegen, "disassemble", None)
    if disassemble is None:
        raise ToolchainError(
            f"back-end '{job.request.backend}' shows no machine code; inspect_asm() gives what it emits"
        )
    return disassemble(codegen.assemble(text, job))


def numba_type_of(function: Any) -> types.Type:
    """The Numba type of one of our Kernel or DeviceFunction objects, for programs that mention it."""
    return descriptor_for(function.target.name).as_device_function(function)._numba_type_
