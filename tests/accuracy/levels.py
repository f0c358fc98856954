"""Where functions are measured: kernels on the CPU device, on the PTX machine, as emitted Metal text. After: ulps.

Each level is a device behind the ordinary launch path, in a session of its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

from numba_gpucore import language as gpu
from tests.accuracy.functions import F16, F32, F64, LevelName
from tests.levels import opened_level

BLOCK = 256
#: The PTX machine holds every register of all threads of a launch; smaller launches stay in the cache.
MAX_THREADS = {"cpu": 2**22, "ptx": 2**15, "msl": 2**22}
TYPES: dict[LevelName, tuple[np.dtype, ...]] = {"cpu": (F16, F32, F64), "ptx": (F16, F32, F64), "msl": (F16, F32)}


@dataclass(frozen=True)
class Level:
    """`jit` as a program would use it. kernels: those made so far, by function and options."""

    name: LevelName
    jit: Callable[..., Any]
    kernels: dict[Any, Any] = field(default_factory=dict)

    def compute(self, function: Callable[..., Any], *arguments: np.ndarray, **options: Any) -> np.ndarray:
        """`function` of each item, in a kernel with these options; results have the type of the arguments."""
        key = function, *options.items()
        if key not in self.kernels:
            self.kernels[key] = self.jit(_KERNELS[len(arguments)](function), **options)
        kernel = self.kernels[key]
        out = np.empty_like(arguments[0])
        step = MAX_THREADS[self.name]
        for start in range(0, out.size, step):
            part = slice(start, start + step)
            columns = [np.ascontiguousarray(argument[part]) for argument in arguments]
            kernel[-(-columns[0].size // BLOCK), BLOCK](*columns, out[part])
        return out


def _unary(function):
    def apply(x, out):
        i = gpu.grid(1)
        if i < out.size:
            out[i] = function(x[i])

    return apply


def _binary(function):
    def apply(x, y, out):
        i = gpu.grid(1)
        if i < out.size:
            out[i] = function(x[i], y[i])

    return apply


_KERNELS = {1: _unary, 2: _binary}


#: Every launch here copies host arrays, and small ones are meant.
_NO_ADVICE = {"NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0", "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": "0"}
_LEVELS: dict[LevelName, str] = {"cpu": "ptxplus on cpu", "ptx": "ptx machine", "msl": "metal double"}


@contextlib.contextmanager
def open_level(name: LevelName) -> Iterator[Level]:
    """The level; meanwhile the default session is its own."""
    with mock.patch.dict(os.environ, _NO_ADVICE), opened_level(_LEVELS[name]) as level:
        yield Level(name, level.jit)
