"""NVIDIA's architectures and the PTX versions that they need. Before: a compute capability. After: keys, codegen."""

from __future__ import annotations

import re

from numba_gpucore.base.errors import DeviceError, OptionError

#: PTX version times ten that first knows an architecture. Source: PTX ISA, "Release Notes" table; LLVM 22 agrees.
_FIRST_PTX = {
    "sm_75": 63, "sm_80": 70, "sm_86": 71, "sm_87": 74, "sm_88": 90, "sm_89": 78,
    "sm_90": 78, "sm_90a": 80,
    "sm_100": 86, "sm_100a": 86, "sm_100f": 88,
    "sm_103": 88, "sm_103a": 88, "sm_103f": 88,
    "sm_110": 90, "sm_110a": 90, "sm_110f": 90,
    "sm_120": 87, "sm_120a": 87, "sm_120f": 88,
    "sm_121": 88, "sm_121a": 88, "sm_121f": 88,
}  # fmt: skip
ARCHITECTURES = tuple(_FIRST_PTX)
OLDEST = ARCHITECTURES[0]

#: What every driver since CUDA 11.0 accepts.
OLDEST_PTX = 70
#: From PTX 8.1 on, kernels for sm_70 and later take 32,764 bytes of parameters. Source: PTX ISA, ".param state space".
_LARGE_PARAMS_PTX = 81
#: DWARF as LLVM writes it has differences of labels. Source: PTX ISA, ".section"; ptxas refuses them in older PTX.
_DWARF_PTX = 75
SMALL_PARAMS_NBYTES = 4096
LARGE_PARAMS_NBYTES = 32764


def arch_of(cc: tuple[int | str, ...] | str) -> str:
    """The architecture for a compute capability: (9, 0), "9.0" and "sm_90" name one, (9, 0, "a") and "90a" another.

    Raises OptionError for one that we do not know.
    """
    text = f"{cc[0]}.{''.join(map(str, cc[1:]))}" if isinstance(cc, tuple) else str(cc)
    match = re.fullmatch(r"(?:sm_|compute_)?(\d+)\.?(\d)([af]?)", text)
    arch = f"sm_{match[1]}{match[2]}{match[3]}" if match else text
    if arch not in _FIRST_PTX:
        raise OptionError(f"unknown compute capability {cc!r}; known are {', '.join(ARCHITECTURES)}")
    return arch


def arch_for_device(major: int, minor: int) -> str:
    """The newest architecture whose code runs on a device of this compute capability.

    The driver compiles PTX of older architectures, so a device newer than this table works. Raises DeviceError for one
    that is older.
    """
    known = [arch for arch in ARCHITECTURES if arch[-1].isdigit() and _capability(arch) <= (major, minor)]
    if not known:
        raise DeviceError(
            f"this GPU has compute capability {major}.{minor}; kernels need {'.'.join(map(str, _capability(OLDEST)))}"
        )
    return max(known, key=_capability)


def older_archs(arch: str) -> tuple[str, ...]:
    """The architectures whose programs run on `arch` too, best first.

    Source: CUDA C++ Programming Guide, "Binary Compatibility" and "PTX Compatibility": machine code runs on later minor
    versions, and the driver compiles PTX for all later ones; what is for a name that ends in a letter runs on no other.
    """
    newest = _capability(arch.rstrip("af"))
    portable = [older for older in ARCHITECTURES if older[-1].isdigit() and older != arch]
    fitting = [older for older in portable if _capability(older) <= newest]
    return tuple(sorted(fitting, key=_capability, reverse=True))


def is_same_generation(arch: str, other: str) -> bool:
    """Whether machine code of the older of the two runs on the newer."""
    return _capability(arch.rstrip("af"))[0] == _capability(other.rstrip("af"))[0]


def _capability(arch: str) -> tuple[int, int]:
    digits = arch.removeprefix("sm_")
    return int(digits[:-1]), int(digits[-1])


def ptx_version(arch: str, params_nbytes: int, has_debug_information: bool = False) -> int:
    """The oldest PTX version (times ten) that a program needs: old drivers load old PTX."""
    return max(
        _FIRST_PTX[arch],
        OLDEST_PTX,
        _LARGE_PARAMS_PTX if params_nbytes > SMALL_PARAMS_NBYTES else 0,
        _DWARF_PTX if has_debug_information else 0,
    )
