"""Metal as a back-end: Apple GPUs through PyObjC, which is imported when a device is looked for. Before: Artifact.

`abi.py` is what kernels and driver agree on; `device.py` … `batch.py` run them.
"""

import re
from typing import Any

from numba_gpucore.base.backend import Backend
from numba_gpucore.base.errors import OptionError
from numba_metal.driver.abi import LAUNCH_ABI
from numba_metal.driver.device import count_devices, open_device


def _toolchain_id() -> str:
    """An Artifact is text, which the system's own compiler takes when it is loaded: no tool of ours decides it."""
    return "msl"


#: Versions of the language that we emit, oldest first. Source: Metal Shading Language Specification, revision history.
_MSL_VERSIONS = ("3.0", "3.1", "3.2", "4.0")
_ARCH = "apple-msl"


def _parse_arch(text: Any) -> str:
    """The text for a language version: "apple-msl3.2", "msl3.2" and "3.2" name one. Raises OptionError."""
    match = re.fullmatch(r"(?:apple-)?(?:msl)?(\d\.\d)", str(text))
    if match is None or match[1] not in _MSL_VERSIONS:
        known = ", ".join(f"msl{version}" for version in _MSL_VERSIONS)
        raise OptionError(f"unknown version {str(text)!r} of the Metal language; known are {known}")
    return _ARCH + match[1]


def _older_archs(arch: str) -> tuple[str, ...]:
    """Text of older versions is text of newer ones too."""
    version = arch.removeprefix(_ARCH)
    return tuple(_ARCH + older for older in reversed(_MSL_VERSIONS) if older < version)


BACKEND = Backend(
    kind="metal",
    launch_abi=LAUNCH_ABI,
    toolchain_id=_toolchain_id,
    count_devices=count_devices,
    open_device=open_device,
    codegen="numba_metal.codegen:CODEGEN",
    parse_arch=_parse_arch,
    older_archs=_older_archs,
)
