"""Device memory that threadgroups pass data through. Before: the kernel's text is complete. After: Artifact.

Metal's fences order what threads of other threadgroups see of *coherent* memory only: without the qualifier a write may
stay in the cache of its core. Source: MSL specification 3.2, 4.8 "Memory Coherency"; SPIRV-Cross issue 2473 and
MoltenVK issue 2497 show kernels that fail without. Nearly no kernel needs it, and it bypasses a cache, so it is asked
for only where the kernel has a fence of the device's scope; which pointers take part nobody can tell, so all do.
"""

from __future__ import annotations

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.job import Job

_DEVICE_FENCES = frozenset(("gpu.fence.device", "gpu.fence.system"))
#: A pointer's type: "device float*", "device const uchar*".
_DEVICE_POINTER = late_pattern(r"\bdevice (?=(?:const )?\w+\*)")


def orders_device_memory(job: Job) -> bool:
    return not _DEVICE_FENCES.isdisjoint(job.intrinsics)


def share_device_memory(text: str) -> str:
    """The text with all device pointers coherent, in arguments, helpers and casts, since no cast may drop that."""
    return _DEVICE_POINTER.sub("coherent(device) device ", text)
