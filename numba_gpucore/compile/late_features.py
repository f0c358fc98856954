"""Parts of the kernel language that few kernels use, loaded where a program first mentions one. Before: contexts.
After: typing, lower, which register what these parts mean.

Together they are a twentieth of what the compiler loads and registers for a session's first kernel.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

#: Modules with stubs in numba_gpucore; what they mean is in modules of the same names in typing and lower.
LATE_FEATURES = ("cache_hints", "cooperative_groups", "fp16", "libdevice")
_STUB_MODULES = {f"numba_gpucore.{name}": name for name in LATE_FEATURES}


def load_feature_of(value: Any) -> bool:
    """Load what types and lowers a value that a program mentions; True where there was something new to register."""
    module = getattr(value, "__module__", None)
    feature = _STUB_MODULES.get(module) if isinstance(module, str) else None
    if feature is None:
        return False
    needed = [f"numba_gpucore.compile.{step}.{feature}" for step in ("typing", "lower")]
    new = [name for name in needed if name not in sys.modules]
    for name in new:
        import_module(name)
    return bool(new)
