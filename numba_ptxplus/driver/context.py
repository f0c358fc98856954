"""The CUDA context that all work of a device happens in. Before: device. After: every driver call that needs one.

The device's primary context, which PyTorch, CuPy and the CUDA runtime use too, so that addresses are valid everywhere.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from numba_gpucore.base.errors import DeviceError
from numba_ptxplus.driver.failures import check


class PrimaryContext:
    """`with context:` makes it current in this thread, and afterwards the one that was current before.

    Thread-safe: whether it has been pushed is kept on the driver's own stack of the thread, not here.
    """

    def __init__(self, driver: ModuleType, ordinal: int):
        self.driver = driver
        self.handle = check(driver.cuDeviceGet(ordinal), f"finding CUDA device {ordinal}")
        self._context = check(driver.cuDevicePrimaryCtxRetain(self.handle), f"opening CUDA device {ordinal}")
        #: By address, what the driver will call: it keeps nothing else, and a queue may be forgotten before.
        self.pending_calls: dict[int, Any] = {}

    def __enter__(self) -> PrimaryContext:
        check(self.driver.cuCtxPushCurrent(self._context), "making a CUDA context current")
        return self

    def __exit__(self, *exception: object) -> None:
        check(self.driver.cuCtxPopCurrent(), "leaving a CUDA context")

    def attribute(self, name: str) -> int:
        """A device attribute by the end of its name in CUdevice_attribute."""
        attribute = getattr(self.driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        value: int = check(self.driver.cuDeviceGetAttribute(attribute, self.handle), f"asking for {name}")
        return value

    def name(self) -> str:
        raw: bytes = check(self.driver.cuDeviceGetName(256, self.handle), "asking for a device's name")
        return raw.split(b"\0", 1)[0].decode()

    def synchronize(self) -> None:
        with self:
            check(self.driver.cuCtxSynchronize(), "waiting for the device")


def import_driver() -> ModuleType:
    """`cuda.bindings.driver`, started. Raises DeviceError that says what is missing."""
    try:
        from cuda.bindings import driver  # noqa: PLC0415  an optional vendor package, needed once a GPU is used
    except ImportError as error:
        raise DeviceError(f"using an NVIDIA GPU needs cuda-bindings ({error}): pip install cuda-bindings") from error
    try:
        check(driver.cuInit(0), "starting CUDA")
    except RuntimeError as error:
        if isinstance(error, DeviceError):
            raise
        # cuda-bindings finds the driver's library only now
        raise DeviceError(f"NVIDIA's driver was not found: {error}") from error
    return driver
