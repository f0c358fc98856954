"""The steps from linked device IR to an optimised native program. Before: definitions. After: flat_program and
coroutine_program, which take them in the order that their programs need.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import llvmlite.binding as llvm

from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.job import Job
from numba_gpucore.compile.module_text import make_internal
from numba_gpucore.cpu.definitions import (
    KERNEL_SYMBOL,
    NATIVE_ENTRY,
    ROW_AXIS_SYMBOL,
    SIZE_SYMBOL,
    definition_texts,
    read_ir,
    write_out_records,
)
from numba_gpucore.cpu.join_texts import join_texts
from numba_gpucore.cpu.machine import make_target_machine
from numba_gpucore.cpu.recursion import recursive_functions
from numba_gpucore.cpu.shape import ProgramShape

#: What a kernel's code calls of ir/work.ll and ir/coroutine_blocks.ll.
_OUTER_SYMBOLS = frozenset({NATIVE_ENTRY, "gpu.report", "gpu.ended", "gpu.allocate_frame", "gpu.free_frame"})


@dataclass(frozen=True)
class ProgramBuilder:
    """Builds programs of one kernel. `kernel`: its device IR as text, with the entry as KERNEL_SYMBOL; `params`: the
    LLVM types of the entry's parameters after the context."""

    kernel: str
    params: tuple[str, ...]
    job: Job
    machine: llvm.TargetMachine

    @classmethod
    def of(cls, module: llvm.ModuleRef, job: Job) -> ProgramBuilder:
        """For the device IR in a module, which is changed."""
        machine = make_target_machine(job.request.arch, optimization_level(job))
        if optimization_level(job) > 0:
            _promote_variables(module, machine)
        entry = module.get_function(job.entry)
        entry.name = KERNEL_SYMBOL
        return cls(str(module), tuple(str(argument.type) for argument in entry.arguments)[1:], job, machine)

    @property
    def level(self) -> int:
        return optimization_level(self.job)

    @cached_property
    def recursive(self) -> frozenset[str]:
        """Device functions that call themselves."""
        if not self.job.has_recursion:
            return frozenset()
        return recursive_functions(self.kernel, KERNEL_SYMBOL, self.job)

    def link(self, shape: ProgramShape, visible: frozenset[str]) -> llvm.ModuleRef:
        """The kernel, with definitions of all that it calls, inlined into the `visible` functions.

        Raises UnsupportedKernelError for barriers inside recursive functions.
        """
        # linking has verified the kernel
        return self._inline(self._join([self.kernel, *definition_texts(self.job, shape, self.params)], visible))

    def finish(self, program: llvm.ModuleRef, shape: ProgramShape) -> llvm.ModuleRef:
        """Add what takes blocks and runs them. The object exports the native entry under the kernel's own symbol."""
        texts = write_out_records([read_ir(name) for name in shape.outer_files], ())
        texts.append(f"@{ROW_AXIS_SYMBOL} = constant i64 {shape.row_axis}\n")
        program.link_in(self._inline(self._join(texts, _OUTER_SYMBOLS)))
        make_internal(program, NATIVE_ENTRY, SIZE_SYMBOL)
        cleanup = llvm.create_new_module_pass_manager()
        cleanup.add_global_dead_code_eliminate_pass()
        cleanup.add_strip_dead_prototype_pass()
        cleanup.run(program, self._passes)
        program.get_function(NATIVE_ENTRY).name = self.job.entry
        return program

    def link_half_conversions(self, program: llvm.ModuleRef) -> None:
        """Add what LLVM's code generator will call for halves. Last: nothing calls it before, so it would go."""
        if "half" in self.kernel:
            from numba_gpucore.cpu.half_conversions import half_files  # noqa: PLC0415  0.3 ms, for kernels with halves

            for name in half_files(str(program), self.job.request.arch):
                program.link_in(llvm.parse_assembly(read_ir(name)))

    def inline_all(self, texts: Iterable[str], visible: frozenset[str]) -> llvm.ModuleRef:
        """One module of several that passes of ours have written: verified, all inlined that may be, and without what
        `visible` symbols do not use."""
        program = self._join(texts, visible)
        program.verify()
        return self._inline(program)

    def _join(self, texts: Iterable[str], visible: frozenset[str]) -> llvm.ModuleRef:
        """A module of LLVM assembly, for this machine."""
        module = llvm.parse_assembly(join_texts(texts, visible, self.recursive))
        module.name = self.job.entry
        module.triple = self.machine.triple
        module.data_layout = str(self.machine.target_data)
        return module

    def _inline(self, program: llvm.ModuleRef) -> llvm.ModuleRef:
        inliner = llvm.create_new_module_pass_manager()
        inliner.add_global_dead_code_eliminate_pass()
        inliner.add_always_inliner_pass()
        inliner.add_global_dead_code_eliminate_pass()
        inliner.run(program, self._passes)
        return program

    def simplify(self, program: llvm.ModuleRef, name: str) -> None:
        """LLVM's scalar optimisations for one function."""
        if self.level > 0:
            self._passes.getFunctionPassManager().run(program.get_function(name), self._passes)

    def optimize(self, program: llvm.ModuleRef, copies_loops: bool = True) -> None:
        """LLVM's optimisations; without those that make several loops of one unless `copies_loops`."""
        passes = self._passes if copies_loops else self._make_passes(min(self.level, 2), False)
        passes.getModulePassManager().run(program, passes)

    def name_values(self, program: llvm.ModuleRef) -> None:
        """Give values without a name one, for passes that work on text."""
        namer = llvm.create_new_module_pass_manager()
        namer.add_instruction_namer_pass()
        namer.run(program, self._passes)

    @cached_property
    def _passes(self) -> llvm.PassBuilder:
        return self._make_passes(self.level, self.level > 1)

    def _make_passes(self, level: int, copies_loops: bool) -> llvm.PassBuilder:
        tuning = llvm.create_pipeline_tuning_options(speed_level=level)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = copies_loops
        return llvm.create_pass_builder(self.machine, tuning)


def _promote_variables(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Take variables out of memory in each function alone. Those that inlining still finds get marks of their lifetime
    at each return, which take the optimiser a third to a half of its time."""
    promoter = llvm.create_new_module_pass_manager()
    promoter.add_sroa_pass()
    promoter.add_instruction_combine_pass()
    promoter.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def optimization_level(job: Job) -> int:
    """LLVM's level for the option `opt`. Its default asks for the usual, which is 3 in Numba's compiler for CPUs."""
    opt = job.request.options.opt
    return 3 if opt == 2 else opt
