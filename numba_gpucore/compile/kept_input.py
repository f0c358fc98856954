"""LLVM's refusals, with what it was given kept on disk. Before: linking, code generators. After: the user."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba_gpucore.base.errors import GpuError, ToolchainError


def keep_input(text: str, name: str, suffix: str) -> str:
    """Save text that a tool refused where the user can find it, and return the file's path."""
    plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    with tempfile.NamedTemporaryFile(
        "w", prefix=f"numba_refused_{plain}_", suffix=suffix, encoding="utf-8", delete=False
    ) as file:
        file.write(text)
    return file.name


@contextmanager
def keeping_input(kernel_name: str, make_text: Callable[[], str]) -> Iterator[None]:
    """Turn what llvmlite raises into a ToolchainError that names a file with the LLVM assembly of `make_text`."""
    try:
        yield
    except GpuError:
        raise
    except RuntimeError as error:
        path = keep_input(make_text(), kernel_name, ".ll")
        raise ToolchainError(
            f"LLVM refused kernel '{kernel_name}', whose device IR is kept in {path}; please report it with the "
            f"kernel's source: {error}"
        ) from error
