"""Compiled kernels on disk. Before: kernel (a type not yet in its table). After: Device.load, or miss on a miss.

One file an entry, named by the key's digest. Writing is a temporary file, then a rename, so readers see whole entries
only. Whatever is wrong with a folder or a file is a miss and at most one warning a folder: never an error, never a
wrong kernel. Entries are machine code, so folders and files that another user owns or can write are refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.errors import CacheWarning
from numba_gpucore.base.key import CacheKey, digest_key_text
from numba_gpucore.base.records import dataclass, field
from numba_gpucore.base.source import is_unchanged
from numba_gpucore.base.warn import warn_at_users_line
from numba_gpucore.launch.entry_file import (
    DamagedEntry,
    Versions,
    decode_entry,
    delete,
    encode_entry,
    open_without_waiting,
)
from numba_gpucore.launch.entry_lock import LOCK_TIMEOUT_S, lock_held

ENTRY_SUFFIX = ".gpukernel"
#: Implementations of Numba's functions (overload_files).
OVERLOAD_SUFFIX = ".gpuoverload"
#: NUMBA_CACHE_DIR may be a folder that a user has other files in: what ends like this is ours, and nothing else.
_TEXT_SUFFIX = ".gputext"
_LOCK_SUFFIX = ".gpulock"
_TEMPORARY_SUFFIX = ".gputemporary"
_COUNTED_SUFFIXES = (ENTRY_SUFFIX, OVERLOAD_SUFFIX, _TEXT_SUFFIX)
#: A temporary file this old belongs to a process that died.
_TEMPORARY_TIMEOUT_S = 3600.0
#: How far the clocks of a file server and of those who use it may be apart.
_LARGEST_SKEW_NS = 3600 * 10**9
#: Windows turns line ends into its own without it.
_BINARY = getattr(os, "O_BINARY", 0)
_LEFTOVER_TIMEOUTS_S = {_TEMPORARY_SUFFIX: _TEMPORARY_TIMEOUT_S, _LOCK_SUFFIX: LOCK_TIMEOUT_S}
#: Listing the folder for each file that is written takes longer than writing it. A process lists it with its first
#: write, and again when it has written this part of the limit; what so many processes can have written since the last
#: listing is left free, so that they keep the limit together.
_PARTS_OF_LIMIT = 640
_N_PROCESSES_AT_ONCE = 20
_UNTRUSTED = "kernels are machine code, so it is ignored unless NUMBA_GPU_TRUST_CACHE=1 vouches for it"
#: The plainest reason of a miss.
NOT_THERE = "not in the cache"


@dataclass(frozen=True)
class Lookup:
    """What a search found: an Artifact and where it was, or the reason why there is none."""

    artifact: Artifact | None
    reason: str


class UntrustedFile(Exception):
    """A file that is not taken; the text says why."""


@dataclass
class DiskCache:
    """One folder of entries.

    max_nbytes: least recently used files go so that all of them fit, with room for what up to 20 processes write
    before one of them looks again. writable: False for the layer that a package ships. trusted: take entries whoever
    owns them (a shared folder that an environment variable vouches for).
    """

    folder: str
    max_nbytes: int = 1 << 30
    writable: bool = True
    trusted: bool = False
    _warned: bool = field(default=False, repr=False)
    _nbytes_before_listing: int = field(default=0, repr=False)

    def path_of(self, key: CacheKey) -> str:
        return self._path(key.digest + ENTRY_SUFFIX)

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def find(self, key: CacheKey, arg_types: tuple[ArgType, ...]) -> Lookup:
        """The entry for a key, if it is there, whole, trustworthy and made from the sources as they are now."""
        path = self.path_of(key)
        try:
            data = self.read(path)
        except FileNotFoundError:
            return Lookup(None, NOT_THERE)
        except UntrustedFile as objection:
            return self._refuse(str(objection))
        except OSError as error:
            return self._refuse(f"{path} cannot be read: {error.strerror or error}")
        try:
            artifact = decode_entry(data, key, arg_types)
        except DamagedEntry as damage:
            return self._refuse(f"{path} is ignored: {damage}")
        for source in artifact.sources:
            if not is_unchanged(source):
                return Lookup(None, f"module {source.module}, which its overloads come from or import, has changed")
            # Without Numba no module has registered overloads; with it, those that are loaded have, perhaps others.
            if source.needs_loading and "numba.core" in sys.modules and source.module not in sys.modules:
                return Lookup(None, f"module {source.module}, whose overloads it uses, is not loaded")
        self._mark_as_used(path)
        return Lookup(artifact, f"found in {path}")

    def _mark_as_used(self, path: str) -> None:
        if self.writable:
            with contextlib.suppress(OSError):
                os.utime(path)

    def store(self, key: CacheKey, artifact: Artifact, made_with: Versions = ()) -> str:
        """Keep an artifact; empty where the folder takes it, else, after one warning, the reason why not.

        made_with: versions that are not in the key, for people to read.
        """
        try:
            self.keep(key.digest + ENTRY_SUFFIX, encode_entry(key, artifact, made_with))
        except OSError as error:
            reason = f"compiled kernels cannot be kept in {self.folder}: {error.strerror or error}"
            self._warn(f"{reason}; each process compiles them again. NUMBA_CACHE_DIR names another folder")
            return reason
        return ""

    def keep(self, name: str, data: bytes) -> None:
        """Write a file, and make room where it may be that too little is left. Raises OSError."""
        objection = self.objection_to_size(len(data))
        if objection:
            raise OSError(errno.EFBIG, objection)
        self._write(name, data)
        self._nbytes_before_listing -= len(data)
        if self._nbytes_before_listing < 0:
            self._remove_leftovers_and_least_recently_used()
            self._nbytes_before_listing = self.max_nbytes // _PARTS_OF_LIMIT

    def objection_to_size(self, nbytes: int) -> str:
        """Why no file of this size is kept; empty where one is."""
        if nbytes <= self._room_nbytes:
            return ""
        limit = f"the folder's limit of {self.max_nbytes} allows; NUMBA_GPU_CACHE_NBYTES sets it"
        return f"{nbytes} bytes are more than {limit}"

    @property
    def _room_nbytes(self) -> int:
        """What the files may take when the folder is listed."""
        return self.max_nbytes - _N_PROCESSES_AT_ONCE * (self.max_nbytes // _PARTS_OF_LIMIT)

    def require_readable(self) -> None:
        """Raise OSError where there is a folder that cannot be read."""
        with contextlib.suppress(FileNotFoundError):
            os.listdir(self.folder)

    def require_trustworthy(self) -> None:
        """Raise PermissionError where there is a folder of which nothing is taken."""
        with contextlib.suppress(FileNotFoundError):
            self._refuse_folder_of_others()

    def require_writable(self) -> None:
        """Raise OSError where the folder does not take a file."""
        self._make_folder()
        name = f"{os.urandom(8).hex()}{_TEMPORARY_SUFFIX}"
        try:
            self._write(name, b"a file of the usual kind needs room")
        except OSError as error:
            raise OSError(f"{self.folder} cannot be written: {error.strerror or error}") from error
        os.unlink(self._path(name))

    def _write(self, name: str, data: bytes) -> None:
        """Write a file so that others see it whole or not at all. Raises OSError."""
        self._make_folder()
        temporary = self._path(f"{os.urandom(8).hex()}{_TEMPORARY_SUFFIX}")
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, self._path(name))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def remember(self, name: str, compute: Callable[[], str]) -> str:
        """A text that is computed once, where the folder takes it and can be trusted."""
        text = self.recall(name + _TEXT_SUFFIX)
        if text is None:
            text = compute()
            self.note(name + _TEXT_SUFFIX, text)
        return text

    def recall(self, name: str) -> str | None:
        """The text that `note` kept under a file name; None unless it is there, whole and to be trusted."""
        path = self._path(name)
        try:
            text = decode_text(self.read(path))
        except (OSError, UntrustedFile):
            return None
        if text is not None:
            self._mark_as_used(path)
        return text

    def note(self, name: str, text: str) -> None:
        """Keep a text under a file name, where the folder takes it."""
        with contextlib.suppress(OSError):
            self.keep(name, f"{digest_key_text(text)}\n{text}".encode())

    def being_compiled(self, key: CacheKey, is_there: Callable[[], bool]) -> contextlib.AbstractContextManager[None]:
        """Hold the entry's lock while compiling; see entry_lock."""
        return lock_held(self._path(key.digest + _LOCK_SUFFIX), is_there, self._make_folder)

    def entries(self) -> list[str]:
        """Paths of all kernels, least recently used first."""
        return self._least_recently_used(ENTRY_SUFFIX)

    def overloads(self) -> list[str]:
        """Paths of all implementations of Numba's functions, least recently used first."""
        return self._least_recently_used(OVERLOAD_SUFFIX)

    def usage(self) -> tuple[int, int]:
        """How many kernels and implementations there are, and their bytes."""
        files = self._files(ENTRY_SUFFIX, OVERLOAD_SUFFIX)
        return len(files), sum(nbytes for _time, _path, nbytes in files)

    def _least_recently_used(self, suffix: str) -> list[str]:
        return [path for _time, path, _nbytes in sorted(self._files(suffix))]

    def clear(self) -> tuple[int, list[OSError]]:
        """Delete all that is ours, and what processes that died have left; how many kernels and implementations, and
        what could not be deleted."""
        counted, others = self._files(ENTRY_SUFFIX, OVERLOAD_SUFFIX), self._files(_TEXT_SUFFIX, *_LEFTOVER_TIMEOUTS_S)
        errors = [error for error in map(delete, (path for _time, path, _nbytes in (*counted, *others))) if error]
        undeleted = {error.filename for error in errors}
        return sum(path not in undeleted for _time, path, _nbytes in counted), errors

    def _remove_leftovers_and_least_recently_used(self) -> None:
        """What belongs to processes that died, and what does not fit."""
        kept = []
        now_s = time.time()
        for used_ns, path, nbytes in self._files(*_COUNTED_SUFFIXES, *_LEFTOVER_TIMEOUTS_S):
            timeout_s = _LEFTOVER_TIMEOUTS_S.get(os.path.splitext(path)[1])
            if timeout_s is None:
                kept.append((used_ns, path, nbytes))
            elif now_s - used_ns / 1e9 >= timeout_s:
                with contextlib.suppress(OSError):
                    os.unlink(path)
        excess = sum(nbytes for _time, _path, nbytes in kept) - self._room_nbytes
        for _time, path, nbytes in sorted(kept) if excess > 0 else ():
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
                excess -= nbytes

    def _files(self, *suffixes: str) -> list[tuple[int, str, int]]:
        """For each file of these kinds when it was used last (ns), its path and its size (bytes).

        By a clock that was wrong it may have been used in a time to come. It counts as the oldest then, or it would
        outlive all that is used now.
        """
        files, end_ns = [], time.time_ns() + _LARGEST_SKEW_NS
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(suffixes):
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        used_ns = status.st_mtime_ns if status.st_mtime_ns < end_ns else 0
                        files.append((used_ns, entry.path, status.st_size))
        return files

    def read(self, path: str) -> bytes:
        """The content of a file of ours. Raises OSError, and UntrustedFile for what is none that we should take."""
        objection = self._objection_to(os.stat(self.folder), self.folder)
        with open(path, "rb", opener=open_without_waiting) as file:
            status = os.fstat(file.fileno())
            objection = objection or self._objection_to(status, path)
            if not stat.S_ISREG(status.st_mode):
                objection = objection or f"{path} is no file"
            elif status.st_size > self.max_nbytes:
                objection = objection or f"{path} is larger than all the folder may be"
            if objection:
                raise UntrustedFile(objection)
            return file.read()

    def _make_folder(self) -> None:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self._refuse_folder_of_others()

    def _refuse_folder_of_others(self) -> None:
        objection = self._objection_to(os.stat(self.folder), self.folder)
        if objection:
            raise PermissionError(objection)

    def _objection_to(self, status: os.stat_result, path: str) -> str:
        """Why a file or folder must not be trusted; empty if nothing speaks against it."""
        if self.trusted or not hasattr(os, "getuid"):
            return ""
        if status.st_uid not in (0, os.getuid()):
            return f"{path} belongs to user {status.st_uid}; {_UNTRUSTED}"
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"{path} can be written by others (chmod go-w ends that); {_UNTRUSTED}"
        return ""

    def _refuse(self, reason: str) -> Lookup:
        self._warn(f"{reason}; the kernel is compiled again")
        return Lookup(None, reason)

    def _warn(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            warn_at_users_line(text, CacheWarning)


def decode_text(data: bytes) -> str | None:
    """The text in a file that `DiskCache.note` wrote; None where it is damaged."""
    digest, _, text = data.decode("utf-8", "replace").partition("\n")
    return text if digest == digest_key_text(text) else None
