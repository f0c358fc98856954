"""Methods of Python integers that Numba does not know. Before: a kernel uses one. After: compiled for the device."""

from numba.core import types
from numba.extending import overload_method

from numba_gpucore import language


@overload_method(types.Integer, "bit_count", target="gpucore")
def overload_bit_count(value):
    def bit_count(value):
        return language.popc(abs(value))

    return bit_count
