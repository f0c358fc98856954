"""numba.core.config with the variables that only numba.cuda knows. Before: install. After: programs that set them.

None of these changes anything here; programs read or set them on their way.
"""

from __future__ import annotations

import os
from types import ModuleType

from numba_gpucore.launch.advice import mark_unset

#: Variable → its default; the environment sets NUMBA_<name>. Source: numba-cuda 0.30, core/config.py.
_NUMBA_CUDA_VARIABLES = {
    "CUDA_DEBUG_POLY": 0,
    "CUDA_DEBUG_POLY_USE_TYPED_CONST": 0,
    "CUDA_ENABLE_NRT": 0,
    "CUDA_NRT_STATS": 0,
    "CUDA_NVRTC_EXTRA_SEARCH_PATHS": "",
}


def complete_config(config: ModuleType) -> None:
    """Give numba.core.config what programs for numba.cuda look for in it."""
    mark_unset(config)
    for name, default in _NUMBA_CUDA_VARIABLES.items():
        if not hasattr(config, name):
            text = os.environ.get(f"NUMBA_{name}", "")
            setattr(config, name, int(text) if text.isdecimal() and default == 0 else text or default)
