"""Arrays as `__cuda_array_interface__` describes them. Before: an array object. After: launch, compile.

Source: the CUDA Array Interface, version 3 (numba.readthedocs.io, "CUDA Array Interface").
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

import numpy as np

from numba_gpucore.base.argtypes import Layout
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.base.records import dataclass


@dataclass(frozen=True)
class ForeignView:
    """Where a foreign array lies: address in bytes, shape in elements, strides in bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    readonly: bool
    stream: Any = None


def is_foreign_array(value: Any) -> bool:
    return hasattr(value, "__cuda_array_interface__")


def contiguous_strides(shape: tuple[int, ...], itemsize: int, order: str = "C") -> tuple[int, ...]:
    """Strides in bytes of a dense array. `order`: "C" or "F"."""
    extents = shape if order == "F" else shape[::-1]
    strides, step = [], itemsize
    for extent in extents:
        strides.append(step)
        step *= extent
    return tuple(strides if order == "F" else strides[::-1])


def strides_match(shape: tuple[int, ...], strides: tuple[int, ...], dense: tuple[int, ...]) -> bool:
    return all(extent == 1 or stride == step for extent, stride, step in zip(shape, strides, dense, strict=True))


def layout_of_strides(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Layout:
    """C, F or A as NumPy's flags say: strides of axes with one element do not count; C wins; empty arrays are C."""
    if 0 in shape or strides_match(shape, strides, contiguous_strides(shape, itemsize)):
        return "C"
    return "F" if strides_match(shape, strides, contiguous_strides(shape, itemsize, "F")) else "A"


def read_interface(value: Any) -> ForeignView:
    """Decode `value.__cuda_array_interface__`, or such a dictionary itself. Raises ArgumentError."""
    description = value if isinstance(value, dict) else value.__cuda_array_interface__
    try:
        return _read_description(description)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"malformed __cuda_array_interface__ {description!r}: {error!r}") from error


def _read_description(description: Any) -> ForeignView:
    """Raises KeyError, TypeError, ValueError where the description is not as the interface has it."""
    shape = tuple(map(index, description["shape"]))
    address, readonly = description["data"]
    dtype = np.dtype(description["typestr"])
    if description.get("mask") is not None:
        raise MaskedArrayError("masked arrays cannot be passed through __cuda_array_interface__")
    if dtype.kind == "V" and description.get("descr"):
        dtype = np.lib.format.descr_to_dtype(description["descr"])
    strides = description.get("strides")
    strides = contiguous_strides(shape, dtype.itemsize) if strides is None else tuple(map(index, strides))
    if min(shape, default=0) < 0:
        raise ValueError("extents cannot be negative")
    if len(strides) != len(shape):
        raise ValueError(f"{len(shape)} extents and {len(strides)} strides")
    return ForeignView(index(address or 0), shape, strides, dtype, bool(readonly), description.get("stream"))


class MaskedArrayError(ArgumentError, NotImplementedError):
    """numba.cuda raises NotImplementedError."""


def span_nbytes(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Byte range [low, high) that an array touches, relative to its first element."""
    if prod(shape) == 0:
        return 0, 0
    reach = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + itemsize
