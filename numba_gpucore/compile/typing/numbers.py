"""Typing of the light dtypes (`numba_metal.float32`): in kernels they are what `np.float32` is."""

from __future__ import annotations

from numba_gpucore import dtypes
from numba_gpucore.compile.numba_api import numpy_support, types
from numba_gpucore.compile.typing.registry import registry

for _dtype in dtypes.DTYPES:
    registry.register_global(_dtype, types.NumberClass(numpy_support.from_dtype(_dtype.dtype)))
