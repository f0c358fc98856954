"""Why a kernel cannot become PTX, in words. Before: legalize, select. After: the user."""

from __future__ import annotations

from collections.abc import Mapping

from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.job import Job
from numba_ptxplus.toolchain import LIBDEVICE_PACKAGE


def libdevice_missing(job: Job, needs: Mapping[str, str]) -> UnsupportedKernelError:
    """needs: libdevice's functions and the intrinsic that each is for. One fault a line."""
    by_place: dict[tuple[str, int], list[str]] = {}
    for function, intrinsic in sorted(needs.items()):
        by_place.setdefault(job.place_of(intrinsic), []).append(function)
    faults = [
        Fault(
            filename,
            line,
            f"{', '.join(functions)}: NVIDIA's libdevice, which defines this, was not found",
            f"pip install {LIBDEVICE_PACKAGE}, or set CUDA_HOME to a CUDA Toolkit",
        )
        for (filename, line), functions in by_place.items()
    ]
    return UnsupportedKernelError(job.request.py_func.__name__, faults)
