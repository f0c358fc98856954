"""From an Artifact's object to a function that Python can call. Before: Device.load. After: launch.

The one hot module that needs LLVM: MCJIT links the object into the process; nothing is compiled here.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.base.records import dataclass
from numba_gpucore.cpu.object_symbols import undefined_symbols

#: void gpu.work(launch record, scratch memory, most blocks to run)
_WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)
#: void gpu.replay(launch record, scratch memory, x, by, bz, ty, tz, numbers)
_REPLAY = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, *[ctypes.c_uint32] * 4, ctypes.c_void_p
)
#: What MCJIT supplies itself.
_LINKER_SYMBOLS = frozenset({"_GLOBAL_OFFSET_TABLE_"})


@dataclass(frozen=True)
class LoadedObject:
    """Both may be called as long as this object lives. replay: runs one thread again (ir/replay.ll); None in programs
    that keep all details themselves."""

    work: Callable[[int, int, int], None]
    replay: Callable[[int, int, int, int, int, int, int, int], None] | None
    engine: Any


def load_object(artifact: Artifact) -> LoadedObject:
    """Link an object into the process. Raises ToolchainError if a symbol that it needs is missing."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    try:
        needed = undefined_symbols(artifact.code)
    except (ValueError, IndexError, struct.error) as error:
        raise ToolchainError(f"the object of kernel '{artifact.kernel_name}' is damaged: {error}") from error
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
    # Making an engine is what opens the process's own symbols for `address_of_symbol`.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    missing = [name for name in needed if name not in _LINKER_SYMBOLS and not llvm.address_of_symbol(name)]
    if missing:
        raise ToolchainError(
            f"kernel '{artifact.kernel_name}' needs {', '.join(missing)}, which this process does not have; "
            f"avoid the operation that needs it, or report it with the kernel's source"
        )
    engine.add_object_file(llvm.ObjectFileRef.from_data(artifact.code))
    engine.finalize_object()
    address = engine.get_function_address(artifact.entry)
    if not address:
        raise ToolchainError(f"the object of kernel '{artifact.kernel_name}' does not define '{artifact.entry}'")
    replay_address = engine.get_function_address(f"{artifact.entry}.replay") if artifact.fact("replays") else 0
    return LoadedObject(_WORK(address), _REPLAY(replay_address) if replay_address else None, engine)
