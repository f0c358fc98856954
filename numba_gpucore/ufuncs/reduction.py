"""numba.cuda's Reduce: a function of two numbers, applied to all elements of an array. Before: decorators. After:
launch.kernel.

Each block takes one stretch of the array, each of its threads the elements that lie a block apart; threads are folded
as a tree, and one more block folds what the blocks found. So the function should be associative and commutative, as
numba.cuda asks too. Stretches, not elements a grid apart, because a CPU walks them in its caches.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from numba_gpucore.base.options import KernelOptions
from numba_gpucore.dtypes import DType
from numba_gpucore.language import blockDim, blockIdx, gridDim, shared, syncthreads, threadIdx
from numba_gpucore.launch.device_function import DeviceFunction
from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.pickling import reduce_decorated
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.streams import check_stream
from numba_gpucore.ufuncs.declared import conversion_to
from numba_gpucore.ufuncs.operands import Operands

#: Threads a block: four warps, which every device has.
_BLOCK = 128
#: Elements that one block folds alone, for which a second launch would take longer.
_ALONE = 8 * _BLOCK
_MAX_BLOCKS = 256


class Reduce:
    """`Reduce(function)(array)`; `cuda.reduce` as a decorator. has_init: whether `init` takes part.

    The function is compiled for the device once for each dtype.
    """

    def __init__(self, platform: Platform, functor: Callable[..., Any], has_init: bool = True):
        function = getattr(functor, "py_func", functor)
        functools.update_wrapper(self, function)
        self._platform = platform
        self._functor = functor
        self._has_init = has_init
        self._core: DeviceFunction = (
            functor
            if isinstance(functor, DeviceFunction)
            else DeviceFunction(function, platform, KernelOptions(device=True))
        )
        self._kernels: dict[np.dtype, tuple[Kernel, Kernel]] = {}

    def __reduce__(self) -> str | tuple[Any, ...]:
        function = getattr(self._functor, "py_func", self._functor)
        return reduce_decorated(self, function, (self._platform, self._functor, self._has_init))

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0) -> Any:
        """Reduce a 1-D host or device array, or its first `size` elements, starting from `init`.

        res: an array whose first element takes the result, without waiting for it if it is a device array; then None is
        returned. Raises TypeError for other than 1-D arrays and for dtypes that are not numbers.
        """
        on = check_stream(stream)
        operands = Operands(self._platform, on)
        values = operands.take(arr)
        if getattr(values, "ndim", 0) != 1:
            raise TypeError(f"only 1-D arrays can be reduced, not one of shape {np.shape(values)}")
        if size is not None:
            values = values[:size]
        first = values.dtype.type(init)
        if values.size == 0:
            if res is None:
                return first
            res[:1] = first
            return None
        target = operands.take_output(res)[:1] if res is not None else None
        writes_there = target is not None and hasattr(target, "gpu_type_key") and target.dtype == values.dtype
        result: Any = target if writes_there else _open_dense(operands, 1, values.dtype)
        self._launch(operands, operands.on_device(values), first, result, on)
        if target is None:
            return result.getitem(0, stream=on or 0)
        if not writes_there:
            target[0] = result.getitem(0, stream=on or 0)
        return None

    def _launch(self, operands: Operands, values: Any, init: Any, result: Any, stream: Any) -> None:
        fold, finish = self._kernels.get(values.dtype) or self._make(values.dtype)
        if values.size > _ALONE:
            n_blocks = min(-(-values.size // _ALONE), _MAX_BLOCKS)
            room = _open_dense(operands, n_blocks, values.dtype)
            fold[n_blocks, _BLOCK, stream](values, room)
            values = room
        if self._has_init:
            finish[1, _BLOCK, stream](values, init, result)
        else:
            fold[1, _BLOCK, stream](values, result)

    def _make(self, dtype: np.dtype) -> tuple[Kernel, Kernel]:
        options = replace(self._core.options, device=False)
        functions = make_kernels(self._core, conversion_to(dtype))
        fold, finish = (Kernel(one, self._platform, options) for one in functions)
        self._kernels[dtype] = fold, finish
        return fold, finish


def _open_dense(operands: Operands, n_items: int, dtype: np.dtype) -> Any:
    """Room on the device for results of one kernel that another reads."""
    return operands.open_result((n_items,), (dtype.itemsize,), dtype, to_host=False).array


def make_kernels(core: Any, element: DType) -> tuple[Callable[..., None], Callable[..., None]]:
    """Kernels that reduce an array to one number a block, and an array and a first number to one number.

    Each of b blocks must get an element, which b * (b - 1) elements suffice for. `finish` runs in one block.
    """

    def fold_block(values, folded):
        """Leave the block's result in folded[0]; all threads of the block must call."""
        thread = threadIdx.x
        chunk = (values.size + gridDim.x - 1) // gridDim.x
        first = blockIdx.x * chunk
        end = min(first + chunk, values.size)
        if first + thread < end:
            total = values[first + thread]
            for other in range(first + thread + blockDim.x, end, blockDim.x):
                total = core(total, values[other])
            folded[thread] = total
        syncthreads()
        count = min(blockDim.x, end - first)
        while count > 1:
            half = (count + 1) // 2
            if thread + half < count:
                folded[thread] = core(folded[thread], folded[thread + half])
            syncthreads()
            count = half

    fold_block = DeviceFunction(fold_block, core.platform, core.options)

    def fold(values, partials):
        folded = shared.array(_BLOCK, element)
        fold_block(values, folded)
        if threadIdx.x == 0:
            partials[blockIdx.x] = folded[0]

    def finish(values, init, result):
        folded = shared.array(_BLOCK, element)
        fold_block(values, folded)
        if threadIdx.x == 0:
            result[0] = core(folded[0], init)

    return fold, finish
