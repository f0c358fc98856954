"""Methods that Numba lacks, or has only with a heap. Before: a kernel uses one. After: compiled for the device."""

import numpy as np
from numba.extending import overload_classmethod, overload_method

from numba_gpucore import language
from numba_gpucore.compile.numba_api import errors, types

NO_HEAP = (
    "a kernel cannot allocate memory (a new array, a list, a string, a copy): use local.array or shared.array with a "
    "constant shape, or pass an array to write into"
)


@overload_method(types.Integer, "bit_count", target="gpucore")
def overload_bit_count(value):
    def bit_count(value):
        return language.popc(abs(value))

    return bit_count


@overload_method(types.Array, "take", target="gpucore")
def overload_take(array, indices, axis=None):
    """One item; Numba's `max` and `min` begin with it. Numba's own version flattens, which may need a copy."""
    if not isinstance(indices, types.Integer) or not isinstance(axis, (type(None), types.NoneType, types.Omitted)):
        return None

    def take(array, indices, axis=None):
        place = indices + array.size if indices < 0 else indices
        if place < 0 or place >= array.size:
            raise IndexError("index is out of bounds")
        return array.flat[place]

    return take


@overload_classmethod(types.Array, "_allocate", target="gpucore")
def overload_allocate(array_class, size, align):
    """What Numba asks for where NumPy would make an array."""
    raise errors.UnsupportedError(NO_HEAP)


@overload_method(types.Array, "dot", target="gpucore")
def overload_array_dot(array, other):
    def dot(array, other):
        return np.dot(array, other)

    return dot
