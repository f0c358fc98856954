"""The CPU back-end, the default where no GPU is present. Before: base. After: launch opens its device.

Hot half: this file, `device` and what it imports. Cold half, imported on a miss: `codegen` and what it imports.
"""

from __future__ import annotations

from typing import cast

from numba_gpucore.base.backend import Backend, Device
from numba_gpucore.base.settings import Settings
from numba_gpucore.base.versions import version_of
from numba_gpucore.cpu.arch import older_archs, parse_arch
from numba_gpucore.cpu.device import CpuDevice


def _toolchain_id() -> str:
    return f"llvmlite {version_of('llvmlite')}"


def _open_device(index: int) -> Device:
    # Its methods take its own memories, programs and queues only; to mypy a Device takes those of any device.
    return cast(Device, CpuDevice(index, Settings.from_environment().num_threads))


BACKEND = Backend(
    kind="cpu",
    launch_abi=3,
    toolchain_id=_toolchain_id,
    count_devices=lambda: 1,
    open_device=_open_device,
    codegen="numba_gpucore.cpu.codegen:CODEGEN",
    parse_arch=parse_arch,
    older_archs=older_archs,
    checks_bounds=True,
)
