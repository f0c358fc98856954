"""NVIDIA architectures and the target machines that select for them. Before: "sm_90". After: legalize, emit."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import llvmlite.binding as llvm

from numba_gpucore.base.errors import OptionError

TRIPLE = "nvptx64-nvidia-cuda"

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

#: What every driver since CUDA 11.0 (450.36) accepts; `.maxnreg`-free kernels need no more on old architectures.
_OLDEST_PTX = 70
#: From PTX 8.1 on, kernels for sm_70 and later take 32,764 bytes of parameters. Source: PTX ISA, ".param state space".
_LARGE_PARAMS_PTX = 81
SMALL_PARAMS_NBYTES = 4096
LARGE_PARAMS_NBYTES = 32764


@dataclass(frozen=True)
class MachineSpec:
    """Which target machine a compilation needs. ptx: version times ten. opt: LLVM's level, 0 to 3."""

    arch: str
    ptx: int
    opt: int


def arch_of(cc: tuple[int, int] | str) -> str:
    """The architecture for a compute capability: (9, 0), "9.0", "sm_90" and "90a" all name one.

    Raises OptionError for one that we do not know.
    """
    text = f"{cc[0]}.{cc[1]}" if isinstance(cc, tuple) else str(cc)
    match = re.fullmatch(r"(?:sm_|compute_)?(\d+)\.?(\d)([af]?)", text)
    arch = f"sm_{match[1]}{match[2]}{match[3]}" if match else text
    if arch not in _FIRST_PTX:
        raise OptionError(f"unknown compute capability {cc!r}; known are {', '.join(ARCHITECTURES)}")
    return arch


def ptx_version(arch: str, params_nbytes: int) -> int:
    """The oldest PTX version (times ten) that `arch` and this much parameter space need: old drivers load old PTX."""
    version = max(_FIRST_PTX[arch], _OLDEST_PTX)
    return max(version, _LARGE_PARAMS_PTX) if params_nbytes > SMALL_PARAMS_NBYTES else version


@functools.cache
def _nvptx_target() -> llvm.Target:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE)


@functools.cache
def target_machine(spec: MachineSpec) -> llvm.TargetMachine:
    """LLVM's NVPTX target machine; making one takes about a millisecond, so each is made once a process."""
    machine = _nvptx_target().create_target_machine(cpu=spec.arch, features=f"+ptx{spec.ptx}", opt=spec.opt)
    machine.set_asm_verbosity(False)
    return machine


@functools.cache
def data_layout() -> str:
    return str(target_machine(MachineSpec("sm_75", _OLDEST_PTX, 2)).target_data)
