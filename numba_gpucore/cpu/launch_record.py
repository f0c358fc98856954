"""What native code gets to know about a launch. Before: Device.launch. After: `gpu.work` in ir/work.ll.

The fields are those of %gpu.launch in ir/records.ll, in its order; tests hold the two together.
"""

from __future__ import annotations

import ctypes
import functools
import struct

from numba_gpucore.base.params import round_up
from numba_gpucore.base.records import dataclass

#: grid[3], block[3], dynamic shared, params, mailbox, program, blocks, chunk, next, shared, warps, threads, whole size
LAUNCH_FORMAT = "<6I11Q"
LAUNCH_NBYTES = struct.calcsize(LAUNCH_FORMAT)
_CHUNK_OFFSET = struct.calcsize("<6I5Q")
_NEXT_OFFSET = struct.calcsize("<6I6Q")
#: Beyond every count of blocks, and far from where additions to it would overflow.
_NO_MORE_BLOCKS = 2**62

BLOCK_NBYTES = 112
THREAD_NBYTES = 32
WARP_NBYTES = 1088
WARP_SIZE = 32
LINE_NBYTES = 64


def along_rows(xyz: tuple[int, int, int], row_axis: int) -> tuple[int, int, int]:
    """Extents or indices as a program whose rows run along an axis takes them, or back: it and x are exchanged."""
    x, y, z = xyz
    return (xyz, (y, x, z), (z, y, x))[row_axis]


@dataclass(frozen=True)
class BlockLayout:
    """Where the parts of a running block lie in its memory, in bytes; %gpu.block comes first in coroutine programs."""

    shared_offset: int
    warps_offset: int
    threads_offset: int
    nbytes: int


def lay_out_block(shared_nbytes: int, threads: int, frame_nbytes: int, uses_warps: bool) -> BlockLayout:
    """The layout for blocks of `threads` threads; `frame_nbytes` is 0 for flat programs, which only share memory."""
    if not frame_nbytes:
        return BlockLayout(0, 0, 0, shared_nbytes)
    shared_offset = round_up(BLOCK_NBYTES, LINE_NBYTES)
    warps_offset = shared_offset + round_up(shared_nbytes, LINE_NBYTES)
    warps_nbytes = -(-threads // WARP_SIZE) * WARP_NBYTES if uses_warps else 0
    threads_offset = warps_offset + warps_nbytes
    nbytes = threads_offset + threads * (THREAD_NBYTES + frame_nbytes)
    return BlockLayout(shared_offset, warps_offset, threads_offset, round_up(nbytes, LINE_NBYTES))


class LaunchRecord:
    """Room for one %gpu.launch, followed by the parameter block."""

    def __init__(self, packer: struct.Struct):
        self._buffer = ctypes.create_string_buffer(packer.size)
        self.address = ctypes.addressof(self._buffer)
        self.params_address = self.address + LAUNCH_NBYTES
        #: Write all fields in order, then the bytes of the parameter block.
        self.fill = functools.partial(packer.pack_into, self._buffer, 0)
        self._chunk = ctypes.c_uint64.from_buffer(self._buffer, _CHUNK_OFFSET)
        self._next = ctypes.c_uint64.from_buffer(self._buffer, _NEXT_OFFSET)

    def set_chunk(self, blocks: int) -> None:
        """How many blocks a worker takes at a time from now on."""
        self._chunk.value = blocks

    @property
    def next_block(self) -> int:
        """The first block that nobody has taken; the count of blocks or more when all are taken."""
        return self._next.value

    def stop(self) -> None:
        """Let nobody take another block."""
        self._next.value = _NO_MORE_BLOCKS


class LaunchRecords:
    """Records of one program, reused: as many as its launches ever ran at once."""

    def __init__(self, params_nbytes: int):
        self._packer = struct.Struct(f"{LAUNCH_FORMAT}{params_nbytes}s")
        self._free: list[LaunchRecord] = []

    def borrow(self) -> LaunchRecord:
        try:
            return self._free.pop()  # atomic, like append: no lock is needed
        except IndexError:
            return LaunchRecord(self._packer)

    def give_back(self, record: LaunchRecord) -> None:
        self._free.append(record)
