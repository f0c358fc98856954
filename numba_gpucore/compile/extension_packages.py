"""Installed packages that extend Numba by its entry point `numba_extensions`. Before: run_passes. After: registries.

Numba loads them before it compiles for the CPU, numba-cuda with the first kernel. Here they are loaded where a program
does not compile without: looking for them takes 20 ms of a session's first launch, and the packages take theirs.
"""

from __future__ import annotations

from numba.core import entrypoints

from numba_gpucore.compile.numba_api import templates


def load_extension_packages() -> bool:
    """Load them; True where that has made something known to type inference that was not known before."""
    before = _count_registrations()
    entrypoints.init_all()
    return _count_registrations() > before


def _count_registrations() -> int:
    registry = templates.builtin_registry
    return len(registry.functions) + len(registry.attributes) + len(registry.globals)
