"""Our ufuncs as targets of numba.vectorize and numba.guvectorize. Before: Numba's registries. After: ufuncs.decorators.

`target="metal"` and `"ptxplus"` are there wherever one of our packages was imported or Numba has compiled something;
`target="cuda"` asks numba.cuda.vectorizers, which is ours after install_as_cuda().
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from numba_gpucore.cuda_api.late_install import call_after_import
from numba_gpucore.launch.platform import Platform, platform_of

_DECORATORS = "numba.np.ufunc.decorators"
_BUILDERS = "numba_gpucore.ufuncs.decorators"
_PLATFORMS = {"metal": "numba_metal.target:PLATFORM", "ptxplus": "numba_ptxplus.target:PLATFORM"}


def register_when_numba_loads() -> None:
    """Add our targets to Numba's decorators, now if they are loaded, else when they are."""
    call_after_import(_DECORATORS, register_targets)


def register_targets(decorators: ModuleType) -> None:
    """Add our targets to the registries of numba.np.ufunc.decorators. Idempotent."""
    for decorator, builder in ((decorators.Vectorize, "UFuncBuilder"), (decorators.GUVectorize, "GUFuncBuilder")):
        registry = decorator.target_registry
        for name, path in _PLATFORMS.items():
            if name not in registry and name not in registry.ondemand:  # Numba takes no name twice
                registry.ondemand[name] = functools.partial(_load, builder, path)


def _load(builder: str, path: str) -> Any:
    module, _, attribute = path.partition(":")
    return _bound(builder, getattr(importlib.import_module(module), attribute))


def _bound(name: str, platform: Platform) -> Any:
    return functools.partial(getattr(importlib.import_module(_BUILDERS), name), platform)


def vectorizers(package: ModuleType) -> Mapping[str, Any]:
    """The names of numba.cuda.vectorizers that Numba asks for."""
    platform = platform_of(package)
    return {
        "CUDAVectorize": _bound("UFuncBuilder", platform),
        "CUDAGUFuncVectorize": _bound("GUFuncBuilder", platform),
    }


def reduction(package: ModuleType) -> Mapping[str, Any]:
    """The name of numba.cuda.kernels.reduction."""
    return {"Reduce": package.Reduce}
