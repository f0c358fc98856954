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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from numba_gpucore.base.key import digest_key_text
from numba_gpucore.launch.cache import ENTRY_SUFFIX, OVERLOAD_SUFFIX, DiskCache, UntrustedFile
from numba_gpucore.launch.entry_file import DamagedEntry, check_entry
from numba_gpucore.launch.overload_files import versions_of_overload


@dataclass(frozen=True)
class CacheFile:
    """A file of the cache. data: empty where it is not taken, and objection says why. used_s: when it was used last."""

    name: str
    data: bytes
    objection: str
    used_s: float
    nbytes: int


@dataclass(frozen=True)
class CarryReport:
    """How many entries were carried, and for each other file its name and why it was not."""

    n_carried: int
    refusals: tuple[str, ...]


def read_files(cache: DiskCache, paths: Sequence[str]) -> Iterator[CacheFile]:
    """Those files of the cache that are still there: other processes make room at any time."""
    for path in paths:
        try:
            status = os.lstat(path)
            data, objection = _read(cache, path)
        except FileNotFoundError:
            continue
        yield CacheFile(os.path.basename(path), data, objection, status.st_mtime, status.st_size)


def _read(cache: DiskCache, path: str) -> tuple[bytes, str]:
    """What is in a file, or why it is not taken. Raises FileNotFoundError."""
    try:
        return cache.read(path), ""
    except FileNotFoundError:
        raise
    except UntrustedFile as untrusted:
        return b"", str(untrusted).removeprefix(f"{path} ")
    except OSError as error:
        return b"", f"it cannot be read: {error.strerror or error}"


def export_entries(cache: DiskCache, path: Path) -> CarryReport:
    """Write every whole entry into a tar file, of which there is all or nothing. Raises OSError."""
    cache.require_readable()
    cache.require_trustworthy()
    if path.is_dir():
        raise IsADirectoryError(f"{path} cannot be written: it is a folder")
    unfinished = path.with_name(path.name + ".unfinished")
    n_carried, refusals = 0, []
    try:
        with tarfile.open(unfinished, "w") as archive:
            # Files of the cache that cannot be read are no errors here: what is raised is about the archive.
            for file in read_files(cache, [*cache.entries(), *cache.overloads()]):
                objection = file.objection or _objection_to(file.name, file.data)
                if objection:
                    refusals.append(f"{file.name}: {objection}")
                    continue
                member = tarfile.TarInfo(file.name)
                member.size = len(file.data)
                archive.addfile(member, io.BytesIO(file.data))
                n_carried += 1
        unfinished.replace(path)
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return CarryReport(n_carried, tuple(refusals))


def import_entries(cache: DiskCache, path: Path) -> CarryReport:
    """Take the entries of a tar file that are whole. Raises OSError, also where the file is no tar file."""
    n_carried, refusals = 0, []
    try:
        with tarfile.open(path, "r:") as archive:
            cache.require_writable()
            for member in archive:
                objection = _import_member(cache, archive, member)
                if not objection:
                    n_carried += 1
                else:
                    refusals.append(f"{member.name}: {objection}")
    except tarfile.TarError as error:
        raise OSError(f"{path} is not an archive of cache entries: {error}") from error
    return CarryReport(n_carried, tuple(refusals))


def _import_member(cache: DiskCache, archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    """Empty where the cache takes a file of an archive, else the reason why not."""
    # A sparse file may say that it is of any size, and is made of zeros in memory.
    file = archive.extractfile(member) if member.isreg() and not member.issparse() else None
    if file is None:
        return "it is not a plain file"
    objection = cache.objection_to_size(member.size)
    if objection:
        return objection
    data = file.read()
    objection = _objection_to(member.name, data)
    if objection:
        return objection
    try:
        cache.keep(member.name, data)
    except OSError as error:
        return f"{cache.folder} does not take it: {error.strerror or error}"
    return ""


def _objection_to(name: str, data: bytes) -> str:
    """Why a file is none of the cache's; empty if it is: whole, and named by the digest of its key."""
    try:
        if name.endswith(OVERLOAD_SUFFIX):
            versions_of_overload(name, data)
            return ""
        key_text = check_entry(data)
    except DamagedEntry as damage:
        return str(damage)
    return "" if name == digest_key_text(key_text) + ENTRY_SUFFIX else "its name is not that of its key"
