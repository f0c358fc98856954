"""Architectures of CPUs: a level of processors and a system. Before: nothing. After: cache key, code generation.

A level is what many processors share, not one processor: compiled kernels can be cached, shipped and loaded on any
machine of that level. Levels of x86-64: System V ABI, AMD64 supplement, table 3.1. The systems differ in the format of
objects and in how functions are called; each can compile for all.
"""

from __future__ import annotations

import platform
import sys
from typing import Any

from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.records import dataclass

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
#: Processors of 64-bit ARM; Apple's have more than the first version of that architecture.
_APPLE, _ARM64 = "apple-m1", "armv8-a"
_ALL_SYSTEMS = ("linux", "darwin", "win32")
#: Where each level is, as sys.platform says it.
SYSTEMS = {**dict.fromkeys(_X86_64_NAMES, _ALL_SYSTEMS), _APPLE: ("darwin",), _ARM64: ("linux", "win32")}


@dataclass(frozen=True)
class Platform:
    """system: sys.platform. machine: platform.machine() in lower case."""

    system: str
    machine: str

    @property
    def is_x86_64(self) -> bool:
        return self.machine in ("x86_64", "amd64")

    @property
    def is_arm64(self) -> bool:
        return self.machine in ("arm64", "aarch64")


def this_platform() -> Platform:
    return Platform(sys.platform, platform.machine().lower())


def parse_arch(text: Any) -> str:
    """The architecture that a user names: a level, for this system or for the one named behind it.

    A level that this system does not have is that of the only one that has it. Raises OptionError for anything else.
    """
    here = host_arch()
    if str(text) in (here, here.rpartition("-")[0]):
        return here
    level, _, system = str(text).rpartition("-")
    if system not in _ALL_SYSTEMS:
        level, system = str(text), ""
    known = SYSTEMS.get(level.removesuffix(WIDE_SUFFIX) if level.startswith(_X86_64_BASE) else level, ())
    system = system or (known[0] if len(known) == 1 else this_platform().system)
    if system not in known:
        names = ", ".join(f"{name} ({', '.join(systems)})" for name, systems in SYSTEMS.items())
        raise OptionError(
            f"unknown processor level {str(text)!r}; known are, with their systems: {names}; "
            "a level is for this system unless another is named behind it, such as x86-64-v3-win32"
        )
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
    """For example "x86-64-v3-linux" or "apple-m1-darwin": a level, then the system."""
    here = this_platform()
    return f"{_host_level(here)}-{here.system}"


def baseline_arch() -> str:
    """What is worth shipping for machines like this one: x86-64-v3 (Intel since 2013, AMD since 2015), Apple's
    processors from the M1 on, else what all processors of a kind have."""
    here = this_platform()
    return f"{'x86-64-v3' if here.is_x86_64 else _host_level(here)}-{here.system}"


def _host_level(here: Platform) -> str:
    if here.is_arm64:
        return _APPLE if here.system == "darwin" else _ARM64
    if not here.is_x86_64:
        return here.machine
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


def converts_halves(arch: str) -> bool:
    """True if its processors have instructions for float16 <-> float32: F16C on x86-64."""
    level = arch.rpartition("-")[0].removesuffix(WIDE_SUFFIX)
    if level not in _X86_64_NAMES:
        return converts_doubles_to_halves(arch)
    below = _X86_64_LEVELS[: _X86_64_NAMES.index(level)]
    return any("f16c" in flags.split() for _name, flags in below)


def converts_doubles_to_halves(arch: str) -> bool:
    """True if its processors have an instruction that rounds float64 to float16 once."""
    return arch.rpartition("-")[0] in (_APPLE, _ARM64)


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
