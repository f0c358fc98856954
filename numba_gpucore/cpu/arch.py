"""The architecture of the CPU this process runs on. Before: nothing. After: cache key, code generation.

An architecture is a level that many processors share, not one processor: compiled kernels can be cached, shipped and
loaded on any machine of that level. Levels of x86-64: System V ABI, AMD64 supplement, table 3.1.
"""

from __future__ import annotations

import platform
import sys
from typing import Any

from numba_gpucore.base.errors import OptionError

#: Flags as Linux prints them in /proc/cpuinfo; each level includes those before it.
_X86_64_LEVELS = (
    ("x86-64-v2", "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"),
    ("x86-64-v3", "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"),
    ("x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"),
)

#: After a level: vectors of 512 bits are worth their while.
WIDE_SUFFIX = "-512bit"

#: The level below all others, which every processor of a kind has, and those above it.
_X86_64_BASE = "x86-64"
_X86_64_NAMES = (_X86_64_BASE, *(name for name, _flags in _X86_64_LEVELS))
_ARM64_LEVELS = ("apple-m1", "generic")


def parse_arch(text: Any) -> str:
    """The architecture that a user names: a level, for this system or for the one named behind it.

    Raises OptionError for anything else.
    """
    level, system = str(text), sys.platform
    for known in ("linux", "darwin", "win32"):
        if level.endswith(f"-{known}"):
            level, system = level.removesuffix(f"-{known}"), known
    levels = (*_X86_64_NAMES, *_ARM64_LEVELS)
    if level.removesuffix(WIDE_SUFFIX) not in levels:
        raise OptionError(f"unknown processor level {str(text)!r}; known are {', '.join(levels)}")
    return f"{level}-{system}"


def older_archs(arch: str) -> tuple[str, ...]:
    """The architectures whose objects run on `arch` too, best first."""
    level, _, system = arch.rpartition("-")
    narrow = level.removesuffix(WIDE_SUFFIX)
    if narrow not in _X86_64_NAMES:
        return ()
    below = _X86_64_NAMES[: _X86_64_NAMES.index(narrow) + (narrow != level)]
    return tuple(f"{name}-{system}" for name in reversed(below))


def host_arch() -> str:
    """For example "x86-64-v3-linux" or "apple-m1-darwin": a level, then the system, whose object format differs."""
    return f"{_host_level()}-{sys.platform}"


def _host_level() -> str:
    machine = platform.machine().lower()
    if machine in ("arm64", "aarch64"):
        return "apple-m1" if sys.platform == "darwin" else "generic"
    if machine not in ("x86_64", "amd64"):
        return "generic"
    info = _read_cpu_info()
    level = x86_64_level(set(info.get("flags", "").split()))
    # LLVM tunes this level for Intel's processors, which clock down at 512 bits, and AMD's (znver4, znver5) for 512.
    is_wide = level == "x86-64-v4" and info.get("vendor_id") == "AuthenticAMD"
    return level + WIDE_SUFFIX if is_wide else level


def x86_64_level(flags: set[str]) -> str:
    """The highest level whose flags are all there."""
    found = _X86_64_BASE
    for level, needed in _X86_64_LEVELS:
        if not flags.issuperset(needed.split()):
            break
        found = level
    return found


def cpu_name() -> str:
    """The processor's marketing name, or its architecture where the system does not tell cheaply."""
    return _read_cpu_info().get("model name") or platform.machine()


def _read_cpu_info() -> dict[str, str]:
    """The first processor in Linux's /proc/cpuinfo; empty elsewhere. Reads no further: the kernel makes each entry
    when it is read, which takes long on machines with hundreds of processors."""
    info: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, colon, value = line.partition(":")
                if not colon:
                    break
                info[key.strip()] = value.strip()
    except OSError:
        return {}
    return info
