"""Why a kernel cannot become PTX, in words. Before: legalize, select. After: the user."""

from __future__ import annotations

from collections.abc import Mapping

from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.job import Job
from numba_ptxplus.driver.abi import MAX_STATIC_SHARED_NBYTES
from numba_ptxplus.toolchain import LIBDEVICE_PACKAGE


def kernel_error(job: Job, what: str, advice: str) -> UnsupportedKernelError:
    code = job.request.py_func.__code__
    return UnsupportedKernelError(
        job.request.py_func.__name__, [Fault(code.co_filename, code.co_firstlineno, what, advice)]
    )


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


def too_much_shared(job: Job) -> UnsupportedKernelError:
    listed = ", ".join(f"{array.symbol.rsplit('.', 1)[-1]}: {array.nbytes}" for array in job.shared_arrays)
    total = sum(array.nbytes for array in job.shared_arrays)
    return kernel_error(
        job,
        f"static shared arrays take {total} bytes ({listed}), a block has {MAX_STATIC_SHARED_NBYTES}",
        "use shared.array(0, dtype) and give the size at launch, which allows more on most devices",
    )
