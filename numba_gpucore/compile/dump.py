"""Every stage of a compilation as files, for whoever looks into it (NUMBA_GPU_DUMP). Before: driver. After: nothing."""

from __future__ import annotations

from pathlib import Path

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.digest import blake2b


class StageDump:
    """Writes into `<folder>/<kernel>-<digest of types, target and back-end>`; into nothing where `folder` is None."""

    def __init__(self, request: CompileRequest, folder: str | None):
        self._folder = None if folder is None else Path(folder) / _name(request)
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, content: object) -> None:
        """A stage's text, or its bytes."""
        if self._folder is None:
            return
        data = content if isinstance(content, bytes) else str(content).encode("utf-8")
        (self._folder / name).write_bytes(data)


def _name(request: CompileRequest) -> str:
    facts = (request.target.name, request.backend, request.arch, request.options, *map(str, request.arg_types))
    digest = blake2b(repr(facts).encode(), digest_size=4).hexdigest()
    plain = "".join(c if c.isalnum() or c in "._" else "_" for c in request.py_func.__qualname__)
    return f"{plain}-{request.backend}-{digest}"
