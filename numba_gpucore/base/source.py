"""The content of Python modules that a kernel depends on. Before: module names. After: Artifact, cache.

Used when a kernel is compiled and again when it is found in the cache.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from functools import lru_cache

from numba_gpucore.base.artifact import SourceCheck
from numba_gpucore.base.digest import blake2b
from numba_gpucore.base.versions import version_of


def is_unchanged(source: SourceCheck) -> bool:
    """Whether what a kernel was compiled with is there as it was."""
    current = version_of(source.module) if source.is_version else digest_module_source(source.module)
    return current == source.source_digest


def digest_module_source(module_name: str) -> str:
    """A digest of the module's source file; empty if it has none or cannot be found."""
    path = source_path(module_name)
    try:
        status = os.stat(path)
        return _digest_file(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return ""


@lru_cache(maxsize=1024)
def _digest_file(path: str, _mtime_ns: int, _nbytes: int) -> str:
    """Read once while it stays as it is: several kernels ask."""
    with open(path, "rb") as file:
        return blake2b(file.read(), digest_size=20).hexdigest()


def source_path(module_name: str) -> str:
    """The module's file; empty if it has none or cannot be found."""
    module = sys.modules.get(module_name)
    if module is not None:
        return getattr(module, "__file__", None) or ""
    try:
        spec = importlib.util.find_spec(module_name)
    except Exception:  # this imports the package that the module is in, and runs what its author wrote
        return ""
    return (spec.origin if spec is not None else None) or ""
