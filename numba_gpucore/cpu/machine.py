"""LLVM's code generator for an architecture of `arch`. Before: arch text. After: legalize, assemble."""

from __future__ import annotations

import sys

import llvmlite.binding as llvm

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.cpu.arch import WIDE_SUFFIX


def make_target_machine(arch: str, opt: int) -> llvm.TargetMachine:
    """A new code generator; `arch` is "<level>-<system>" and must be this system's.

    Position independent, small code model: MCJIT places code and constants of an object near each other and reaches
    library functions through stubs. Raises ToolchainError for an architecture of another system.
    """
    level, _, system = arch.rpartition("-")
    if system != sys.platform:
        raise ToolchainError(f"cannot compile for '{arch}' here: this system is '{sys.platform}'")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=level.removesuffix(WIDE_SUFFIX),
        features="-prefer-256-bit" if level.endswith(WIDE_SUFFIX) else "",
        opt=opt,
        reloc="pic",
        codemodel="small",
    )
