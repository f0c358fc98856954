"""Warnings that point at the user's line. Before: whoever has one. After: Python's warnings."""

from __future__ import annotations

import sys
import warnings

from numba_gpucore.base.versions import OWN_PACKAGES


def warn_at_users_line(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is not ours."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module_name: str) -> bool:
    return module_name.partition(".")[0] in OWN_PACKAGES
