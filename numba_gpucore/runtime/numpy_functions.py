"""NumPy functions that Numba writes with temporary arrays, without them. Before: a kernel uses one. After: compiled.

Each takes precedence over Numba's own for the arguments named here; for others Numba's stands.
"""

import numpy as np
from numba.extending import overload

from numba_gpucore.compile.numba_api import numpy_support, types

_SCALARS = (types.Number, types.Boolean)


def _is_none(type_) -> bool:
    return type_ is None or isinstance(type_, (types.NoneType, types.Omitted))


@overload(np.where, target="gpucore")
def overload_where(condition, x, y):
    """Scalars only."""
    if not all(isinstance(type_, _SCALARS) for type_ in (condition, x, y)):
        return None

    def where(condition, x, y):
        return x if condition else y

    return where


@overload(np.clip, target="gpucore")
def overload_clip(a, a_min, a_max, out=None):
    """Scalars only; NaN stays NaN."""
    if not all(isinstance(type_, _SCALARS) for type_ in (a, a_min, a_max)) or not _is_none(out):
        return None

    def clip(a, a_min, a_max, out=None):
        return np.minimum(np.maximum(a, a_min), a_max)

    return clip


@overload(np.count_nonzero, target="gpucore")
def overload_count_nonzero(a, axis=None):
    """Over all items."""
    if not isinstance(a, types.Array) or not _is_none(axis):
        return None

    def count_nonzero(a, axis=None):
        count = 0
        for item in a.flat:
            if item != 0:
                count += 1
        return count

    return count_nonzero


@overload(np.dot, target="gpucore")
def overload_dot(a, b, out=None):
    """Arrays of one dimension; the sum has the type of a product of items."""
    vectors = all(isinstance(type_, types.Array) and type_.ndim == 1 for type_ in (a, b))
    if not vectors or not _is_none(out):
        return None

    # The type of a product decides the precision: float32 vectors are summed in float32.
    zero = np.result_type(*(numpy_support.as_dtype(type_.dtype) for type_ in (a, b))).type(0)

    def dot(a, b, out=None):
        if a.size != b.size:
            raise ValueError("the arrays of a dot product differ in size")
        total = zero
        for i in range(a.size):
            total += a[i] * b[i]
        return total

    return dot


@overload(np.array_equal, target="gpucore")
def overload_array_equal(a1, a2):
    """Arrays of as many dimensions."""
    if not all(isinstance(type_, types.Array) for type_ in (a1, a2)) or a1.ndim != a2.ndim:
        return None

    def array_equal(a1, a2):
        if a1.shape != a2.shape:
            return False
        for x, y in zip(a1.flat, a2.flat):  # noqa: B905 (Numba has no strict=)
            if x != y:
                return False
        return True

    return array_equal
