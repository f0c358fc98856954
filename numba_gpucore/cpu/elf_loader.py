"""Objects of x86-64 Linux linked into the process without LLVM. Before: loader. After: launch.

Importing llvmlite and making its engine is half of what a known kernel takes in a new process (45 of 90 ms), and what
there is to do for one small object is little. Source: System V ABI, AMD64 supplement, "Relocation".
Whatever is not expected here gives None, and MCJIT does it: other systems, debug information (MCJIT tells gdb about
it), relocations that LLVM does not use for kernels.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys

from numba_gpucore.base.params import round_up
from numba_gpucore.base.records import dataclass
from numba_gpucore.cpu.elf import DAMAGE_ERRORS, UNDEFINED, Section, Symbol, is_elf64, read_elf

_RELOCATION = struct.Struct("<QQq")
_RELOCATABLE, _X86_64 = 1, 62
_WITH_ADDENDS, _NO_BITS = 4, 8
_IN_MEMORY, _EXECUTABLE, _THREAD_LOCAL = 0x2, 0x4, 0x400
_ABSOLUTE, _FIRST_RESERVED = 0xFFF1, 0xFF00
#: AMD64 supplement, table 4.9. The three GOT relocations ask for a slot that holds the symbol's address.
_R_64, _R_PC32, _R_PLT32, _R_PC64 = 1, 2, 4, 24
_R_GOT = frozenset({9, 41, 42})
_UNWIND_TABLES = ".eh_frame"
#: jmp *[rip + 0], then the address
_FAR_JUMP = b"\xff\x25\x00\x00\x00\x00"
_STUB_NBYTES = len(_FAR_JUMP) + 8


@dataclass(frozen=True)
class LinkedObject:
    """Addresses of the symbols that an object defines, and the memory, which must outlive their use."""

    addresses: dict[str, int]
    memory: mmap.mmap


class _NotExpected(Exception):
    """Something that MCJIT must do."""


def link_elf(data: bytes) -> LinkedObject | None:
    """Link an object into this process; None where MCJIT must, also for a damaged object, of which it tells."""
    if sys.platform != "linux" or struct.calcsize("P") != 8 or not is_elf64(data):
        return None
    try:
        return _Linker(data).link()
    except (_NotExpected, OSError, *DAMAGE_ERRORS):
        return None


class _Linker:
    def __init__(self, data: bytes):
        self._data = data
        elf = read_elf(data)
        self._sections, self._symbols = elf.sections, elf.symbols
        if elf.kind != _RELOCATABLE or elf.machine != _X86_64 or not self._symbols:
            raise _NotExpected
        if any(_FIRST_RESERVED <= symbol.section != _ABSOLUTE for symbol in self._symbols):
            raise _NotExpected
        self._slots: dict[str, int] = {}
        self._process = ctypes.CDLL(None)

    def link(self) -> LinkedObject:
        if any(section.name.startswith((".debug", ".init_array", ".ctors")) for section in self._sections):
            raise _NotExpected
        places, code_nbytes, nbytes = self._lay_out()
        memory = mmap.mmap(-1, nbytes)
        base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self._memory, self._base = memory, base
        self._addresses = {index: base + place for index, place in places.items()}
        for index, place in places.items():
            section = self._sections[index]
            if section.kind != _NO_BITS:
                memory[place : place + section.nbytes] = self._data[section.offset : section.offset + section.nbytes]
        for section in self._sections:
            if section.kind == _WITH_ADDENDS and section.info in places:
                self._relocate(section)
        # Code is never writable while it can run.
        if self._process.mprotect(ctypes.c_void_p(base), ctypes.c_size_t(code_nbytes), mmap.PROT_READ | mmap.PROT_EXEC):
            raise _NotExpected
        defined = (symbol for symbol in self._symbols if symbol.name and symbol.section in self._addresses)
        return LinkedObject({one.name: self._addresses[one.section] + one.value for one in defined}, memory)

    def _lay_out(self) -> tuple[dict[int, int], int, int]:
        """Where each section goes, how many bytes from the start can be executed, and how many there are in all: code,
        slots for functions of the process, then on pages of their own the data."""
        loaded = [
            index
            for index, section in enumerate(self._sections)
            if section.flags & _IN_MEMORY and section.nbytes and section.name != _UNWIND_TABLES
        ]
        if any(self._sections[index].flags & _THREAD_LOCAL for index in loaded):
            raise _NotExpected
        places: dict[int, int] = {}
        end = 0
        for index in (one for one in loaded if self._sections[one].flags & _EXECUTABLE):
            end = self._place(index, end, places)
        self._next_slot = round_up(end, 16)
        code_nbytes = round_up(self._next_slot + _STUB_NBYTES * len(self._symbols), mmap.PAGESIZE)
        end = code_nbytes
        for index in (one for one in loaded if one not in places):
            end = self._place(index, end, places)
        return places, code_nbytes, max(end, 1)

    def _place(self, index: int, end: int, places: dict[int, int]) -> int:
        section = self._sections[index]
        if section.align_nbytes > mmap.PAGESIZE:
            raise _NotExpected
        places[index] = round_up(end, section.align_nbytes)
        return places[index] + section.nbytes

    def _relocate(self, table: Section) -> None:
        start = self._addresses[table.info]
        for at in range(table.offset, table.offset + table.nbytes, _RELOCATION.size):
            offset, info, addend = _RELOCATION.unpack_from(self._data, at)
            kind, symbol, place = info & 0xFFFFFFFF, self._symbols[info >> 32], start + offset
            if kind == _R_64:
                self._put("<q", place, self._address_of(symbol) + addend)
            elif kind == _R_PC64:
                self._put("<q", place, self._address_of(symbol) + addend - place)
            elif kind == _R_PC32 and symbol.section != UNDEFINED:
                self._put("<i", place, self._address_of(symbol) + addend - place)
            elif kind == _R_PLT32:
                target = self._stub_of(symbol) if symbol.section == UNDEFINED else self._address_of(symbol)
                self._put("<i", place, target + addend - place)
            elif kind in _R_GOT:
                self._put("<i", place, self._stub_of(symbol) + len(_FAR_JUMP) + addend - place)
            else:
                raise _NotExpected

    def _put(self, form: str, address: int, value: int) -> None:
        struct.pack_into(form, self._memory, address - self._base, value)

    def _stub_of(self, symbol: Symbol) -> int:
        """A jump to a function that may be too far for 32 bits; behind the jump lies the slot with its address."""
        key = f"{symbol.section}:{symbol.name}:{symbol.value}"
        if key not in self._slots:
            self._slots[key] = self._base + self._next_slot
            self._memory[self._next_slot : self._next_slot + len(_FAR_JUMP)] = _FAR_JUMP
            self._put("<q", self._slots[key] + len(_FAR_JUMP), self._address_of(symbol))
            self._next_slot += _STUB_NBYTES
        return self._slots[key]

    def _address_of(self, symbol: Symbol) -> int:
        if symbol.section == _ABSOLUTE:
            return symbol.value
        if symbol.section != UNDEFINED:
            return self._addresses[symbol.section] + symbol.value
        try:
            address = ctypes.cast(self._process[symbol.name], ctypes.c_void_p).value
        except AttributeError:
            address = None
        if not address:
            raise _NotExpected
        return address
