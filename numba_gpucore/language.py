"""The kernel language: what a kernel may call, as documented stubs. Before: dtypes. After: typed in compile/typing.

Both packages re-export these names, so that `numba_metal.grid` is `numba_ptxplus.grid`. On the host they only raise
KernelLanguageError. Words and meanings are those of CUDA Python. Unless said otherwise, integers may have any width.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from numba_gpucore.base.errors import KernelLanguageError

F = TypeVar("F", bound=Callable[..., Any])

#: Threads in a warp (Metal: SIMD-group) on every device.
warpsize = 32
FULL_MASK = 0xFFFFFFFF


def refuse_on_host(name: str) -> NoReturn:
    """Raise KernelLanguageError for a part of the language that the host has used."""
    raise KernelLanguageError(f"{name} exists only while a kernel runs; call it inside a function decorated with @jit")


def kernel_only(function: F) -> F:
    """A stub with the same name, documentation and signature that raises when the host calls it."""

    @functools.wraps(function)
    def stub(*args: Any, **keywords: Any) -> NoReturn:
        refuse_on_host(f"{function.__qualname__}()")

    return stub  # type: ignore[return-value]


class KernelVector:
    """Three int32 numbers `.x`, `.y`, `.z` that every thread reads for itself; `intrinsic` supplies them."""

    def __init__(self, name: str, intrinsic: str):
        self.name = name
        self.intrinsic = intrinsic

    @property
    def x(self) -> int:
        refuse_on_host(f"{self.name}.x")

    @property
    def y(self) -> int:
        refuse_on_host(f"{self.name}.y")

    @property
    def z(self) -> int:
        refuse_on_host(f"{self.name}.z")

    def __repr__(self) -> str:
        return f"<{self.name}: x, y and z of the running thread>"


class KernelInteger:
    """An int32 number that every thread reads for itself; `intrinsic` supplies it."""

    def __init__(self, name: str, intrinsic: str):
        self.name = name
        self.intrinsic = intrinsic

    def _refuse(self, *_other: object) -> NoReturn:
        refuse_on_host(self.name)

    def __eq__(self, other: object) -> bool:
        return self is other or self._refuse()

    # Numba folds branches on constants by comparing them on the host: an answer would be wrong, raising stops it.
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __int__ = __index__ = __float__ = _refuse
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{self.name} of the running thread>"


threadIdx = KernelVector("threadIdx", "gpu.thread_id")
blockIdx = KernelVector("blockIdx", "gpu.block_id")
blockDim = KernelVector("blockDim", "gpu.block_dim")
gridDim = KernelVector("gridDim", "gpu.grid_dim")
#: Place of the thread in its warp, 0 to 31.
laneid = KernelInteger("laneid", "gpu.lane_id")


# -- where am I


@kernel_only
def grid(ndim: int) -> int | tuple[int, ...]:
    """Place of the thread in the whole grid: int64 for the literal `ndim` 1, else a tuple of `ndim` (2 or 3) int64."""


@kernel_only
def gridsize(ndim: int) -> int | tuple[int, ...]:
    """Threads in the whole grid along 1, 2 or 3 axes, as `grid` gives places."""


# -- waiting for each other


@kernel_only
def syncthreads() -> None:
    """Wait until every live thread of the block is here; then all see each other's writes."""


@kernel_only
def syncthreads_count(predicate: int) -> int:
    """`syncthreads`; gives the number of threads (int32) whose `predicate` is not zero."""


@kernel_only
def syncthreads_and(predicate: int) -> int:
    """`syncthreads`; gives 1 (int32) if the `predicate` of every thread is not zero, else 0."""


@kernel_only
def syncthreads_or(predicate: int) -> int:
    """`syncthreads`; gives 1 (int32) if the `predicate` of any thread is not zero, else 0."""


@kernel_only
def syncwarp(mask: int = FULL_MASK) -> None:
    """Wait for the lanes of the warp that `mask` names; then these see each other's writes."""


@kernel_only
def threadfence() -> None:
    """Earlier writes become visible to the whole device before later ones."""


@kernel_only
def threadfence_block() -> None:
    """Earlier writes become visible to the block before later ones."""


@kernel_only
def threadfence_system() -> None:
    """Earlier writes become visible to device and host before later ones."""


@kernel_only
def nanosleep(nanoseconds: int) -> None:
    """Pause for about so long; a hint that devices may ignore."""


# -- talking within a warp


@kernel_only
def shfl_sync(mask: int, value: Any, src_lane: int) -> Any:
    """The `value` (integer, bool or float up to 64 bits) of lane `src_lane` modulo 32."""


@kernel_only
def shfl_up_sync(mask: int, value: Any, delta: int) -> Any:
    """The `value` of the lane `delta` below; lanes below `delta` keep their own."""


@kernel_only
def shfl_down_sync(mask: int, value: Any, delta: int) -> Any:
    """The `value` of the lane `delta` above; the last `delta` lanes keep their own."""


@kernel_only
def shfl_xor_sync(mask: int, value: Any, lane_mask: int) -> Any:
    """The `value` of the lane whose number is the own one xor `lane_mask`."""


@kernel_only
def all_sync(mask: int, predicate: int) -> bool:
    """True if the `predicate` of every lane in `mask` is not zero."""


@kernel_only
def any_sync(mask: int, predicate: int) -> bool:
    """True if the `predicate` of any lane in `mask` is not zero."""


@kernel_only
def eq_sync(mask: int, predicate: int) -> bool:
    """True if all lanes in `mask` agree on whether their `predicate` is zero."""


@kernel_only
def ballot_sync(mask: int, predicate: int) -> int:
    """uint32 whose bit i is set if lane i is in `mask` and its `predicate` is not zero."""


@kernel_only
def match_any_sync(mask: int, value: Any) -> int:
    """uint32 mask of the lanes in `mask` whose `value` has the same bits as the own one."""


@kernel_only
def match_all_sync(mask: int, value: Any) -> tuple[int, bool]:
    """(`mask`, True) if `value` has the same bits in all lanes of `mask`, else (0, False); the mask is uint32."""


@kernel_only
def activemask() -> int:
    """uint32 mask of the lanes that run together with this one right now."""


@kernel_only
def lanemask_lt() -> int:
    """uint32 mask of the lanes below this one."""


# -- bits and numbers


@kernel_only
def popc(value: int) -> int:
    """Number of set bits, in the type of `value`."""


@kernel_only
def brev(value: int) -> int:
    """The bits of `value` (uint32 or uint64) in reverse order."""


@kernel_only
def clz(value: int) -> int:
    """Number of zero bits above the highest set one, in the type of `value`; its width in bits for 0."""


@kernel_only
def ffs(value: int) -> int:
    """Position of the lowest set bit counted from 1, as uint32; 0 for 0."""


@kernel_only
def fma(a: float, b: float, c: float) -> float:
    """a * b + c, rounded once."""


@kernel_only
def cbrt(value: float) -> float:
    """Cube root."""


@kernel_only
def rsqrt(value: float) -> float:
    """1 / sqrt(value)."""


@kernel_only
def selp(condition: bool, a: Any, b: Any) -> Any:
    """`a` if `condition` else `b`, both already evaluated; integers of 16 bits or more, or floats, of one type."""


# -- promises


@kernel_only
def static_assert(condition: bool, text: str = "") -> None:
    """Compiling fails with `text` (a literal) unless `condition` can be proved from types and constants alone."""


# -- memory


class shared:
    """Memory that the threads of a block share."""

    @staticmethod
    @kernel_only
    def array(shape: int | tuple[int, ...], dtype: Any, alignment: int | None = None) -> Any:
        """An uninitialised array in C order, the same one for all threads of the block.

        `shape` is made of integers known when compiling (literals, globals, closure variables). Each call in the
        source is one array, however often it runs. Shape 0 stands for the dynamic shared memory of the launch
        (`kernel[grid, block, stream, nbytes]`), as many items as fit; all such arrays start at the same byte.
        `alignment` is a power of two, in bytes.
        """


class local:
    """Memory of one thread."""

    @staticmethod
    @kernel_only
    def array(shape: int | tuple[int, ...], dtype: Any, alignment: int | None = None) -> Any:
        """An uninitialised array in C order for this thread alone; arguments as for `shared.array`, never empty."""


class const:
    """Memory that no thread changes."""

    @staticmethod
    @kernel_only
    def array_like(array: Any) -> Any:
        """The host array `array` (a global or closure variable) as it was when the kernel was compiled."""


class atomic:
    """Updates that no other thread can split; each returns the value from before.

    Arrays hold numbers of 32 or 64 bits, or float16. `index` is an integer, or a tuple with one integer for each axis;
    negative ones count from the end. No order of other memory accesses is implied: use `threadfence`.
    """

    @staticmethod
    @kernel_only
    def add(array: Any, index: Any, value: Any) -> Any:
        """array[index] += value"""

    @staticmethod
    @kernel_only
    def sub(array: Any, index: Any, value: Any) -> Any:
        """array[index] -= value"""

    @staticmethod
    @kernel_only
    def and_(array: Any, index: Any, value: Any) -> Any:
        """array[index] &= value (integers)"""

    @staticmethod
    @kernel_only
    def or_(array: Any, index: Any, value: Any) -> Any:
        """array[index] |= value (integers)"""

    @staticmethod
    @kernel_only
    def xor(array: Any, index: Any, value: Any) -> Any:
        """array[index] ^= value (integers)"""

    @staticmethod
    @kernel_only
    def inc(array: Any, index: Any, value: Any) -> Any:
        """array[index] = 0 if array[index] >= value else array[index] + 1 (unsigned)"""

    @staticmethod
    @kernel_only
    def dec(array: Any, index: Any, value: Any) -> Any:
        """array[index] = value if array[index] == 0 or array[index] > value else array[index] - 1 (unsigned)"""

    @staticmethod
    @kernel_only
    def exch(array: Any, index: Any, value: Any) -> Any:
        """array[index] = value"""

    @staticmethod
    @kernel_only
    def max(array: Any, index: Any, value: Any) -> Any:
        """array[index] = max(array[index], value); unchanged if either is NaN"""

    @staticmethod
    @kernel_only
    def min(array: Any, index: Any, value: Any) -> Any:
        """array[index] = min(array[index], value); unchanged if either is NaN"""

    @staticmethod
    @kernel_only
    def nanmax(array: Any, index: Any, value: Any) -> Any:
        """array[index] = the larger one, or the one that is not NaN"""

    @staticmethod
    @kernel_only
    def nanmin(array: Any, index: Any, value: Any) -> Any:
        """array[index] = the smaller one, or the one that is not NaN"""

    @staticmethod
    @kernel_only
    def cas(array: Any, index: Any, old: Any, value: Any) -> Any:
        """array[index] = value if array[index] == old (integers, or floats compared by their bits)"""

    @staticmethod
    @kernel_only
    def compare_and_swap(array: Any, old: Any, value: Any) -> Any:
        """`cas` on element 0 of a 1-D array"""
