"""Typing of NumPy's iterators over arrays. Before: Numba's npydecl. After: Numba's lowering in arrayobj.

Numba's own array functions use them, most often without any ufunc, in whose registry Numba has them.
"""

from __future__ import annotations

import numpy as np

from numba_gpucore.compile.numba_api import npydecl
from numba_gpucore.compile.typing.registry import registry

registry.register_global(np.nditer)(npydecl.NdIter)
registry.register_global(np.ndindex)(npydecl.NdIndex)
registry.register_global(np.ndenumerate)(npydecl.NdEnumerate)
