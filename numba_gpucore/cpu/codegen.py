"""The last steps of compiling for a CPU: legalize, emit LLVM assembly, assemble an object. Before: compile.driver.
After: the Artifact's code, which `loader` brings to life.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass

import llvmlite.binding as llvm

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.compile.job import Job
from numba_gpucore.cpu.definitions import FRAME_ALIGN_NBYTES, KERNEL_SYMBOL, NATIVE_ENTRY, definition_texts, read_ir
from numba_gpucore.cpu.launch_record import THREAD_NBYTES, round_up
from numba_gpucore.cpu.machine import make_target_machine
from numba_gpucore.cpu.recursion import recursive_functions
from numba_gpucore.cpu.shape import ProgramShape, choose_shape

_ATOMIC = re.compile(r"\b(?:atomicrmw|cmpxchg)\b")
_HALF = re.compile(r"\bhalf\b")
#: What is left of a coroutine whose frame did not fit behind its thread's record.
_ALLOCATED_FRAME = re.compile(r"call [^@\n]*@gpu\.allocate_frame\(i32 (?:noundef )?(\d+)\)")


@dataclass(frozen=True)
class CpuCodegen:
    """Codegen of the back-end "cpu". Stateless: what `facts` tells is written into the module by `legalize`."""

    def legalize(self, module: llvm.ModuleRef, job: Job) -> None:
        """Make a native program of the device IR: definitions linked, all inlined, optimised.

        Raises UnsupportedKernelError for barriers inside recursive functions.
        """
        text = str(module)
        shape = choose_shape(job, bool(_ATOMIC.search(text)))
        bitcode = module.as_bitcode()
        program = _build(bitcode, job, shape)
        frame_nbytes = _largest_frame(str(program)) if shape.is_coroutine else 0
        if frame_nbytes:
            shape = shape.with_frame(round_up(frame_nbytes, FRAME_ALIGN_NBYTES))
            program = _build(bitcode, job, shape)
        _replace_content(module, program, job)

    def emit(self, module: llvm.ModuleRef, job: Job) -> str:
        """The program as LLVM assembly, target triple and data layout included."""
        return str(module)

    def assemble(self, text: str, job: Job) -> bytes:
        """A relocatable object of the host's format."""
        try:
            module = llvm.parse_assembly(text)
            module.verify()
        except RuntimeError as error:
            with tempfile.NamedTemporaryFile("w", suffix=".ll", delete=False) as kept:
                kept.write(text)
            raise ToolchainError(
                f"LLVM refused the program of '{job.entry}'; input kept in {kept.name}: {error}"
            ) from error
        return make_target_machine(job.request.arch, _level(job)).emit_object(module)

    def facts(self, module: llvm.ModuleRef, job: Job) -> tuple[tuple[str, int], ...]:
        """frame_nbytes: of a suspended thread, 0 for programs without coroutines. grid_barrier, warps: 1 if used."""
        shape = choose_shape(job, has_atomics=False)
        frame_nbytes = _constant(module, "gpu.thread_nbytes") - THREAD_NBYTES if shape.is_coroutine else 0
        return (
            ("frame_nbytes", frame_nbytes),
            ("grid_barrier", int(shape.uses_grid_barrier)),
            ("warps", int(shape.uses_warps)),
        )


def _level(job: Job) -> int:
    """LLVM's optimisation level. The default asks for the usual, which is LLVM's 3 in Numba's compiler for CPUs."""
    opt = job.request.options.opt
    return 3 if opt == 2 else opt


def _build(bitcode: bytes, job: Job, shape: ProgramShape) -> llvm.ModuleRef:
    machine = make_target_machine(job.request.arch, _level(job))
    program = llvm.parse_bitcode(bitcode)
    program.name = job.entry
    program.triple = machine.triple
    program.data_layout = str(machine.target_data)
    kernel = program.get_function(job.entry)
    params = tuple(str(argument.type) for argument in kernel.arguments)[1:]
    kernel.name = KERNEL_SYMBOL
    recursive = recursive_functions(str(program), KERNEL_SYMBOL, job) if job.has_recursion else frozenset()
    kernel.linkage = "external"
    for text in definition_texts(job, shape, params):
        program.link_in(_parse(text, machine))
    if _HALF.search(str(program)):
        program.link_in(_parse(read_ir("half"), machine))
    program.get_function(NATIVE_ENTRY).name = job.entry
    _internalize(program, job, recursive)
    program.verify()
    _optimize(program, machine, _level(job))
    return program


def _parse(text: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def _internalize(program: llvm.ModuleRef, job: Job, recursive: frozenset[str]) -> None:
    """Only the native entry and the constant that `facts` reads stay visible; device functions get inlined."""
    for function in program.functions:
        if function.is_declaration or function.name == job.entry or function.linkage == llvm.Linkage.weak_any:
            continue
        function.linkage = "internal"
        if function.name not in recursive and b"noinline" not in b" ".join(function.attributes):
            function.add_function_attribute("alwaysinline")
    for variable in program.global_variables:
        if not variable.is_declaration and variable.name != "gpu.thread_nbytes":
            variable.linkage = "internal"


def _optimize(program: llvm.ModuleRef, machine: llvm.TargetMachine, level: int) -> None:
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = level > 1
    builder = llvm.create_pass_builder(machine, tuning)
    inliner = llvm.create_new_module_pass_manager()
    inliner.add_global_dead_code_eliminate_pass()
    inliner.add_always_inliner_pass()
    inliner.add_global_dead_code_eliminate_pass()
    inliner.run(program, builder)
    builder.getModulePassManager().run(program, builder)


def _largest_frame(text: str) -> int:
    return max((int(nbytes) for nbytes in _ALLOCATED_FRAME.findall(text)), default=0)


def _constant(module: llvm.ModuleRef, name: str) -> int:
    match = re.search(r"\bi64 (\d+)", str(module.get_global_variable(name)))
    if match is None:
        raise ToolchainError(f"the program lacks the constant {name}")
    return int(match.group(1))


def _replace_content(module: llvm.ModuleRef, program: llvm.ModuleRef, job: Job) -> None:
    """Make `module` what `program` is: its own functions become unreachable, then go."""
    module.get_function(job.entry).name = KERNEL_SYMBOL
    values = (*module.functions, *module.global_variables)
    for value in values:
        if not value.is_declaration:
            value.linkage = "internal"
    module.triple = program.triple
    module.data_layout = program.data_layout
    module.name = program.name
    module.link_in(program)
    cleanup = llvm.create_new_module_pass_manager()
    cleanup.add_global_dead_code_eliminate_pass()
    cleanup.add_strip_dead_prototype_pass()
    machine = make_target_machine(job.request.arch, _level(job))
    cleanup.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))


CODEGEN = CpuCodegen()
