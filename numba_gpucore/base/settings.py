"""What the environment says. Before: os.environ. After: session, jit, CPU device."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.options import FLOAT64_CHOICES
from numba_gpucore.base.records import dataclass

_FOLDER_NAME = "numba-metal"
_DEFAULT_CACHE_NBYTES = 1 << 30


@dataclass(frozen=True)
class Settings:
    """Read when a session starts.

    boundscheck: NUMBA_BOUNDSCHECK, None if unset. num_threads: NUMBA_NUM_THREADS, else the cores this process may use.
    dump_folder: NUMBA_GPU_DUMP, a folder that gets every stage of every kernel. cache_folder: NUMBA_CACHE_DIR, else the
    user's own cache folder. caches_by_default: kernels that do not say `cache=` are kept, which is so when
    NUMBA_CACHE_DIR is set. cache_max_nbytes: NUMBA_GPU_CACHE_NBYTES. trusts_cache: NUMBA_GPU_TRUST_CACHE, take entries
    whoever owns them. explains_cache: NUMBA_DEBUG_CACHE, print each decision. float64: NUMBA_METAL_FLOAT64, the option
    float64 of kernels that do not give it, on targets without float64. warns_of_small_grids:
    NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS. warns_of_copies: NUMBA_CUDA_WARN_ON_IMPLICIT_COPY. Both None if unset.
    """

    boundscheck: bool | None
    num_threads: int
    dump_folder: str | None
    cache_folder: str
    caches_by_default: bool
    cache_max_nbytes: int
    trusts_cache: bool
    explains_cache: bool
    warns_of_small_grids: bool | None
    warns_of_copies: bool | None
    float64: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        return cls(
            boundscheck=_flag(environ, "NUMBA_BOUNDSCHECK"),
            num_threads=_count(environ, "NUMBA_NUM_THREADS") or usable_cores(),
            dump_folder=environ.get("NUMBA_GPU_DUMP") or None,
            # As it is now: a program may go to another folder later.
            cache_folder=os.path.abspath(environ.get("NUMBA_CACHE_DIR") or _user_cache_folder(environ)),
            caches_by_default=bool(environ.get("NUMBA_CACHE_DIR")),
            cache_max_nbytes=_count(environ, "NUMBA_GPU_CACHE_NBYTES") or _DEFAULT_CACHE_NBYTES,
            trusts_cache=bool(_flag(environ, "NUMBA_GPU_TRUST_CACHE")),
            explains_cache=bool(_flag(environ, "NUMBA_DEBUG_CACHE")),
            warns_of_small_grids=_flag(environ, "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"),
            warns_of_copies=_flag(environ, "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY"),
            float64=_choice(environ, "NUMBA_METAL_FLOAT64", FLOAT64_CHOICES),
        )


def _user_cache_folder(environ: Mapping[str, str]) -> str:
    """Where this platform keeps a user's caches. Source: XDG Base Directory Specification; Apple, Known Folders."""
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", _FOLDER_NAME)
    if sys.platform == "win32":
        return os.path.join(environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), _FOLDER_NAME)
    if not (environ.get("XDG_CACHE_HOME") or os.path.isabs(home)):
        # A user without a home, as in containers: else this would be a folder named "~" where the program was started.
        return os.path.join(environ.get("TMPDIR") or "/tmp", f"{_FOLDER_NAME}-{os.getuid()}")
    return os.path.join(environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), _FOLDER_NAME)


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


def _choice(environ: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """One of `choices`, the first if unset."""
    text = environ.get(name, "").strip() or choices[0]
    if text not in choices:
        raise OptionError(f"{name} must be {' or '.join(choices)}, not {text!r}")
    return text


def _count(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise OptionError(f"{name} must be a whole number from 1 on, not {text!r}")
    return int(text)
