"""Installed packages that extend Numba by its entry point `numba_extensions`. Before: run_passes. After: registries.

Numba loads them before it compiles for the CPU, numba-cuda with the first kernel. Here they are loaded where a program
does not compile without: looking for them takes 20 ms of a session's first launch, and the packages take theirs.
"""

from __future__ import annotations

from numba.extending import typeof_impl

from numba_gpucore.compile.numba_api import entrypoints, imputils, templates


def load_extension_packages() -> bool:
    """Load them; True where that has made something known to Numba that was not known before."""
    before = _count_registrations()
    entrypoints.init_all()
    return _count_registrations() != before


def _count_registrations() -> tuple[int, ...]:
    typing, lowering = templates.builtin_registry, imputils.builtin_registry
    typed = (typing.functions, typing.attributes, typing.globals, typeof_impl.registry)
    lowered = (lowering.functions, lowering.getattrs, lowering.setattrs, lowering.casts, lowering.constants)
    return tuple(map(len, (*typed, *lowered)))
