"""numba.cuda's warnings about launches and options that are right but not meant so. Before: jit, Kernel. After: user.

They are on where a GPU runs the program, and on the CPU device where the program or the environment asks for them.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from numba_gpucore.base.backend import Device
from numba_gpucore.base.errors import ConfigurationWarning, PerformanceWarning
from numba_gpucore.base.warn import warn_at_users_line
from numba_gpucore.launch.configure import Shape

#: Attributes of numba.core.config, which the environment sets as NUMBA_<name>. numba.cuda's default is 1.
SMALL_GRIDS, IMPLICIT_COPIES = "CUDA_LOW_OCCUPANCY_WARNINGS", "CUDA_WARN_ON_IMPLICIT_COPY"
#: Grids from here on never earn a warning, as in numba.cuda.
ENOUGH_BLOCKS = 128
_CONFIG = "numba.core.config"
_BLOCKS_PER_MULTIPROCESSOR = 2


class Unset(int):
    """The value 1 of a variable of numba.core.config that neither program nor environment set."""


def mark_unset(config: ModuleType) -> None:
    """Make it possible to see in numba.core.config what a program sets later on."""
    for name in (SMALL_GRIDS, IMPLICIT_COPIES):
        if f"NUMBA_{name}" not in os.environ and getattr(config, name, None) == 1:
            setattr(config, name, Unset(1))
    config._gpucore_marked = True  # type: ignore[attr-defined]


def warn_about_small_grid(shape: Shape, device: Device, setting: bool | None) -> None:
    """Warn where a grid has too few blocks to fill the device; `setting` is what the environment says."""
    x, y, z = shape[0]
    needed = min(ENOUGH_BLOCKS, _BLOCKS_PER_MULTIPROCESSOR * device.limits.multiprocessor_count)
    if 0 < x * y * z < needed and _is_wanted(SMALL_GRIDS, setting, device):
        warn_at_users_line(
            f"Grid size {x * y * z} will likely result in GPU under-utilization due to low occupancy: "
            f"{device.name} has room for {needed} blocks and more. Use smaller blocks and more of them",
            _category("NumbaPerformanceWarning", PerformanceWarning),
        )


def warn_about_copies(device: Device, setting: bool | None) -> None:
    """Warn that a launch copies host arrays to the device and back; `setting` is what the environment says."""
    if _is_wanted(IMPLICIT_COPIES, setting, device):
        warn_at_users_line(
            "Host array used in CUDA kernel will incur copy overhead to/from device. "
            "Use to_device and copy_to_host, or In and Out to say which copies are needed",
            _category("NumbaPerformanceWarning", PerformanceWarning),
        )


def warn_about_debug_and_opt() -> None:
    """Warn about debug=True with optimisation."""
    warn_at_users_line(
        "debug=True with optimisation is not supported by CUDA's debugger, which then misses lines and variables. "
        "Use debug=True, opt=False; lineinfo=True gives profilers lines, and exceptions need neither",
        _category("NumbaInvalidConfigWarning", ConfigurationWarning),
    )


def warn_about_debug_and_lineinfo() -> None:
    """Warn about debug=True with lineinfo=True."""
    warn_at_users_line(
        "debug and lineinfo are mutually exclusive: debug=True gives source lines and more. Leave lineinfo out",
        _category("NumbaInvalidConfigWarning", ConfigurationWarning),
    )


def _is_wanted(name: str, setting: bool | None, device: Device) -> bool:
    """What the program says in numba.core.config, else what the environment says, else whether it is a GPU."""
    config = sys.modules.get(_CONFIG)
    if config is not None:
        value: Any = getattr(config, name, None)
        if value is not None and not value:
            return False
        if value is not None and getattr(config, "_gpucore_marked", False) and not isinstance(value, Unset):
            return True
    return not device.uses_host_memory if setting is None else setting


def _category(numba_name: str, own: type[Warning]) -> type[Warning]:
    """Numba's class where Numba is loaded, since only then a program can have a filter for it."""
    found = getattr(sys.modules.get("numba.core.errors"), numba_name, own)
    assert isinstance(found, type)
    return found
