"""Versions of the Metal language, which are Metal's architectures. Before: a device or a version. After: keys, codegen.

What kernels become differs between versions of the language, not between GPUs.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from numba_gpucore.base.errors import OptionError


class MslVersion(NamedTuple):
    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


#: Versions whose differences the emitter knows, oldest first. Source: Metal Shading Language Specification, revision
#: history; Metal, MTLLanguageVersion.
MSL_VERSIONS = ((3, 0), (3, 1), (3, 2), (4, 0))
#: The macOS that first takes a version that the driver asks for; older ones lack bfloat16. Source: MSL specification,
#: "Compiler Options Controlling the Language Version".
FIRST_MACOS = {MslVersion(3, 1): 14, MslVersion(3, 2): 15}
#: For devices that name none.
DEFAULT_MSL_VERSION = min(FIRST_MACOS)
_PREFIX = "apple-msl"


def arch_of(version: tuple[int, int]) -> str:
    """(3, 2) → "apple-msl3.2"."""
    return f"{_PREFIX}{MslVersion(*version)}"


def parse_arch(text: Any) -> str:
    """The architecture for a version: "apple-msl3.2", "msl3.2" and "3.2" name one. Raises OptionError."""
    match = re.fullmatch(r"(?:apple-)?(?:msl)?(\d)\.(\d)", str(text))
    version = (int(match[1]), int(match[2])) if match else None
    if version not in MSL_VERSIONS:
        known = ", ".join(f"msl{MslVersion(*known)}" for known in MSL_VERSIONS)
        raise OptionError(f"unknown version {str(text)!r} of the Metal language; known are {known}")
    return arch_of(version)


def msl_version_of(arch: str) -> MslVersion:
    """ "apple-msl3.2" → 3.2; the default where an architecture names none, as the CPU device's."""
    match = re.fullmatch(rf"{_PREFIX}(\d+)\.(\d+)", arch)
    return MslVersion(int(match[1]), int(match[2])) if match else DEFAULT_MSL_VERSION


def older_archs(arch: str) -> tuple[str, ...]:
    """Text of older versions is text of newer ones too; the newest first."""
    return tuple(arch_of(version) for version in reversed(MSL_VERSIONS) if version < msl_version_of(arch))
