"""Bytes that kernels read and write, and the checks on every access. Before: NumPy. After: access.py, wave.py.

Each state space is one array of bytes and one array of flags, a flag byte for a memory byte. An access is legal when
it is naturally aligned and its first and last byte carry the flag asked for; allocations are kept apart by red zones
wider than any access, so that no access can begin in one and end in another. PTX ISA, "State Spaces", "Operand
Alignment".
"""

from __future__ import annotations

import numpy as np

from .errors import LaneFault, PtxError

#: Flags of a byte. NC_READ and WRITTEN are set during a launch by kernels that use ld.global.nc.
READABLE, WRITABLE, NC_READ, WRITTEN = 1, 2, 4, 8
RED_ZONE_NBYTES = 256
#: Fresh shared and local memory and registers hold this byte, so that reading before writing shows.
FRESH_BYTE = 0xA5

WINDOW_BITS = 40
#: Generic addresses: the part above WINDOW_BITS names the space (PTX ISA, "Generic Addressing").
WINDOWS = {"global": 1, "shared": 2, "local": 3, "kernel_param": 4, "code": 5}
GLOBAL_BASE = WINDOWS["global"] << WINDOW_BITS


class ByteSpace:
    """`cells` and `flags` have shape (nbytes,); `lane_offsets` maps addresses to positions in them."""

    def __init__(self, name: str, nbytes: int, fill: int):
        self.name = name
        self._resize(nbytes, fill)

    def _resize(self, nbytes: int, fill: int) -> None:
        # uint64 storage makes every typed view aligned
        self.cells = np.zeros(-(-nbytes // 16) * 2, np.uint64).view(np.uint8)
        self.cells[:] = fill
        self.flags = np.zeros(self.cells.size, np.uint8)
        self._make_views()

    def _make_views(self) -> None:
        self.views = {size: self.cells.view(f"u{size}") for size in (1, 2, 4, 8)}

    def lane_offsets(self, ids: np.ndarray, addresses: np.ndarray, nbytes: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the addresses, and whether they lie in the space at all (positions are 0 where not)."""
        raise NotImplementedError

    def describe(self, address: int) -> str:
        """Where an illegal address lies, for the error."""
        return f"outside every variable of .{self.name}"

    def locate(self, ids: np.ndarray, addresses: np.ndarray, nbytes: int, flag: int) -> np.ndarray:
        """Positions of an access of `nbytes` by the lanes `ids`; int64, shape (lanes,).

        Raises LaneFault at the first lane whose access is misaligned, out of bounds, or a write to constants.
        """
        offsets, inside = self.lane_offsets(ids, addresses, nbytes)
        flags = self.flags
        legal = (flags[offsets] & flags[offsets + (nbytes - 1)] & flag) == flag
        aligned = (addresses & (nbytes - 1)) == 0
        good = legal & aligned & inside
        if not good.all():
            bad = int(np.argmin(good))
            address = int(addresses[bad])
            verb = "writes" if flag & WRITABLE else "reads"
            if not aligned[bad]:
                why = f"not a multiple of {nbytes}"
            elif inside[bad] and flags[offsets[bad]] & READABLE and flags[offsets[bad] + nbytes - 1] & READABLE:
                why = "which is read-only"
            else:
                why = self.describe(address)
            raise LaneFault(f"{verb} {nbytes} bytes at .{self.name} address {address:#x}, {why}", int(ids[bad]))
        return offsets

    def load(self, offsets: np.ndarray, nbytes: int, count: int) -> np.ndarray:
        """`count` elements of `nbytes` bytes at each position: unsigned, shape (lanes,) or (lanes, count)."""
        index = offsets // nbytes
        return self.views[nbytes][index if count == 1 else index[:, None] + np.arange(count)]

    def store(self, offsets: np.ndarray, values: np.ndarray) -> None:
        """The reverse of `load`. Where lanes collide, the last one wins."""
        index = offsets // values.itemsize
        self.views[values.itemsize][index if values.ndim == 1 else index[:, None] + np.arange(values.shape[1])] = values


class RowSpace(ByteSpace):
    """A space of which a lane sees one row: shared memory (row = block), local memory and parameters (row = lane)."""

    def __init__(self, name: str, row_of_lane: np.ndarray, nrows: int, width_nbytes: int):
        self.row_of_lane = row_of_lane
        self.nrows = nrows
        self.width_nbytes = max(-(-width_nbytes // 16) * 16, 16)
        super().__init__(name, nrows * self.width_nbytes, FRESH_BYTE)

    @property
    def cell_rows(self) -> np.ndarray:
        return self.cells.reshape(self.nrows, self.width_nbytes)

    @property
    def flag_rows(self) -> np.ndarray:
        return self.flags.reshape(self.nrows, self.width_nbytes)

    def widen(self, width_nbytes: int) -> None:
        """Make the rows at least this wide; contents stay."""
        if width_nbytes <= self.width_nbytes:
            return
        old_width, old_cells, old_flags = self.width_nbytes, self.cell_rows, self.flag_rows
        self.width_nbytes = -(-max(width_nbytes, 2 * old_width) // 16) * 16
        self._resize(self.nrows * self.width_nbytes, FRESH_BYTE)
        self.cell_rows[:, :old_width] = old_cells
        self.flag_rows[:, :old_width] = old_flags

    def lane_offsets(self, ids: np.ndarray, addresses: np.ndarray, nbytes: int) -> tuple[np.ndarray, np.ndarray]:
        inside = (addresses >= 0) & (addresses <= self.width_nbytes - nbytes)
        return self.row_of_lane[ids] * self.width_nbytes + np.where(inside, addresses, 0), inside


class GlobalMemory(ByteSpace):
    """Device memory of one machine: allocations at addresses from GLOBAL_BASE, a red zone after each."""

    def __init__(self) -> None:
        super().__init__("global", 1 << 16, 0)
        self.top = RED_ZONE_NBYTES
        self.sizes: dict[int, int] = {}

    def allocate(self, nbytes: int, align_nbytes: int = 256) -> int:
        """Address of zeroed memory."""
        start = -(-self.top // align_nbytes) * align_nbytes
        self.top = start + nbytes + RED_ZONE_NBYTES
        if self.top > self.cells.size:
            self._grow(2 * self.top)
        self.cells[start : start + nbytes] = 0
        self.flags[start : start + nbytes] = READABLE | WRITABLE
        self.sizes[GLOBAL_BASE + start] = nbytes
        return GLOBAL_BASE + start

    def _grow(self, nbytes: int) -> None:
        old_cells, old_flags = self.cells, self.flags
        self._resize(nbytes, 0)
        self.cells[: old_cells.size] = old_cells
        self.flags[: old_flags.size] = old_flags

    def release(self, address: int) -> None:
        """Using the memory afterwards is an error. The room is given out again once nothing lies above it."""
        nbytes = self.sizes.pop(address)
        start = address - GLOBAL_BASE
        self.flags[start : start + nbytes] = 0
        last = max(self.sizes, default=GLOBAL_BASE)
        self.top = last - GLOBAL_BASE + self.sizes.get(last, 0) + RED_ZONE_NBYTES

    def protect(self, address: int) -> None:
        """Make an allocation read-only for kernels."""
        start = address - GLOBAL_BASE
        self.flags[start : start + self.sizes[address]] = READABLE

    def lane_offsets(self, ids: np.ndarray, addresses: np.ndarray, nbytes: int) -> tuple[np.ndarray, np.ndarray]:
        offsets = addresses - GLOBAL_BASE
        inside = (offsets >= 0) & (offsets <= self.cells.size - nbytes)
        return np.where(inside, offsets, 0), inside

    def describe(self, address: int) -> str:
        below = [start for start in self.sizes if start <= address]
        if not below:
            return "outside every allocation"
        start = max(below)
        return (
            f"outside every allocation; {address - start} bytes from the start of the one before, "
            f"which has {self.sizes[start]} bytes"
        )

    def write(self, address: int, data: bytes | memoryview | np.ndarray) -> None:
        """Copy host bytes in. Raises PtxError outside one allocation."""
        source = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data.reshape(-1).view(np.uint8)
        self.cells[self._host_range(address, source.size)] = source

    def read(self, address: int, nbytes: int) -> bytes:
        return self.cells[self._host_range(address, nbytes)].tobytes()

    def _host_range(self, address: int, nbytes: int) -> slice:
        start = address - GLOBAL_BASE
        if nbytes and not (self.flags[start : start + nbytes] & READABLE).all():
            raise PtxError(f"host access to {nbytes} bytes at {address:#x}, {self.describe(address)}")
        return slice(start, start + nbytes)

    def copy_in(self, array: np.ndarray) -> int:
        """Allocate memory for an array and copy its C-order bytes; returns the address."""
        packed = np.ascontiguousarray(array)
        address = self.allocate(packed.nbytes)
        self.write(address, packed.reshape(-1).view(np.uint8))
        return address

    def copy_out(self, address: int, shape: tuple[int, ...] | int, dtype: np.dtype | type) -> np.ndarray:
        """A fresh C-order array from device memory."""
        nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer(self.read(address, nbytes), dtype).reshape(shape).copy()

    def forget_launch(self) -> None:
        """Clear the flags that a launch leaves behind."""
        self.flags[: self.top] &= READABLE | WRITABLE

    def note_nc_read(self, ids: np.ndarray, offsets: np.ndarray, nbytes: int) -> None:
        """ld.global.nc: the bytes must stay unwritten for the whole kernel (PTX ISA, "ld.global.nc")."""
        self._note(ids, offsets, nbytes, NC_READ, WRITTEN, "reads bytes with .nc that this kernel writes")

    def note_write(self, ids: np.ndarray, offsets: np.ndarray, nbytes: int) -> None:
        self._note(ids, offsets, nbytes, WRITTEN, NC_READ, "writes bytes that this kernel reads with .nc")

    def _note(self, ids: np.ndarray, offsets: np.ndarray, nbytes: int, mark: int, clash: int, what: str) -> None:
        touched = offsets[:, None] + np.arange(nbytes)
        clashes = (self.flags[touched] & clash).any(axis=1)
        if clashes.any():
            raise LaneFault(what, int(ids[np.argmax(clashes)]))
        self.flags[touched] |= mark
