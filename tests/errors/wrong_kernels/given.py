"""What wrong kernels are launched with, what they mention, and the list of them. Before: nothing. After: the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

import numba_metal as gpu

F32, F64, I8, I32, I64 = (np.zeros(4, dtype) for dtype in (np.float32, np.float64, np.int8, np.int32, np.int64))
M32 = np.zeros((2, 2), np.float32)
C64 = np.zeros(4, np.complex64)
B8 = np.zeros(4, np.bool_)
RECORD = np.zeros(2, np.dtype([("mass", np.float32), ("count", np.int32)]))
READ_ONLY = np.zeros(4, np.float32)
READ_ONLY.flags.writeable = False

WRONG: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def wrong(*args: Any) -> Callable[..., Any]:
    """Decorator: this kernel, launched with `args`, is refused."""

    def add(kernel: Callable[..., Any]) -> Callable[..., Any]:
        WRONG.append((kernel, args))
        return kernel

    return add


def host_only(x):
    return x


class Host:
    """An object that no device knows."""

    value = 3


HOST = Host()
HOST_LIST = [1, 2, 3]
HOST_DICTIONARY = {"a": 1}


@gpu.jit(device=True)
def allocates(n):
    return np.zeros(n)[0]


@gpu.jit(device=True)
def adds_text(x):
    return x + "text"


@intrinsic
def stores_wide_member(typing_context):
    """As where the lowering of a user's type does not convert to the types of its members."""

    def lower(context, builder, signature, arguments):
        value = context.make_complex(builder, types.complex64)
        value.real = context.get_constant(types.int64, 0)
        return value._getvalue()

    return types.complex64(), lower
