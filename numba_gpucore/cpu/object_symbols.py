"""Which symbols a relocatable object expects from the process. Before: code of an Artifact. After: loader.

MCJIT jumps to address 0 where a symbol is missing, so each is looked up before. Formats: `elf`; Apple, mach-o/loader.h
and nlist.h; Microsoft, PE Format, "COFF Symbol Table".
"""

from __future__ import annotations

import struct

from numba_gpucore.cpu.elf import UNDEFINED, is_elf64, read_elf

_MACHO64_HEADER = struct.Struct("<8I")
_MACHO_SYMTAB = struct.Struct("<6I")
_MACHO_NLIST = struct.Struct("<IBBHQ")
_MACHO64_MAGIC = 0xFEEDFACF
_MACHO_LC_SYMTAB = 2
_MACHO_TYPE_MASK = 0xEE  # N_STAB and N_TYPE; undefined symbols have neither
_COFF_HEADER = struct.Struct("<HHIIIHH")
_COFF_SYMBOL = struct.Struct("<8sIhHBB")
_COFF_MACHINES = (0x8664, 0xAA64)
_COFF_EXTERNAL = 2


def undefined_symbols(data: bytes) -> tuple[str, ...]:
    """Names as C spells them, sorted. Raises ValueError for what is no 64-bit little-endian object, and one of
    elf.DAMAGE_ERRORS for one that is damaged."""
    if is_elf64(data):
        names = [symbol.name for symbol in read_elf(data).symbols if symbol.section == UNDEFINED and symbol.name]
    elif data[:4] == _MACHO64_MAGIC.to_bytes(4, "little"):
        names = _macho_names(data)
    elif int.from_bytes(data[:2], "little") in _COFF_MACHINES:
        names = _coff_names(data)
    else:
        raise ValueError(f"not an ELF, Mach-O or COFF object: it starts with {data[:8].hex()}")
    return tuple(sorted(set(names)))


def _text_at(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()


def _macho_names(data: bytes) -> list[str]:
    command_count = _MACHO64_HEADER.unpack_from(data)[4]
    at, names = _MACHO64_HEADER.size, []
    for _ in range(command_count):
        command, nbytes = struct.unpack_from("<II", data, at)
        if command == _MACHO_LC_SYMTAB:
            _, _, symbols_offset, symbol_count, texts_offset, _ = _MACHO_SYMTAB.unpack_from(data, at)
            for i in range(symbol_count):
                name, kind, _section, _desc, value = _MACHO_NLIST.unpack_from(
                    data, symbols_offset + i * _MACHO_NLIST.size
                )
                if not kind & _MACHO_TYPE_MASK and value == 0:
                    names.append(_text_at(data, texts_offset + name).removeprefix("_"))
        at += nbytes
    return names


def _coff_names(data: bytes) -> list[str]:
    header = _COFF_HEADER.unpack_from(data)
    symbols_offset, symbol_count = header[3], header[4]
    texts_offset = symbols_offset + symbol_count * _COFF_SYMBOL.size
    i, names = 0, []
    while i < symbol_count:
        name, value, section, _type, storage, more = _COFF_SYMBOL.unpack_from(
            data, symbols_offset + i * _COFF_SYMBOL.size
        )
        if section == 0 and value == 0 and storage == _COFF_EXTERNAL:
            is_long = name[:4] == b"\0\0\0\0"
            offset = texts_offset + int.from_bytes(name[4:], "little")
            names.append(_text_at(data, offset) if is_long else name.rstrip(b"\0").decode())
        i += 1 + more
    return names
