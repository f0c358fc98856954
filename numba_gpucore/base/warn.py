"""Warnings that point at the user's line. Before: whoever has one. After: Python's warnings."""

from __future__ import annotations

import sys
import warnings

_OWN_MODULES = ("numba_gpucore.", "numba_ptxplus", "numba_metal")


def warn_at_users_line(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is not ours."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OWN_MODULES):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
