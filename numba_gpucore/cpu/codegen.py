"""The last steps of compiling for a CPU: legalize, emit LLVM assembly, assemble an object. Before: compile.driver.
After: the Artifact's code, which `loader` brings to life.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.job import Job
from numba_gpucore.compile.kept_input import keep_input
from numba_gpucore.cpu.definitions import ROW_AXIS_SYMBOL, SIZE_SYMBOL
from numba_gpucore.cpu.flat_program import build_flat
from numba_gpucore.cpu.launch_record import THREAD_NBYTES
from numba_gpucore.cpu.loader import replay_symbol
from numba_gpucore.cpu.machine import make_target_machine
from numba_gpucore.cpu.program import ProgramBuilder, optimization_level
from numba_gpucore.cpu.shape import ProgramShape, choose_shape

_ATOMICS = ("= atomicrmw ", "= cmpxchg ")
#: A variable that says so: after `legalize` the module holds the mailbox's atomics too.
_ATOMICS_MARK = "gpu.uses_atomics"


@dataclass(frozen=True)
class CpuCodegen:
    """Codegen of the back-end "cpu". Stateless: what `facts` tells is written into the module by `legalize`."""

    links_nvidia_code = False

    def legalize(self, module: llvm.ModuleRef, job: Job) -> llvm.ModuleRef:
        """A native program of the device IR: definitions linked, all inlined, optimised.

        Raises UnsupportedKernelError for barriers inside recursive functions.
        """
        builder = ProgramBuilder.of(module, job)
        uses_atomics = any(instruction in builder.kernel for instruction in _ATOMICS)
        shape = choose_shape(job, uses_atomics)
        program = _build_coroutine(builder, shape) if shape.is_coroutine else build_flat(builder, shape)
        builder.link_half_conversions(program)
        if uses_atomics:
            # Linking leaves out what is internal and not used.
            program.link_in(llvm.parse_assembly(f"@{_ATOMICS_MARK} = constant i8 1"))
            program.get_global_variable(_ATOMICS_MARK).linkage = "internal"
        return program

    def emit(self, module: llvm.ModuleRef, job: Job) -> str:
        """The program as LLVM assembly, target triple and data layout included."""
        text = str(module)
        if not job.request.options.wants_lines:
            return text
        from numba_gpucore.cpu.debug_lines import add_lines  # noqa: PLC0415  0.2 ms

        return add_lines(text, job)

    def assemble(self, text: str, job: Job) -> bytes:
        """A relocatable object in the format of the architecture's system. Raises ToolchainError."""
        try:
            module = llvm.parse_assembly(text)
            module.verify()
        except RuntimeError as error:
            path = keep_input(text, job.request.py_func.__name__, ".ll")
            raise ToolchainError(
                f"LLVM refused the program of kernel '{job.request.py_func.__name__}', which is kept in {path}: {error}"
            ) from error
        return make_target_machine(job.request.arch, optimization_level(job)).emit_object(module)

    def facts(self, module: llvm.ModuleRef, job: Job) -> tuple[tuple[str, int], ...]:
        """atomics, grid_barrier, warps: 1 if the kernel uses them. frame_nbytes: of a suspended thread, 0 for programs
        without coroutines. replays: 1 if a thread can be run again. row_axis: the axis (0 for x) that the program
        takes for x."""
        shape = choose_shape(job, has_atomics=False)
        frame_nbytes = _constant(module, SIZE_SYMBOL) - THREAD_NBYTES if shape.is_coroutine else 0
        return (
            ("atomics", int(_ATOMICS_MARK in {variable.name for variable in module.global_variables})),
            ("frame_nbytes", frame_nbytes),
            ("grid_barrier", int(shape.uses_grid_barrier)),
            ("replays", int(replay_symbol(job.entry) in {function.name for function in module.functions})),
            ("row_axis", 0 if shape.is_coroutine else _constant(module, ROW_AXIS_SYMBOL)),
            ("warps", int(shape.uses_warps)),
        )


def _build_coroutine(builder: ProgramBuilder, shape: ProgramShape) -> llvm.ModuleRef:
    from numba_gpucore.cpu.coroutine_program import build_coroutine  # noqa: PLC0415  0.5 ms, for kernels that wait

    return build_coroutine(builder, shape)


def _constant(module: llvm.ModuleRef, name: str) -> int:
    # `get_global_variable` finds no internal ones.
    text = next((str(variable) for variable in module.global_variables if variable.name == name), "")
    match = re.search(r"\bi64 (\d+)", text)
    if match is None:
        raise ToolchainError(f"the program lacks the constant {name}")
    return int(match.group(1))


CODEGEN = CpuCodegen()
