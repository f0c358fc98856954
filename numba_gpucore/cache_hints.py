"""Loads and stores with numba.cuda's cache operators, as stubs. Before: language. After: typed in compile/typing.

An element is read or written as by `array[i]`; the operator says how caches should treat it, and changes no result.
`i` is an integer, or a tuple with one integer for each axis. Elements are integers, floats and bools of 8 to 64 bits.
Source: PTX ISA, "Cache Operators". Devices other than NVIDIA's ignore the operator, and so does shared memory.
"""

from __future__ import annotations

from typing import Any

from numba_gpucore.language import kernel_only


@kernel_only
def ldca(array: Any, i: Any) -> Any:
    """array[i], cached at all levels, likely to be read again."""


@kernel_only
def ldcg(array: Any, i: Any) -> Any:
    """array[i], cached at the global level (L2), not in L1."""


@kernel_only
def ldcs(array: Any, i: Any) -> Any:
    """array[i], likely to be read once: evicted first."""


@kernel_only
def ldlu(array: Any, i: Any) -> Any:
    """array[i] for the last time."""


@kernel_only
def ldcv(array: Any, i: Any) -> Any:
    """array[i] from memory, whatever caches hold."""


@kernel_only
def stcg(array: Any, i: Any, value: Any) -> None:
    """array[i] = value, cached at the global level (L2)."""


@kernel_only
def stcs(array: Any, i: Any, value: Any) -> None:
    """array[i] = value, likely to be used once: evicted first."""


@kernel_only
def stwb(array: Any, i: Any, value: Any) -> None:
    """array[i] = value, written back from all levels."""


@kernel_only
def stwt(array: Any, i: Any, value: Any) -> None:
    """array[i] = value, written through to memory."""


LOADS = (ldca, ldcg, ldcs, ldlu, ldcv)
STORES = (stcg, stcs, stwb, stwt)
