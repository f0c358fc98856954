"""Step 1 of a call: the launch configuration. Before: `kernel[grid, block, stream, shared]`. After: Kernel."""

from __future__ import annotations

import operator
from typing import Any

from numba_gpucore.base.backend import Device, Dim3, LaunchConfig
from numba_gpucore.base.errors import ArgumentError, LaunchError
from numba_gpucore.base.records import dataclass
from numba_gpucore.launch.streams import Stream, check_stream

_AXES = "xyz"
#: What to do about an extent that is too large.
_SMALLER = {"grid": "let each thread do several items", "block": "use smaller blocks and more of them"}
#: What can be iterated over and is no sequence of extents: bytes are integers, sets have no order.
_NO_SEQUENCES = (str, bytes, bytearray, set, frozenset, dict)
SYNTAX = "kernel[grid, block](…), kernel[grid, block, stream, dynamic_shared_nbytes](…) or kernel.forall(n)(…)"

#: Grid, block, and dynamic shared memory in bytes.
Shape = tuple[Dim3, Dim3, int]


def parse_configuration(item: Any) -> tuple[Shape, Stream | None]:
    """Read what stands between the brackets. Raises LaunchError and ArgumentError (a ValueError and a TypeError)."""
    if type(item) is not tuple or not 2 <= len(item) <= 4:
        count = len(item) if isinstance(item, tuple) else 1
        raise LaunchError(f"a launch configuration has 2 to 4 items, got {count}: {SYNTAX}")
    grid, block = item[0], item[1]
    grid3 = (grid, 1, 1) if type(grid) is int else to_dim3(grid, "griddim")
    block3 = (block, 1, 1) if type(block) is int else to_dim3(block, "blockdim")
    if len(item) == 2:
        return (grid3, block3, 0), None
    return (grid3, block3, _to_nbytes(item[3]) if len(item) == 4 else 0), check_stream(item[2])


def to_dim3(value: Any, name: str) -> Dim3:
    """One to three integers as three, the missing ones 1. Raises LaunchError, ArgumentError."""
    # NumPy's arrays without axes have `__iter__` too, which fails.
    is_sequence = hasattr(value, "__iter__") and getattr(value, "ndim", None) != 0
    items = list(value) if is_sequence and not isinstance(value, _NO_SEQUENCES) else [value]
    if not 1 <= len(items) <= 3:
        raise LaunchError(f"{name} must be a sequence of 1, 2 or 3 integers, got {items}")
    try:
        extents = [operator.index(item) for item in items]
    except TypeError:
        raise ArgumentError(f"{name} must be a sequence of integers, got {items}") from None
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


def _to_nbytes(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(f"dynamic shared memory is a number of bytes, got {value!r}") from None


@dataclass(frozen=True)
class KernelNeeds:
    """What a launch is checked against besides the device: the kernel's name and its own needs.

    max_shared_nbytes: shared memory of a block on every device of the kernel's target; None where devices decide."""

    kernel_name: str
    static_shared_nbytes: int
    max_threads: int | None
    max_shared_nbytes: int | None = None


def check_configuration(shape: Shape, device: Device, needs: KernelNeeds) -> LaunchConfig:
    """A LaunchConfig that the device can run. Raises one LaunchError that names every limit that is exceeded."""
    faults = _faults(shape, device, needs)
    if faults:
        raise LaunchError(f"kernel '{needs.kernel_name}' cannot be launched on {device.name}: {'; '.join(faults)}")
    grid, block, nbytes = shape
    return LaunchConfig(grid, block, nbytes)


def _faults(shape: Shape, device: Device, needs: KernelNeeds) -> list[str]:
    grid, block, nbytes = shape
    limits = device.limits
    faults = []
    for name, extents, largest in (("grid", grid, limits.max_grid), ("block", block, limits.max_block)):
        for axis, extent, limit in zip(_AXES, extents, largest, strict=True):
            if extent < 1:
                faults.append(f"{name}.{axis} is {extent}; it must be at least 1")
            elif extent > limit:
                faults.append(f"{name}.{axis} is {extent}; the limit is {limit}: {_SMALLER[name]}")
    threads = block[0] * block[1] * block[2]
    if threads > limits.max_threads_per_block:
        limit = limits.max_threads_per_block
        faults.append(f"block {block} has {threads} threads; the limit is {limit}: {_SMALLER['block']}")
    elif needs.max_threads is not None and threads > needs.max_threads:
        faults.append(f"block {block} has {threads} threads; the kernel's launch_bounds allow {needs.max_threads}")
    shared_limit = min(limits.max_shared_nbytes, needs.max_shared_nbytes or limits.max_shared_nbytes)
    if nbytes < 0:
        faults.append(f"dynamic shared memory is {nbytes} bytes; it cannot be negative")
    elif nbytes + needs.static_shared_nbytes > shared_limit:
        faults.append(
            f"a block needs {nbytes + needs.static_shared_nbytes} bytes of shared memory "
            f"({needs.static_shared_nbytes} static, {nbytes} dynamic); the limit is {shared_limit}: use smaller arrays"
        )
    return faults
