"""From linked device IR to an optimised native program. Before: definitions. After: emit, assemble.

Flat programs are optimised in two steps: first the code of one thread alone, in whose text three passes of our own find
what the loops around it may do; then everything together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import llvmlite.binding as llvm

from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.job import Job
from numba_gpucore.cpu.bound_rows import bound_rows
from numba_gpucore.cpu.definitions import KERNEL_SYMBOL, NATIVE_ENTRY, definition_texts, read_ir
from numba_gpucore.cpu.machine import make_target_machine
from numba_gpucore.cpu.merge_blocks import merge_blocks
from numba_gpucore.cpu.recursion import recursive_functions
from numba_gpucore.cpu.shape import ProgramShape
from numba_gpucore.cpu.stride_rows import stride_rows
from numba_gpucore.cpu.thread_text import SYMBOL

_HALF = re.compile(r"\bhalf\b")


@dataclass(frozen=True)
class ProgramBuilder:
    """Builds programs of one kernel; `bitcode` is its device IR."""

    bitcode: bytes
    job: Job

    @property
    def level(self) -> int:
        """LLVM's optimisation level. The default asks for the usual, which is LLVM's 3 in Numba's compiler for CPUs."""
        opt = self.job.request.options.opt
        return 3 if opt == 2 else opt

    @cached_property
    def machine(self) -> llvm.TargetMachine:
        return make_target_machine(self.job.request.arch, self.level)

    def build(self, shape: ProgramShape) -> llvm.ModuleRef:
        """The optimised program."""
        program = self._link(shape)
        self._inline(program)
        if not shape.is_coroutine:
            self._simplify_thread(program)
            program = self.parse(bound_rows(stride_rows(merge_blocks(str(program), shape.keeps_blocks))))
            self._internalize(program, frozenset())
            self._inline(program)
        program.verify()
        self._pass_builder().getModulePassManager().run(program, self._pass_builder())
        return program

    def optimize_added(self, text: str, added: Iterable[str]) -> llvm.ModuleRef:
        """The program of a text that was optimised before the functions `added` came to it."""
        program = self.parse(text)
        self._inline(program)
        program.verify()
        if self.level > 0:
            builder = self._pass_builder()
            passes = builder.getFunctionPassManager()
            for name in added:
                passes.run(program.get_function(name), builder)
        return program

    def _link(self, shape: ProgramShape) -> llvm.ModuleRef:
        program = llvm.parse_bitcode(self.bitcode)
        program.name = self.job.entry
        program.triple = self.machine.triple
        program.data_layout = str(self.machine.target_data)
        kernel = program.get_function(self.job.entry)
        params = tuple(str(argument.type) for argument in kernel.arguments)[1:]
        kernel.name = KERNEL_SYMBOL
        recursive: frozenset[str] = frozenset()
        if self.job.has_recursion:
            recursive = recursive_functions(str(program), KERNEL_SYMBOL, self.job)
        for text in definition_texts(self.job, shape, params):
            program.link_in(self.parse(text))
        if _HALF.search(str(program)):
            program.link_in(self.parse(read_ir("half")))
        program.get_function(NATIVE_ENTRY).name = self.job.entry
        self._internalize(program, recursive | {SYMBOL})
        program.verify()
        return program

    def parse(self, text: str) -> llvm.ModuleRef:
        """A module of LLVM assembly, for this machine."""
        module = llvm.parse_assembly(text)
        module.triple = self.machine.triple
        module.data_layout = str(self.machine.target_data)
        return module

    def _internalize(self, program: llvm.ModuleRef, kept: frozenset[str]) -> None:
        """Only the native entry and the size of threads stay visible; all but `kept` is inlined."""
        for function in program.functions:
            if function.is_declaration or function.name == self.job.entry or function.linkage == llvm.Linkage.weak_any:
                continue
            function.linkage = "internal"
            if function.name not in kept and b"noinline" not in b" ".join(function.attributes):
                function.add_function_attribute("alwaysinline")
        for variable in program.global_variables:
            if not variable.is_declaration and variable.name != "gpu.thread_nbytes":
                variable.linkage = "internal"

    def _pass_builder(self) -> llvm.PassBuilder:
        tuning = llvm.create_pipeline_tuning_options(speed_level=self.level)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = self.level > 1
        return llvm.create_pass_builder(self.machine, tuning)

    def _inline(self, program: llvm.ModuleRef) -> None:
        inliner = llvm.create_new_module_pass_manager()
        inliner.add_global_dead_code_eliminate_pass()
        inliner.add_always_inliner_pass()
        inliner.add_global_dead_code_eliminate_pass()
        inliner.run(program, self._pass_builder())

    def _simplify_thread(self, program: llvm.ModuleRef) -> None:
        """LLVM's scalar optimisations for the code of one thread."""
        if self.level > 0:
            self._pass_builder().getFunctionPassManager().run(program.get_function(SYMBOL), self._pass_builder())
