"""From an Artifact's object to a function that Python can call. Before: Device.load. After: launch.

Links the object into the process; nothing is compiled here. Where `elf_loader` does not do it, LLVM's MCJIT does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.base.records import dataclass
from numba_gpucore.cpu.elf_loader import link_elf

#: void gpu.work(launch record, scratch memory, most blocks to run)
_WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)
#: void gpu.replay(launch record, scratch memory, x, by, bz, ty, tz, numbers)
_REPLAY = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, *[ctypes.c_uint32] * 4, ctypes.c_void_p
)


def replay_symbol(entry: str) -> str:
    """What an object calls the function that runs one thread again."""
    return f"{entry}.replay"


@dataclass(frozen=True)
class LoadedObject:
    """Both may be called as long as this object lives. replay: runs one thread again (ir/replay.ll); None in programs
    that keep all details themselves. memory: what holds the code."""

    work: Callable[[int, int, int], None]
    replay: Callable[[int, int, int, int, int, int, int, int], None] | None
    memory: Any


def load_object(artifact: Artifact) -> LoadedObject:
    """Link an object into the process. Raises ToolchainError if a symbol that it needs is missing."""
    address_of, memory = _link(artifact)
    address = address_of(artifact.entry)
    if not address:
        raise ToolchainError(f"the object of kernel '{artifact.kernel_name}' does not define '{artifact.entry}'")
    replay_address = address_of(replay_symbol(artifact.entry)) if artifact.fact("replays") else 0
    return LoadedObject(_WORK(address), _REPLAY(replay_address) if replay_address else None, memory)


def _link(artifact: Artifact) -> tuple[Callable[[str], int], Any]:
    """Looks up the address of a symbol, 0 for an unknown one; and what must live as long as the code."""
    linked = link_elf(artifact.code)
    if linked is not None:
        addresses = linked.addresses
        return lambda name: addresses.get(name, 0), linked.memory
    from numba_gpucore.cpu.mcjit import link_by_mcjit  # noqa: PLC0415 - imports llvmlite, which takes 45 ms

    engine = link_by_mcjit(artifact)
    return engine.get_function_address, engine
