"""Objects linked into the process by LLVM's MCJIT, on every system. Before: loader. After: launch."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.cpu.elf import DAMAGE_ERRORS
from numba_gpucore.cpu.object_symbols import undefined_symbols

#: What MCJIT supplies itself.
_LINKER_SYMBOLS = frozenset({"_GLOBAL_OFFSET_TABLE_"})
#: LLVM's objects for Windows name it where they compute with floats, for Microsoft's linker; nothing reads it.
_FLOATS_MARK, _MARK = "_fltused", ctypes.c_int()


def link_by_mcjit(artifact: Artifact) -> Any:
    """An engine that holds the object. Raises ToolchainError if a symbol that it needs is missing, or it is damaged."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    try:
        needed = undefined_symbols(artifact.code)
    except DAMAGE_ERRORS as error:
        raise ToolchainError(f"the object of kernel '{artifact.kernel_name}' is damaged: {error}") from error
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
    # Making an engine is what opens the process's own symbols for `address_of_symbol`.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    if _FLOATS_MARK in needed:
        llvm.add_symbol(_FLOATS_MARK, ctypes.addressof(_MARK))
    missing = [name for name in needed if name not in _LINKER_SYMBOLS and not llvm.address_of_symbol(name)]
    if missing:
        raise ToolchainError(
            f"kernel '{artifact.kernel_name}' needs {', '.join(missing)}, which this process does not have; "
            f"avoid the operation that needs it, or report it with the kernel's source"
        )
    engine.add_object_file(llvm.ObjectFileRef.from_data(artifact.code))
    engine.finalize_object()
    return engine
