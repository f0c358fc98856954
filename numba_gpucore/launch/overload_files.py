"""Lowered implementations of Numba's functions on disk, beside the cache's entries. Before: store. After: compile.

A base.overload_store.OverloadStore. `python -m numba_metal warm` without a module fills it; our own wheel ships one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence

from numba_gpucore.base.key import digest_key_text
from numba_gpucore.base.versions import COMPILING_PACKAGES, version_of
from numba_gpucore.launch.cache import DiskCache

_SUFFIX = "_implementation"


class OverloadFiles:
    """layers: where texts are looked for, the user's first. keeps: new ones go there. own_source: a digest of ours."""

    def __init__(self, layers: Sequence[DiskCache], own_source: Callable[[], str], keeps: bool = False):
        self._layers = tuple(layers)
        self._own_source = own_source
        self._keeps = keeps

    def find(self, key: str) -> str | None:
        name = self._name_of(key)
        for layer in self._layers:
            text = layer.recall(name)
            if text is not None:
                return text
        return None

    def keep(self, key: str, text: str) -> None:
        if self._keeps:
            self._layers[0].note(self._name_of(key), text)

    def _name_of(self, key: str) -> str:
        versions = " ".join(map(version_of, COMPILING_PACKAGES))
        parts = (key, versions, self._own_source(), importlib.util.MAGIC_NUMBER.hex())
        return digest_key_text("\n".join(parts)) + _SUFFIX
