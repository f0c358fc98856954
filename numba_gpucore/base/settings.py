"""What the environment says. Before: os.environ. After: session, jit, CPU device."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from numba_gpucore.base.errors import OptionError


@dataclass(frozen=True)
class Settings:
    """Read when a session starts.

    boundscheck: NUMBA_BOUNDSCHECK, None if unset. num_threads: NUMBA_NUM_THREADS, else the cores this process may use.
    dump_folder: NUMBA_GPU_DUMP, a folder that gets every stage of every kernel.
    """

    boundscheck: bool | None
    num_threads: int
    dump_folder: str | None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        return cls(
            boundscheck=_flag(environ, "NUMBA_BOUNDSCHECK"),
            num_threads=_count(environ, "NUMBA_NUM_THREADS") or usable_cores(),
            dump_folder=environ.get("NUMBA_GPU_DUMP") or None,
        )


def usable_cores() -> int:
    """Cores that this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _flag(environ: Mapping[str, str], name: str) -> bool | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if text not in ("0", "1"):
        raise OptionError(f"{name} must be 0 or 1, not {text!r}")
    return text == "1"


def _count(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise OptionError(f"{name} must be a whole number from 1 on, not {text!r}")
    return int(text)
