"""Reads objects of 64-bit little-endian ELF systems. Before: code of an Artifact. After: elf_loader, object_symbols.

Source: System V ABI, "Object Files".
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from numba_gpucore.base.records import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_IDENTITY = b"\x7fELF\x02\x01"  # 64 bits, little-endian
_SYMBOL_TABLE = 2
#: Section of symbols that the object expects from elsewhere.
UNDEFINED = 0
#: What reading a damaged object raises, here and in what builds on this.
DAMAGE_ERRORS = (struct.error, ValueError, LookupError, OverflowError)


@dataclass(frozen=True)
class Section:
    """offset and nbytes: where its content lies in the object."""

    name: str
    kind: int
    flags: int
    offset: int
    nbytes: int
    link: int
    info: int
    align_nbytes: int


class Symbol(NamedTuple):
    """section: the index of the one that holds it, UNDEFINED, or another reserved number."""

    name: str
    section: int
    value: int


@dataclass(frozen=True)
class ElfObject:
    kind: int
    machine: int
    sections: list[Section]
    symbols: list[Symbol]


def is_elf64(data: bytes) -> bool:
    return data[: len(_IDENTITY)] == _IDENTITY


def read_elf(data: bytes) -> ElfObject:
    """Raises one of DAMAGE_ERRORS for an object that is damaged."""
    _identity, kind, machine, _version, _entry, _programs, offset, *rest = _HEADER.unpack_from(data)
    _flags, _header_nbytes, _program_nbytes, _n_programs, entry_nbytes, count, names = rest
    rows = [_SECTION.unpack_from(data, offset + i * entry_nbytes) for i in range(count)]
    sections = [
        Section(_text_at(data, rows[names][4] + name), kind, flags, start, nbytes, link, info, max(1, align))
        for name, kind, flags, _address, start, nbytes, link, info, align, _entry in rows
    ]
    tables = (section for section in sections if section.kind == _SYMBOL_TABLE)
    symbols = [symbol for table in tables for symbol in _read_symbols(data, table, sections[table.link].offset)]
    return ElfObject(kind, machine, sections, symbols)


def _read_symbols(data: bytes, table: Section, texts_offset: int) -> list[Symbol]:
    rows = (_SYMBOL.unpack_from(data, table.offset + at) for at in range(0, table.nbytes, _SYMBOL.size))
    return [
        Symbol(_text_at(data, texts_offset + name), section, value)
        for name, _info, _other, section, value, _nbytes in rows
    ]


def _text_at(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()
