"""The steps from linked device IR to an optimised native program. Before: definitions. After: flat_program and
coroutine_program, which take them in the order that their programs need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import llvmlite.binding as llvm

from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.job import Job
from numba_gpucore.cpu.definitions import (
    KERNEL_SYMBOL,
    NATIVE_ENTRY,
    SIZE_SYMBOL,
    definition_texts,
    read_ir,
    write_out_records,
)
from numba_gpucore.cpu.machine import make_target_machine
from numba_gpucore.cpu.recursion import recursive_functions
from numba_gpucore.cpu.shape import ProgramShape

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

    def link(self, shape: ProgramShape, visible: frozenset[str]) -> llvm.ModuleRef:
        """The kernel, with definitions of all that it calls, inlined into the `visible` functions.

        Raises UnsupportedKernelError for barriers inside recursive functions.
        """
        program = llvm.parse_bitcode(self.bitcode)
        program.name = self.job.entry
        program.triple = self.machine.triple
        program.data_layout = str(self.machine.target_data)
        kernel = program.get_function(self.job.entry)
        params = tuple(str(argument.type) for argument in kernel.arguments)[1:]
        kernel.name = KERNEL_SYMBOL
        if self.job.has_recursion:
            for name in recursive_functions(str(program), KERNEL_SYMBOL, self.job):
                program.get_function(name).add_function_attribute("noinline")
        for text in definition_texts(self.job, shape, params):
            program.link_in(self.parse(text))
        if _HALF.search(str(program)):
            program.link_in(self.parse(read_ir("half")))
        self.inline_all(program, visible)
        return program

    def parse(self, text: str) -> llvm.ModuleRef:
        """A module of LLVM assembly, for this machine."""
        module = llvm.parse_assembly(text)
        module.triple = self.machine.triple
        module.data_layout = str(self.machine.target_data)
        return module

    def add(self, program: llvm.ModuleRef, texts: Iterable[str], visible: frozenset[str]) -> None:
        """Link what needs no optimising into a program."""
        for text in texts:
            program.link_in(self.parse(text))
        self.inline_all(program, visible)

    def finish(self, program: llvm.ModuleRef, shape: ProgramShape) -> llvm.ModuleRef:
        """Add what takes blocks and runs them. The object exports the native entry under the kernel's own symbol."""
        texts = write_out_records([read_ir(name) for name in shape.outer_files], ())
        self.add(program, texts, frozenset({NATIVE_ENTRY, SIZE_SYMBOL}))
        program.get_function(NATIVE_ENTRY).name = self.job.entry
        return program

    def inline_all(self, program: llvm.ModuleRef, visible: frozenset[str]) -> None:
        """Inline all that may be, and drop what `visible` symbols do not use."""
        for value in (*program.functions, *program.global_variables):
            if not value.is_declaration and value.name not in visible and value.linkage != llvm.Linkage.weak_any:
                value.linkage = "internal"
        self._drop_unused(program)
        for function in program.functions:
            is_inlined = function.linkage == llvm.Linkage.internal
            if is_inlined and b"noinline" not in b" ".join(function.attributes):
                function.add_function_attribute("alwaysinline")
        inliner = llvm.create_new_module_pass_manager()
        inliner.add_always_inliner_pass()
        inliner.run(program, self._passes(0))
        self._drop_unused(program)
        program.verify()

    def _drop_unused(self, program: llvm.ModuleRef) -> None:
        cleanup = llvm.create_new_module_pass_manager()
        cleanup.add_global_dead_code_eliminate_pass()
        cleanup.run(program, self._passes(0))

    def simplify(self, program: llvm.ModuleRef, name: str) -> None:
        """LLVM's scalar optimisations for one function."""
        if self.level > 0:
            passes = self._passes(self.level)
            passes.getFunctionPassManager().run(program.get_function(name), passes)

    def optimize(self, program: llvm.ModuleRef) -> None:
        """All of LLVM's optimisations."""
        passes = self._passes(self.level)
        passes.getModulePassManager().run(program, passes)

    def name_values(self, program: llvm.ModuleRef) -> None:
        """Give values without a name one, for passes that work on text."""
        namer = llvm.create_new_module_pass_manager()
        namer.add_instruction_namer_pass()
        namer.run(program, self._passes(0))

    def _passes(self, level: int) -> llvm.PassBuilder:
        tuning = llvm.create_pipeline_tuning_options(speed_level=level)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = level > 1
        return llvm.create_pass_builder(self.machine, tuning)
