"""How a cache entry lies on disk. Before: cache.store. After: cache.find.

`MAGIC`, the header's length (8 bytes, little-endian), the header (JSON, UTF-8), then the machine code as it is. The
header holds the whole key, so that an entry explains itself, a checksum of the code and one of the header. There is no
pickle: reading a hostile entry can give wrong machine code, never run code by itself; see `cache` for who is trusted.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import Artifact, SourceCheck
from numba_gpucore.base.digest import blake2b
from numba_gpucore.base.key import CacheKey
from numba_gpucore.base.late_json import from_json, to_json
from numba_gpucore.base.site_json import print_line_from_json, print_line_to_json, site_from_json, site_to_json

Versions = tuple[tuple[str, str], ...]

MAGIC = b"NUMBAGPU\x01\n"
_LENGTH_NBYTES = 8
_MAX_HEADER_NBYTES = 1 << 24
_KINDS: dict[str, type] = {
    **dict.fromkeys(("kernel_name", "entry", "backend", "arch"), str),
    **dict.fromkeys(("launch_abi", "shared_nbytes"), int),
}
_KINDS_OF_SOURCE: dict[str, type] = {"module": str, "source_digest": str}
_NOT_WAITING = getattr(os, "O_NONBLOCK", 0)


def open_without_waiting(path: str, flags: int) -> int:
    """An opener: a pipe in the place of a file would never answer."""
    return os.open(path, flags | _NOT_WAITING)


def delete(path: str) -> OSError | None:
    """Delete a file, which may have been deleted meanwhile; the error if that is not possible."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


class DamagedEntry(Exception):
    """The bytes are no entry, or not one that fits; the text says why."""


def encode_entry(key: CacheKey, artifact: Artifact, made_with: Versions = ()) -> bytes:
    """made_with: versions that are not in the key, for people to read."""
    header = {
        "made_with": made_with,
        "key": key.text,
        "kernel_name": artifact.kernel_name,
        "entry": artifact.entry,
        "backend": artifact.backend,
        "arch": artifact.arch,
        "launch_abi": artifact.launch_abi,
        "shared_nbytes": artifact.shared_nbytes,
        "backend_facts": artifact.backend_facts,
        "sites": [site_to_json(site) for site in artifact.sites],
        "sources": [asdict(source) for source in artifact.sources],
        "print_lines": [print_line_to_json(line) for line in artifact.print_lines],
        "code_nbytes": len(artifact.code),
        "code_digest": _digest(artifact.code),
    }
    text = to_json(header, sort_keys=True)
    signed = to_json({"header": text, "digest": _digest(text.encode())}).encode()
    return b"".join((MAGIC, len(signed).to_bytes(_LENGTH_NBYTES, "little"), signed, artifact.code))


def decode_entry(data: bytes, key: CacheKey, arg_types: tuple[ArgType, ...]) -> Artifact:
    """The Artifact in `data`. Raises DamagedEntry unless it is whole and its key is `key`."""
    header, code = read_header(data)
    if header.get("key") != key.text:
        raise DamagedEntry("it belongs to another kernel (an older format, or two keys with one digest)")
    _check_code(header, code)
    try:
        sources = tuple(SourceCheck(**source) for source in header["sources"])
        _require_kinds(header, _KINDS)
        for source in header["sources"]:
            _require_kinds(source, _KINDS_OF_SOURCE)
        return Artifact(
            kernel_name=header["kernel_name"],
            entry=header["entry"],
            backend=header["backend"],
            arch=header["arch"],
            launch_abi=header["launch_abi"],
            arg_types=arg_types,
            code=code,
            shared_nbytes=header["shared_nbytes"],
            sites=tuple(map(site_from_json, header["sites"])),
            backend_facts=tuple((name, value) for name, value in header["backend_facts"]),
            sources=sources,
            print_lines=tuple(map(print_line_from_json, header["print_lines"])),
        )
    except Exception as error:  # whatever a hostile or newer file makes of what reads it: it is none of ours
        raise DamagedEntry(f"its header lacks what it must have: {error!r}") from error


def _require_kinds(table: dict[str, Any], kinds: dict[str, type]) -> None:
    """Raise TypeError where a value of a table is of another kind, which would be an error far from here."""
    for name, kind in kinds.items():
        if type(table[name]) is not kind:
            raise TypeError(f"{name} is no {kind.__name__}")


def check_entry(data: bytes) -> str:
    """The text of the key that an entry is for. Raises DamagedEntry unless header and machine code are whole."""
    header, code = read_header(data)
    _check_code(header, code)
    key_text = header.get("key")
    if not isinstance(key_text, str):
        raise DamagedEntry("its header has no key")
    return key_text


def _check_code(header: dict[str, Any], code: bytes) -> None:
    if header.get("code_nbytes") != len(code) or header.get("code_digest") != _digest(code):
        raise DamagedEntry("its machine code is not what was stored")


def read_header(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and machine code. Raises DamagedEntry."""
    start = len(MAGIC) + _LENGTH_NBYTES
    if data[: len(MAGIC)] != MAGIC:
        raise DamagedEntry("it does not start as an entry does")
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > _MAX_HEADER_NBYTES or len(data) < start + length:
        raise DamagedEntry("it is cut off")
    try:
        signed = from_json(data[start : start + length])
        text = signed["header"]
        if signed["digest"] != _digest(text.encode()):
            raise DamagedEntry("its header is not what was stored")
        header = from_json(text)
        if not isinstance(header, dict):
            raise DamagedEntry("its header is no object of JSON")
    except DamagedEntry:
        raise
    except Exception as error:  # as above; lists in lists without end are a RecursionError
        raise DamagedEntry(f"its header cannot be read: {error!r}") from error
    return header, data[start + length :]


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=20).hexdigest()
