"""Arithmetic that takes halves and gives float32. PTX ISA, "Mixed Precision Floating-Point Instructions" (sm_100).

The halves are widened exactly; then it is the float32 operation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numbers import bfloat
from ..types import TYPES, PtxType
from .floats import ROUNDING, finish_float, rounded
from .operation import Modifiers, Operation

F32 = TYPES["f32"]


def widen_first(function: Callable, count: int, narrow: PtxType) -> Callable[..., np.ndarray]:
    """The function of float32 with its first `count` operands in the narrow type."""

    def operation(*operands: np.ndarray) -> np.ndarray:
        wide = [bfloat.widen(x) if narrow.kind == "bfloat" else x.astype(np.float32) for x in operands[:count]]
        return function(*wide, *operands[count:])

    return operation


def select_mixed(name: str, nnarrow: int) -> Callable[[Modifiers], Operation]:
    """add and sub: d = a ± c with a narrow; fma: d = a * b + c with a and b narrow."""

    def select(mods: Modifiers) -> Operation:
        mode = mods.choose(*ROUNDING, default="rn")
        saturates = mods.flag("sat")
        mods.type("f32")
        narrow = mods.type("f16", "bf16")
        mods.finish()
        function = finish_float(rounded(name, mode, F32), False, saturates)
        return Operation(widen_first(function, nnarrow, narrow), (F32,), (*[narrow] * nnarrow, F32))

    return select


OPERATIONS = {"add": select_mixed("add", 1), "sub": select_mixed("sub", 1), "fma": select_mixed("fma", 2)}
