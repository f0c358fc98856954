"""Numba kernels on NVIDIA GPUs, in the words of numba.cuda; on the CPU where there is no such GPU.

import numba_ptxplus as gpu

@gpu.jit
def scale(x, factor):
    i = gpu.grid(1)
    if i < x.size:
        x[i] *= factor

scale[grid, block](array, 2.0)
"""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.collector import collector_held_for_numba

with collector_held_for_numba():
    from numba_gpucore.cuda_api.driver_only import PTX_COMPILERS
    from numba_gpucore.cuda_api.names import public_names
    from numba_gpucore.cuda_api.submodules import SELDOM_NAMES, late_name
    from numba_gpucore.cuda_api.ufunc_targets import register_when_numba_loads
    from numba_ptxplus.target import PLATFORM

_NAMES = public_names(PLATFORM)
globals().update(_NAMES)
__all__ = sorted((*_NAMES, *SELDOM_NAMES))
register_when_numba_loads()


def __getattr__(name: str) -> Any:
    if name in PTX_COMPILERS:  # not in __all__, since they load the compiler
        from numba_ptxplus import compile_api  # noqa: PLC0415  a door to the compile half

        return getattr(compile_api, name)
    return late_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
