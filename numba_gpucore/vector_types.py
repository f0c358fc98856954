"""Short vectors of numbers in kernels: float32x4 (also float4), float16x2 (half2), … Before: language. After: names.

A vector is made of numbers and vectors that together have as many components, `float32x4(v.x, other2, 1.0)`; it has
components `.x .y .z .w` and cannot be changed. `+ - *` (and `/` of floats) work component by component, with a vector
of the same type or a number, and `fma` on three vectors of floats. Vectors are values of local and shared arrays
(`local.array(8, float32x4)`); there one of three takes the place of four, as in Metal. `array.view(float32x4)` reads
and writes the items of an array of float32 in C order four at a time; its last axis must be a multiple of four and its
start aligned to 16 bytes, else ValueError.

Names and aliases are CUDA's. Source: CUDA C++ Programming Guide, "Built-in Vector Types"; half2 from cuda_fp16.h.
"""

from __future__ import annotations

from typing import Any, NoReturn

from numba_gpucore import dtypes
from numba_gpucore.dtypes import DType
from numba_gpucore.language import refuse_on_host

COMPONENTS = "xyzw"
#: C's names for component types; long is 64 bits wide on every system that CUDA and Metal run on but Windows.
_C_NAMES: tuple[tuple[DType, tuple[str, ...]], ...] = (
    (dtypes.int8, ("char",)),
    (dtypes.int16, ("short",)),
    (dtypes.int32, ("int",)),
    (dtypes.int64, ("long", "longlong")),
    (dtypes.uint8, ("uchar",)),
    (dtypes.uint16, ("ushort",)),
    (dtypes.uint32, ("uint",)),
    (dtypes.uint64, ("ulong", "ulonglong")),
    (dtypes.float16, ("half",)),
    (dtypes.float32, ("float",)),
    (dtypes.float64, ("double",)),
)


class VectorClass:
    """What a kernel calls to make a vector; `base` is the type of its `count` components, `c_names` are C's for it."""

    def __init__(self, base: DType, c_names: tuple[str, ...], count: int):
        self.base = base
        self.count = count
        self.name = self.__name__ = f"{base.name}x{count}"
        self.aliases = tuple(f"{name}{count}" for name in c_names)

    def __call__(self, *parts: Any) -> NoReturn:
        refuse_on_host(f"{self.name}()")

    def __repr__(self) -> str:
        return f"<{self.name}: {self.count} numbers of type {self.base}>"


VECTOR_CLASSES = tuple(VectorClass(base, c_names, count) for base, c_names in _C_NAMES for count in (1, 2, 3, 4))


def vector_names() -> dict[str, VectorClass]:
    """Every name and alias of a vector class."""
    return {name: cls for cls in VECTOR_CLASSES for name in (cls.name, *cls.aliases)}
