"""What our own source is, which decides machine code as much as a kernel's does. Before: files. After: cache keys.

A wheel carries the digest, which the build hook of our own package writes. In a checkout the files are read when one of
them has changed: `state_of_own_source` tells cheaply whether that is so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from numba_gpucore.base.digest import blake2b
from numba_gpucore.base.versions import OWN_PACKAGES

#: In a wheel's numba_gpucore.
DIGEST_FILE = "own_source_digest.txt"
_SUFFIXES = (".py", ".ll", ".msl")
_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(__file__))


def read_shipped_digest() -> str | None:
    """The digest that the wheel carries; None in a checkout."""
    try:
        with open(os.path.join(_PACKAGE_FOLDER, DIGEST_FILE), encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def digest_own_source() -> str:
    """A digest of the content of every source file: 2 to 10 ms."""
    total = blake2b(digest_size=20)
    for name, entry in _source_files():
        with open(entry.path, "rb") as file:
            data = file.read()
        total.update(f"{name} {len(data)}:".encode())
        total.update(data)
    return total.hexdigest()


def state_of_own_source() -> str:
    """A digest of the names, sizes and times of the files, so it differs when their content does: below 1 ms."""
    states = []
    for name, entry in _source_files():
        status = entry.stat()
        states.append(f"{name} {status.st_size} {status.st_mtime_ns} {status.st_ino}")
    return blake2b("\n".join(states).encode(), digest_size=20).hexdigest()


def _source_files() -> Iterator[tuple[str, os.DirEntry[str]]]:
    root = os.path.dirname(_PACKAGE_FOLDER)
    pending = [name for name in OWN_PACKAGES if os.path.isdir(os.path.join(root, name))]
    while pending:
        folder = pending.pop(0)
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                name = f"{folder}/{entry.name}"
                if entry.name.endswith(_SUFFIXES):
                    yield name, entry
                elif "." not in entry.name and not entry.name.startswith("__") and entry.is_dir():
                    pending.append(name)
