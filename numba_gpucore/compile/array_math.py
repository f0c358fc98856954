"""Numba's array functions, imported without SciPy. Before: late_features. After: Numba's registries hold them.

Importing numba.np.arraymath imports scipy.linalg, to see whether there is BLAS: that took 0.3 s of a session's first
kernel, and no device has BLAS. Here it is looked for when a program on the CPU first needs it (numba.np.arraymath,
`_check_blas`; its one reader, `_get_inner_prod`, takes it for a truth value).
"""

from __future__ import annotations

import sys
from typing import Any

from numba.np import linalg


class _BlasWhenAsked:
    def __bool__(self) -> bool:
        arraymath: Any = sys.modules["numba.np.arraymath"]
        arraymath._HAVE_BLAS = arraymath._check_blas()
        return arraymath._HAVE_BLAS


def _import_array_math() -> None:
    if "numba.np.arraymath" in sys.modules:
        return
    look_for_blas = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        from numba.np import arraymath  # noqa: PLC0415 - under the changed question
    finally:
        linalg.ensure_blas = look_for_blas
    arraymath.ensure_blas = look_for_blas
    arraymath._HAVE_BLAS = _BlasWhenAsked()


_import_array_math()
