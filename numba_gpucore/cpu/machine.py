"""LLVM's code generator for an architecture of `arch`. Before: arch text. After: legalize, assemble."""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.cpu.arch import SYSTEMS, WIDE_SUFFIX, host_arch

#: LLVM's names of systems. macOS 11 is the first on Apple's own processors.
_SYSTEM_TRIPLES = {"linux": "unknown-linux-gnu", "darwin": "apple-macosx11.0.0", "win32": "pc-windows-msvc"}
#: Levels that LLVM has no processor of the same name for.
_CPU_NAMES = {"armv8-a": "generic"}


def make_target_machine(arch: str, opt: int) -> llvm.TargetMachine:
    """A new code generator for "<level>-<system>", of this machine or of another.

    Position independent, small code model: MCJIT places code and constants of an object near each other and reaches
    library functions through stubs. Raises ToolchainError where this LLVM has no code generator for it.
    """
    level, _, system = arch.rpartition("-")
    narrow = level.removesuffix(WIDE_SUFFIX)
    try:
        return _target_of(narrow, system).create_target_machine(
            cpu=_CPU_NAMES.get(narrow, narrow) if narrow in SYSTEMS else "",
            features="-prefer-256-bit" if level.endswith(WIDE_SUFFIX) else "",
            opt=opt,
            reloc="pic",
            codemodel="small",
        )
    except RuntimeError as error:
        raise ToolchainError(f"LLVM cannot compile for '{arch}' here: {error}") from error


def _target_of(level: str, system: str) -> llvm.Target:
    host_level, _, host_system = host_arch().rpartition("-")
    if _kind_of(level) == _kind_of(host_level) and system == host_system:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        return llvm.Target.from_triple(llvm.get_process_triple())
    if system not in _SYSTEM_TRIPLES:
        raise RuntimeError(f"no triple is known for the system '{system}'")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(f"{_kind_of(level)}-{_SYSTEM_TRIPLES[system]}")


def _kind_of(level: str) -> str:
    """LLVM's name of the kind of processors; of processors without levels that of the level."""
    if level.startswith("x86-64"):
        return "x86_64"
    return "aarch64" if level in SYSTEMS else level
