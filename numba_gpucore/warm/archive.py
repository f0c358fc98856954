"""The cache's files in a tar file, to carry to another machine. Before: warm.command. After: launch.cache.

An archive is a plain tar of them: kernels, and implementations of Numba's functions. What comes in is checked: whoever
wrote the archive is trusted with machine code (as with any package), but damage and foreign files are refused, and
names cannot lead out of the cache folder.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from numba_gpucore.base.key import digest_key_text
from numba_gpucore.launch.cache import ENTRY_SUFFIX, OVERLOAD_SUFFIX, DiskCache
from numba_gpucore.launch.entry_file import DamagedEntry, check_entry
from numba_gpucore.launch.overload_files import versions_of_overload


@dataclass(frozen=True)
class ImportReport:
    """How many entries were taken, and for each other file its name and why it was refused."""

    n_taken: int
    refusals: tuple[str, ...]


def export_entries(cache: DiskCache, path: Path) -> int:
    """Write every whole entry into a tar file, of which there is all or nothing; how many. Raises OSError."""
    cache.require_readable()
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        with tarfile.open(unfinished, "w") as archive:
            files = read_files([*cache.entries(), *cache.overloads()])
            n_written = sum(_add(archive, name, data) for name, data, _status in files)
        unfinished.replace(path)
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return n_written


def read_files(paths: Sequence[str]) -> Iterator[tuple[str, bytes, os.stat_result]]:
    """Names and contents of those files of the cache that are still there: other processes make room at any time."""
    for path in map(Path, paths):
        try:
            found = path.name, path.read_bytes(), path.stat()
        except FileNotFoundError:
            continue
        yield found


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> bool:
    """Add a file of the cache, if it is whole."""
    if _objection_to(name, data) is not None:
        return False
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))
    return True


def import_entries(cache: DiskCache, path: Path) -> ImportReport:
    """Take the entries of a tar file that are whole. Raises OSError, also where the file is no tar file."""
    n_taken, refusals = 0, []
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                data = b"" if file is None else file.read()
                objection = _objection_to(member.name, data) if file is not None else "it is not a plain file"
                if objection is None and not cache.store_data(member.name, data):
                    objection = f"{cache.folder} does not take it"
                if objection is None:
                    n_taken += 1
                else:
                    refusals.append(f"{member.name}: {objection}")
    except tarfile.TarError as error:
        raise OSError(f"{path} is not an archive of cache entries: {error}") from error
    return ImportReport(n_taken, tuple(refusals))


def _objection_to(name: str, data: bytes) -> str | None:
    """Why a file is none of the cache's; None if it is: whole, and named by the digest of its key."""
    try:
        if name.endswith(OVERLOAD_SUFFIX):
            versions_of_overload(name, data)
            return None
        key_text = check_entry(data)
    except DamagedEntry as damage:
        return str(damage)
    return None if name == digest_key_text(key_text) + ENTRY_SUFFIX else "its name is not that of its key"
