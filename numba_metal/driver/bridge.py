"""The door to PyObjC, which is there on macOS only. Before: nothing. After: device.py and what it opens.

Objective-C selectors become Python methods by PyObjC's rule (`setBytes:length:atIndex:` is `setBytes_length_atIndex_`),
an `error:` argument becomes a second result. Names of classes and selectors are those of Apple's Metal documentation.
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from typing import Any

from numba_gpucore.base.records import dataclass
from numba_metal.architectures import FIRST_MACOS, MslVersion


@dataclass(frozen=True)
class Bridge:
    """metal: PyObjC's module Metal. objc: its core; threads that Python starts have no autorelease pool of their own,
    and the main thread's is never drained, so whatever makes Metal objects does it inside `pool()`."""

    metal: Any
    objc: Any

    def pool(self) -> AbstractContextManager[Any]:
        """Release temporary Objective-C objects at the end of the `with` block."""
        pool: AbstractContextManager[Any] = self.objc.autorelease_pool()
        return pool

    def newest_msl_version(self) -> MslVersion | None:
        """The newest language version that code is generated for and this system takes; None before macOS 14."""
        taken = (version for version, macos in FIRST_MACOS.items() if self.objc.macos_available(macos))
        return max(taken, default=None)

    def find_devices(self) -> list[Any]:
        """GPUs that can run our kernels: Apple's, from M1 on. They have SIMD-groups of 32, share the host's memory and,
        with Metal 3, take device pointers in argument structs. GPUs of Intel Macs can have Metal 3, but not the rest.
        """
        if self.newest_msl_version() is None:
            return []
        families = self.metal.MTLGPUFamilyApple7, self.metal.MTLGPUFamilyMetal3
        devices = self.metal.MTLCopyAllDevices() or ()
        return [device for device in devices if all(map(device.supportsFamily_, families))]


def import_bridge() -> Bridge | None:
    """PyObjC, or None where it or Metal is not installed."""
    try:
        objc, metal = importlib.import_module("objc"), importlib.import_module("Metal")
    except ImportError:
        return None
    return Bridge(metal, objc) if hasattr(metal, "MTLCopyAllDevices") else None


def count_devices() -> int:
    """GPUs that can run our kernels; 0 without macOS, PyObjC or Metal 3."""
    bridge = import_bridge()
    return 0 if bridge is None else len(bridge.find_devices())
