"""Numba kernels on Apple GPUs, in the words of numba.cuda; on the CPU where there is no such GPU.

::

    @numba_metal.jit
    def scale(x, factor):
        i = numba_metal.grid(1)
        if i < x.size:
            x[i] *= factor

    scale[blocks, threads](array, 2.0)
"""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.collector import collector_held_for_numba

with collector_held_for_numba():
    from numba_gpucore.cuda_api.driver_only import PTX_COMPILERS, refusing_function
    from numba_gpucore.cuda_api.names import public_names
    from numba_gpucore.cuda_api.submodules import SELDOM_NAMES, late_name
    from numba_gpucore.cuda_api.ufunc_targets import register_when_numba_loads
    from numba_metal.target import PLATFORM

_NAMES = public_names(PLATFORM)
globals().update(_NAMES)
__all__ = sorted((*_NAMES, *SELDOM_NAMES))
register_when_numba_loads()


def __getattr__(name: str) -> Any:
    if name == "compile_msl":
        from numba_metal.compile_api import compile_msl  # noqa: PLC0415  a door to the compile half

        return compile_msl
    if name in PTX_COMPILERS:
        return refusing_function(name, "it compiles to NVIDIA's PTX; numba_metal.compile_msl gives Metal's text")
    return late_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
