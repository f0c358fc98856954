"""Where NVIDIA's tools are: libdevice, ptxas, nvdisasm. Before: the environment. After: codegen, the cache key.

Looked for in this order: CUDA_HOME and CUDA_PATH, the `nvidia-*` wheels, PATH, /usr/local/cuda. Standard library only,
and no tool is run here, because every warm start asks for `toolchain_id`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from numba_gpucore.base.digest import blake2b

#: The wheel that brings each tool.
LIBDEVICE_PACKAGE = "nvidia-nvvm"
PTXAS_PACKAGE = "nvidia-cuda-nvcc"
NVDISASM_PACKAGE = "nvidia-cuda-nvdisasm"
NVJITLINK_PACKAGE = "nvidia-nvjitlink"

_LIBDEVICE = "nvvm/libdevice/libdevice.10.bc"
_IDENTIFIED_NBYTES = 65536


def _toolkit_roots() -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    for folder in sys.path:
        # nvidia/cu13 since CUDA 13; nvidia/cuda_nvcc and the like before
        yield from sorted(_find(Path(folder or ".", "nvidia"), "cu*"), reverse=True)
    yield Path("/usr/local/cuda")


def find_libdevice(roots: Iterable[Path] | None = None) -> Path | None:
    """roots: of tool kits, where they are known already."""
    candidates = (root / _LIBDEVICE for root in roots or _toolkit_roots())
    return next(filter(_can_be_read, candidates), None)


def find_nvjitlink(roots: Iterable[Path] | None = None) -> Path | None:
    """The library of NVIDIA's linker."""
    folders = ("lib", "lib64", "bin", "bin/x64")
    found = (
        path for root in roots or _toolkit_roots() for folder in folders for path in _find(root / folder, "*nvJitLink*")
    )
    return next(filter(_can_be_read, found), None)


def find_tools(name: str, roots: Iterable[Path] | None = None) -> tuple[Path, ...]:
    """Every executable of that name, without duplicates."""
    suffix = ".exe" if sys.platform == "win32" else ""
    found = [root / "bin" / (name + suffix) for root in roots or _toolkit_roots()]
    on_path = shutil.which(name)
    if on_path:
        found.append(Path(on_path))
    return tuple(dict.fromkeys(path.resolve() for path in found if _can_be_read(path) and os.access(path, os.X_OK)))


def _find(folder: Path, pattern: str) -> list[Path]:
    """What is in a folder; nothing where it is closed to this user."""
    with suppress(PermissionError):
        return list(folder.glob(pattern))
    return []


def _can_be_read(path: Path) -> bool:
    """Whether a file is there for this user: Path.is_file raises where a folder is closed to them."""
    return os.path.isfile(path) and os.access(path, os.R_OK)


def _identify(path: Path) -> str:
    """A short content id without path and time: its size and first bytes, which hold an executable's build id."""
    with path.open("rb") as file:
        digest = blake2b(file.read(_IDENTIFIED_NBYTES), digest_size=8)
    digest.update(path.stat().st_size.to_bytes(8, "little"))
    return digest.hexdigest()


def toolchain_id() -> str:
    """Names every file that decides the machine code of a kernel, by content."""
    roots = tuple(_toolkit_roots())
    libdevice = find_libdevice(roots)
    parts = [f"libdevice {_identify(libdevice)}"] if libdevice else []
    parts += [f"{name} {_identify(path)}" for name in ("ptxas", "nvcc") for path in find_tools(name, roots)]
    linker = find_nvjitlink(roots)
    if linker is not None:
        parts.append(f"nvjitlink {_identify(linker)}")
    return ", ".join(parts)
