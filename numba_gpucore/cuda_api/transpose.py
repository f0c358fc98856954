"""numba.cuda.kernels.transpose: a matrix transposed on the device. Before: device arrays. After: the program.

Tiles go through shared memory, so that reads and writes both touch neighbouring elements (Harris, "An Efficient Matrix
Transpose in CUDA C/C++", 2013).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from numba_gpucore.language import blockDim, blockIdx, shared, syncthreads, threadIdx

_TILE = 16


def module_names(package: ModuleType) -> Mapping[str, Any]:
    """The module's names, for the device of `package`."""

    def transpose(a: Any, b: Any = None) -> Any:
        """`a` (device array of shape (m, n)) transposed into `b`, shape (n, m), by default a new array in C order."""
        rows, columns = a.shape
        if b is None:
            b = package.device_array((columns, rows), a.dtype, stream=a.stream)
        blocks = -(-columns // _TILE) or 1, -(-rows // _TILE) or 1
        _transpose_kernel(package.jit, a.dtype)[blocks, (_TILE, _TILE), a.stream](a, b)
        return b

    return {"transpose": transpose}


@functools.cache
def _transpose_kernel(jit: Any, dtype: Any) -> Any:
    shape = _TILE, _TILE + 1  # one column more, so that a column's elements lie in different banks

    @jit
    def transpose_tiles(source, target):
        tile = shared.array(shape, dtype)
        row = blockIdx.y * blockDim.y + threadIdx.y
        column = blockIdx.x * blockDim.x + threadIdx.x
        if row < source.shape[0] and column < source.shape[1]:
            tile[threadIdx.y, threadIdx.x] = source[row, column]
        syncthreads()
        row = blockIdx.x * blockDim.x + threadIdx.y
        column = blockIdx.y * blockDim.y + threadIdx.x
        if row < target.shape[0] and column < target.shape[1]:
            target[row, column] = tile[threadIdx.x, threadIdx.y]

    return transpose_tiles
