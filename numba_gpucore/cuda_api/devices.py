"""Devices and contexts as numba.cuda shows them. Before: session. After: the public names of both packages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from numba_gpucore.base.backend import Device, Limits
from numba_gpucore.base.errors import DeviceError
from numba_gpucore.launch.allocate import defer_cleanup
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import default_session

#: The lowest compute capability that has all of the kernel language; told for devices that are not NVIDIA's, since
#: programs compare it to learn which features they may use.
_FEATURE_LEVEL = (7, 5)
_AXES = "XYZ"


class MemoryInfo(NamedTuple):
    """Bytes."""

    free: int
    total: int


class DeviceName(str):
    """A text that can be decoded: the name was bytes in Numba's own numba.cuda and is text in NVIDIA's."""

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return str(self)


class PendingDeallocations:
    """numba.cuda's memory that waits to be released, which programs release before they allocate more.

    Nothing waits here: memory is released with its array.
    """

    def __len__(self) -> int:
        return 0

    def clear(self) -> None:
        """Release what waits."""

    def disable(self) -> AbstractContextManager[None]:
        """Let memory wait inside of `with`."""
        return defer_cleanup()


class GpuDevice:
    """What a program can learn about one device. `kind`: "cpu", "metal" or "cuda"."""

    def __init__(self, device: Device):
        self._launch_device = device

    def __repr__(self) -> str:
        return f"<{self.kind} device {self.id}: {self.name}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GpuDevice) and other._launch_device is self._launch_device

    def __hash__(self) -> int:
        return hash(self._launch_device)

    @property
    def kind(self) -> str:
        return self._launch_device.kind

    @property
    def id(self) -> int:
        return self._launch_device.index

    @property
    def name(self) -> DeviceName:
        return DeviceName(self._launch_device.name)

    @property
    def arch(self) -> str:
        """The back-end's name for the architecture: "sm_90", "apple-msl3.2", "x86-64-v3-linux", …"""
        return self._launch_device.arch

    @property
    def limits(self) -> Limits:
        return self._launch_device.limits

    @property
    def compute_capability(self) -> tuple[int, int]:
        """(major, minor): NVIDIA's own on their GPUs, elsewhere the level whose features the kernel language has."""
        match = re.fullmatch(r"sm_(\d+)(\d)[a-z]?", self.arch)
        return (int(match[1]), int(match[2])) if match else _FEATURE_LEVEL

    @property
    def supports_float16(self) -> bool:
        """True: float16 is a number type of every device."""
        return True

    @property
    def supports_bfloat16(self) -> bool:
        """True: bfloat16 is a number type of every device."""
        return True

    @property
    def supports_fp8(self) -> bool:
        """False: there are no numbers of 8 bits here."""
        return False

    def reset(self) -> None:
        """Wait for the device's work. Memory lives as long as its arrays."""
        default_session().synchronize(self._launch_device)

    def __getattr__(self, name: str) -> int:
        """Limits by CUDA's attribute names, such as MAX_BLOCK_DIM_X, WARP_SIZE."""
        if not name.isupper():
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        attributes = _cuda_attributes(self.limits, self.compute_capability)
        if name not in attributes:
            raise AttributeError(f"{self.kind} devices do not tell {name}; known are {', '.join(sorted(attributes))}")
        return attributes[name]


def _cuda_attributes(limits: Limits, compute_capability: tuple[int, int]) -> dict[str, int]:
    """Source: CUDA Driver API, CUdevice_attribute."""
    major, minor = compute_capability
    return {
        "COMPUTE_CAPABILITY_MAJOR": major,
        "COMPUTE_CAPABILITY_MINOR": minor,
        "MAX_THREADS_PER_BLOCK": limits.max_threads_per_block,
        "MAX_SHARED_MEMORY_PER_BLOCK": limits.max_shared_nbytes,
        "MULTIPROCESSOR_COUNT": limits.multiprocessor_count,
        "WARP_SIZE": limits.warp_size,
        **{f"MAX_BLOCK_DIM_{axis}": extent for axis, extent in zip(_AXES, limits.max_block, strict=True)},
        **{f"MAX_GRID_DIM_{axis}": extent for axis, extent in zip(_AXES, limits.max_grid, strict=True)},
    }


class Context:
    """A device in use by this thread (numba.cuda's context)."""

    def __init__(self, platform: Platform, device: Device):
        self._platform = platform
        self._launch_device = device

    @property
    def device(self) -> GpuDevice:
        return GpuDevice(self._launch_device)

    @property
    def deallocations(self) -> PendingDeallocations:
        return PendingDeallocations()

    @property
    def memory_manager(self) -> Context:
        """Whom programs ask for `deallocations` and `get_memory_info` too."""
        return self

    def synchronize(self) -> None:
        """Wait for all work of the device; raise what kernel threads threw."""
        default_session().synchronize(self._launch_device)

    def reset(self) -> None:
        self.synchronize()

    def push(self) -> None:
        """Make this thread use the context's device."""
        default_session().select_device(self._platform, self._launch_device.index)

    def pop(self) -> None:
        """Let this thread use the default device again."""
        default_session().unselect_device(self._platform)

    def get_memory_info(self) -> MemoryInfo:
        """Free and total memory of the device in bytes. Raises DeviceError where it does not tell."""
        tell = getattr(self._launch_device, "memory_info", None)
        if tell is not None:
            return MemoryInfo(*tell())
        if not self._launch_device.uses_host_memory or not hasattr(os, "sysconf"):
            raise DeviceError(f"{self._launch_device.name} does not tell how much memory it has")
        page_nbytes = os.sysconf("SC_PAGE_SIZE")
        pages = [os.sysconf(name) for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES") if name in os.sysconf_names]
        return MemoryInfo(pages[0] * page_nbytes, pages[-1] * page_nbytes)


class DeviceManager:
    """One entry of `gpus`: usable in `with` to make a device the current one of this thread."""

    def __init__(self, platform: Platform, index: int):
        self._platform = platform
        self.id = index

    @property
    def _device(self) -> GpuDevice:
        session = default_session()
        return GpuDevice(session.open_device(self._platform, session.backend_kind(self._platform), self.id))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def __enter__(self) -> DeviceManager:
        default_session().select_device(self._platform, self.id)
        return self

    def __exit__(self, *_: object) -> None:
        default_session().unselect_device(self._platform)

    def __repr__(self) -> str:
        return f"<managed device {self.id}>"


class DeviceList:
    """The devices of a target's back-end, in order."""

    def __init__(self, platform: Platform):
        self._platform = platform

    def __len__(self) -> int:
        return default_session().count_devices(self._platform)

    def __getitem__(self, index: int) -> DeviceManager:
        if not 0 <= index < len(self):
            raise IndexError(f"there is no device {index}: this machine has {len(self)}")
        return DeviceManager(self._platform, index)

    def __iter__(self) -> Iterator[DeviceManager]:
        return (DeviceManager(self._platform, index) for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<{', '.join(map(repr, self))}>"

    @property
    def lst(self) -> list[DeviceManager]:
        return list(self)

    @property
    def current(self) -> DeviceManager:
        return DeviceManager(self._platform, default_session().current_device(self._platform).index)


class DeviceNames:
    """The public functions about devices, for one target."""

    def __init__(self, platform: Platform):
        self._platform = platform
        self.gpus = DeviceList(platform)

    def _current(self) -> Device:
        return default_session().current_device(self._platform)

    def current_device(self) -> GpuDevice:
        """The device that this thread's launches and allocations use."""
        return GpuDevice(self._current())

    def select_device(self, device_id: int) -> GpuDevice:
        """Make this thread use another device. Raises DeviceError."""
        return GpuDevice(default_session().select_device(self._platform, device_id))

    def list_devices(self) -> DeviceList:
        return self.gpus

    def is_available(self) -> bool:
        """True: where there is no GPU, kernels run on the CPU device."""
        return True

    def detect(self) -> bool:
        """Print what devices there are, and return whether there is one."""
        print(f"Found {len(self.gpus)} devices")
        for manager in self.gpus:
            print(f"id {manager.id}  {manager.name}  [{manager.kind}, {manager.arch}]")
        return len(self.gpus) > 0

    def current_context(self, devnum: int | None = None) -> Context:
        """The context of a device, by default of the current one."""
        if devnum is None:
            return Context(self._platform, self._current())
        session = default_session()
        device = session.open_device(self._platform, session.backend_kind(self._platform), devnum)
        return Context(self._platform, device)

    def is_float16_supported(self) -> bool:
        return self.current_device().supports_float16

    def is_bfloat16_supported(self) -> bool:
        return self.current_device().supports_bfloat16

    def is_fp8_supported(self) -> bool:
        return self.current_device().supports_fp8

    def synchronize(self) -> None:
        """Wait for all work of the current device; raise what kernel threads threw."""
        default_session().synchronize(self._current())

    def close(self) -> None:
        """Wait for the current device's work, and let this thread use the default device again."""
        self.synchronize()
        default_session().unselect_device(self._platform)
