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

from typing import TYPE_CHECKING, Any

from numba_gpucore.cuda_api.names import public_names
from numba_metal.target import PLATFORM

_NAMES = public_names(PLATFORM)
globals().update(_NAMES)
__all__ = sorted(_NAMES)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # the names are made at run time
