"""The content of Python modules that a kernel depends on. Before: module names. After: Artifact, cache.

Used when a kernel is compiled and again when it is found in the cache.
"""

from __future__ import annotations

import importlib.util
import sys

from numba_gpucore.base.digest import blake2b


def digest_module_source(module_name: str) -> str:
    """A digest of the module's source file; empty if it has none or cannot be found."""
    try:
        with open(_source_path(module_name), "rb") as file:
            return blake2b(file.read(), digest_size=20).hexdigest()
    except OSError:
        return ""


def _source_path(module_name: str) -> str:
    module = sys.modules.get(module_name)
    if module is not None:
        return getattr(module, "__file__", None) or ""
    try:
        spec = importlib.util.find_spec(module_name)
    except Exception:  # this imports the package that the module is in, and runs what its author wrote
        return ""
    return (spec.origin if spec is not None else None) or ""
