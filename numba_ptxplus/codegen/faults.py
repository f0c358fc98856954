"""Why a kernel cannot become PTX, in words. Before: legalize, select. After: the user."""

from __future__ import annotations

from collections.abc import Iterable

from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.job import Job
from numba_ptxplus.driver.abi import MAX_STATIC_SHARED_NBYTES
from numba_ptxplus.toolchain import LIBDEVICE_PACKAGE


def kernel_error(job: Job, what: str, advice: str) -> UnsupportedKernelError:
    code = job.request.py_func.__code__
    return UnsupportedKernelError(
        job.request.py_func.__name__, [Fault(code.co_filename, code.co_firstlineno, what, advice)]
    )


def libdevice_missing(job: Job, functions: Iterable[str]) -> UnsupportedKernelError:
    names = ", ".join(sorted(functions))
    return kernel_error(
        job,
        f"{names}: NVIDIA's libdevice, which defines them, was not found",
        f"pip install {LIBDEVICE_PACKAGE}, or set CUDA_HOME to a CUDA Toolkit",
    )


def too_much_shared(job: Job) -> UnsupportedKernelError:
    listed = ", ".join(f"{array.symbol.rsplit('.', 1)[-1]}: {array.nbytes}" for array in job.shared_arrays)
    total = sum(array.nbytes for array in job.shared_arrays)
    return kernel_error(
        job,
        f"static shared arrays take {total} bytes ({listed}), a block has {MAX_STATIC_SHARED_NBYTES}",
        "use shared.array(0, dtype) and give the size at launch, which allows more on most devices",
    )
