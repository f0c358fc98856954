"""Rewrites that a program has registered with Numba: code that takes part in compiling whatever is compiled. Before:
Numba's registry, if Numba is loaded. After: store, since what is compiled beside them is another kernel.
"""

from __future__ import annotations

import sys
from typing import Any

from numba_gpucore.base.source import digest_module_source
from numba_gpucore.base.versions import VERSIONED_PACKAGES


def registered_rewrites() -> tuple[tuple[str, str], ...]:
    """The program's rewrites in order: kind and class, and a digest of its module's source, empty if there is none."""
    registry: Any = getattr(sys.modules.get("numba.core.rewrites"), "rewrite_registry", None)
    if registry is None:
        return ()
    return tuple(
        (f"{kind} {rewrite.__module__}:{rewrite.__qualname__}", digest_module_source(rewrite.__module__))
        for kind, rewrites in sorted(registry.rewrites.items())
        for rewrite in rewrites
        if rewrite.__module__.partition(".")[0] not in VERSIONED_PACKAGES
    )
