"""Lowered implementations of Numba's functions on disk, beside the cache's kernels. Before: store. After: compile.

A base.overload_store.OverloadStore. `python -m numba_metal warm` without a module fills it; our own wheel ships one.
A file is named by the digest of its key, which it holds in its first line. The key has the versions of Numba, llvmlite,
NumPy and our own source: those of others are never found, and go when the cache is full, since nobody uses them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence

from numba_gpucore.base.key import digest_key_text
from numba_gpucore.base.late_json import from_json, to_json
from numba_gpucore.base.versions import COMPILING_PACKAGES, version_of
from numba_gpucore.launch.cache import OVERLOAD_SUFFIX, DiskCache, decode_text
from numba_gpucore.launch.entry_file import DamagedEntry


class OverloadFiles:
    """layers: where texts are looked for, the user's first. keeps: new ones go there. own_source: a digest of ours.
    finds: False to have all made anew."""

    def __init__(
        self, layers: Sequence[DiskCache], own_source: Callable[[], str], keeps: bool = False, finds: bool = True
    ):
        self._finds = finds
        self._layers = tuple(layers)
        self._own_source = own_source
        self.keeps = keeps
        #: Files that were kept.
        self.names_kept: set[str] = set()

    def find(self, key: str) -> str | None:
        if not self._finds:
            return None
        key_text = self._key_text(key)
        name = _file_name(key_text)
        for layer in self._layers:
            found = layer.recall(name)
            if found is not None:
                found_key, _, text = found.partition("\n")
                return text if found_key == key_text else None
        return None

    def keep(self, key: str, text: str) -> None:
        if self.keeps:
            key_text = self._key_text(key)
            name = _file_name(key_text)
            self._layers[0].note(name, f"{key_text}\n{text}")
            self.names_kept.add(name)

    def has_files(self, names: Iterable[str]) -> bool:
        """Whether all files of these names are there and whole. They count as used."""
        return all(any(layer.recall(name) is not None for layer in self._layers) for name in names)

    def _key_text(self, key: str) -> str:
        return to_json(
            {
                "implementation": key,
                "versions": [(name, version_of(name)) for name in COMPILING_PACKAGES],
                "own_source": self._own_source(),
                "bytecode_magic": importlib.util.MAGIC_NUMBER.hex(),
            }
        )


def _file_name(key_text: str) -> str:
    return digest_key_text(key_text) + OVERLOAD_SUFFIX


def versions_of_overload(name: str, data: bytes) -> list[tuple[str, str]]:
    """What the implementation in a file of this name was made with. Raises DamagedEntry unless the file is whole and
    named by its key."""
    text = decode_text(data)
    if text is None:
        raise DamagedEntry("it is not what was stored")
    key_text = text.partition("\n")[0]
    if name != _file_name(key_text):
        raise DamagedEntry("its name is not that of its key")
    try:
        return [(str(package), str(version)) for package, version in from_json(key_text)["versions"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedEntry(f"its key lacks what it must have: {error!r}") from error
