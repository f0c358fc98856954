"""What PTX code and the driver agree on. Before: nothing. After: codegen writes it, the loader relies on it.

* The kernel's parameters are those of `base.params`, one PTX parameter for each slot. PTX aligns each to its size, so
  the launch buffer of `base.params` is the kernel's parameter buffer, byte for byte.
* A kernel that throws or prints has one more, `.u64`: the device address of its stream's mailbox.
* Address slots hold addresses of global memory.
* What the driver allocates ends where 16 bytes end: LLVM reads items 0 and 2 of four aligned ones as one vector.
* A module whose kernel throws or prints has the variable below; the loader stores into it.
* An Artifact's code is a `DeviceCode`, packed.
"""

from __future__ import annotations

import struct

from numba_gpucore.base.params import round_up
from numba_gpucore.base.records import dataclass

#: Raised whenever Artifacts made before can no longer be launched.
LAUNCH_ABI = 2
#: Of kernels that other programs launch: they have no mailbox, and a thread that throws only ends.
FOREIGN_LAUNCH_ABI = 0
#: `.global .u64`: the number that the device gave the program.
PROGRAM_VARIABLE = "numba_gpu_program"

#: `backend_facts` name: 1 where the kernel waits for the whole grid and needs a cooperative launch.
FACT_COOPERATIVE = "cooperative"
#: `backend_facts` name: 1 where the kernel takes a mailbox, since it throws or prints.
FACT_THROWS = "throws"
#: `backend_facts` name: 1 where the PTX is the whole program, so that a driver can compile it; 0 where parts of it are
#: in the machine code only, since it was linked with code that is not PTX.
FACT_PTX_IS_WHOLE = "ptx_is_whole"

#: The widest access that LLVM makes of items of an array. Source: PTX ISA, "ld", vectors.
VECTOR_NBYTES = 16

_HEADER = struct.Struct("<Q")
_ADDRESS = struct.Struct("<Q")


def whole_vectors(nbytes: int) -> int:
    """`nbytes` rounded up to whole vectors, so that a vector of which a kernel uses a part lies in the allocation too.

    No hardware would mind it otherwise, compute-sanitizer would. LLVM says which bytes count by a pragma that only PTX
    8.3 has. Source: LLVM, LoadStoreVectorizer.cpp, "splitChainByContiguity"; PTX ISA, ".pragma", "used_bytes_mask".
    """
    return round_up(nbytes, VECTOR_NBYTES)


def add_mailbox(params: bytes, address: int) -> bytes:
    """The parameter buffer of a kernel that takes a mailbox."""
    return params + bytes(-len(params) % _ADDRESS.size) + _ADDRESS.pack(address)


@dataclass(frozen=True)
class DeviceCode:
    """PTX, and machine code where an assembler was at hand. A driver older than that assembler may refuse the machine
    code and still compile the PTX, so both are kept."""

    ptx: str
    cubin: bytes = b""

    def pack(self) -> bytes:
        text = self.ptx.encode("ascii")
        return _HEADER.pack(len(text)) + text + self.cubin

    @classmethod
    def unpack(cls, data: bytes) -> DeviceCode:
        (nbytes,) = _HEADER.unpack_from(data)
        end = _HEADER.size + nbytes
        return cls(data[_HEADER.size : end].decode("ascii"), data[end:])
