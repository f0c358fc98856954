"""Under which name a compiled kernel is kept. Before: fingerprint, signature, options. After: launch.cache.

A key is text made of all its fields, so that a new field cannot be forgotten; entries keep the text and are compared
by it, so that a digest collision is a miss.
"""

from __future__ import annotations

import dataclasses

from numba_gpucore.base.digest import blake2b
from numba_gpucore.base.late_json import to_json
from numba_gpucore.base.records import dataclass


@dataclass(frozen=True)
class CacheKey:
    """All that decides the machine code of a kernel.

    fingerprint: launch.fingerprint of the function and its callees. versions: (name, version) of NumPy, Numba,
    llvmlite, this package and the vendor tools; finished machine text stays valid without them, so the read-only layer
    that packages ship leaves them out.
    """

    fingerprint: str
    kernel_name: str
    signature: tuple[str, ...]
    options: str
    target: str
    backend: str
    arch: str
    launch_abi: int
    bytecode_magic: str
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        return to_json(dataclasses.asdict(self), sort_keys=True)

    @property
    def digest(self) -> str:
        """File name of the entry: 40 hex digits."""
        return digest_key_text(self.text)

    def without_versions(self) -> CacheKey:
        """The key of the same kernel in a layer that outlives upgrades."""
        return dataclasses.replace(self, versions=())


def digest_key_text(text: str) -> str:
    """`CacheKey.digest` of the key that has this text."""
    return blake2b(text.encode(), digest_size=20).hexdigest()
