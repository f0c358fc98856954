"""Code of NVIDIA's compilers that a kernel is linked with. Before: `link=`, declare_device. After: key, Codegen."""

from __future__ import annotations

from numba_gpucore.base.digest import blake2b
from numba_gpucore.base.records import dataclass

#: Kind of code by the suffix of its files.
KIND_OF_SUFFIX = {
    ".ptx": "ptx", ".cubin": "cubin", ".fatbin": "fatbin", ".o": "object", ".obj": "object", ".a": "archive",
    ".lib": "archive", ".ltoir": "ltoir", ".cu": "cuda",
}  # fmt: skip


def suffixes_of(kind: str) -> tuple[str, ...]:
    """The suffixes of files of that kind."""
    return tuple(suffix for suffix, one in KIND_OF_SUFFIX.items() if one == kind)


@dataclass(frozen=True)
class LinkedCode:
    """The content of a file. Its text, which stands in cache keys, has a digest of the content."""

    name: str
    kind: str
    data: bytes

    def __repr__(self) -> str:
        return f"{self.kind} {self.name} {blake2b(self.data, digest_size=16).hexdigest()}"
