"""Our targets in Numba's registries. Before: the entry point, driver. After: dispatcher, on demand.

`GpuCore` is the common parent: an `@overload(..., target="gpucore")` holds for both targets and is not seen by
numba-cuda, which looks at "gpu" and "cuda" only. What users overload for "cuda" holds for our targets too.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType

from numba.core.target_extension import CUDA, dispatcher_registry, jit_registry, target_registry


class GpuCore(CUDA):
    """What Metal and PTX programs have in common."""


class Metal(GpuCore):
    """Programs as numba_metal means them."""


class PtxPlus(GpuCore):
    """Programs as numba_ptxplus means them."""


#: Metadata of a typing template: those of a target come before Numba's, which are for every target.
FOR_OUR_TARGETS = MappingProxyType({"target": "gpucore"})
TARGET_CLASSES: dict[str, type[GpuCore]] = {"gpucore": GpuCore, "metal": Metal, "ptxplus": PtxPlus}


def register_targets() -> None:
    """Make Numba know our targets by name; dispatchers and `jit` are made when first asked for. Idempotent."""
    if "gpucore" in target_registry:
        return
    for name, target_class in TARGET_CLASSES.items():
        target_registry[name] = target_class
        if target_class is not GpuCore:
            dispatcher_registry.ondemand[target_class] = lambda name=name: _dispatcher_class(name)
            jit_registry.ondemand[target_class] = lambda name=name: _jit_decorator(name)


def _load_compiler():
    return import_module("numba_gpucore.compile.dispatcher")


def _dispatcher_class(target_name: str) -> type:
    return _load_compiler().descriptor_for(target_name).dispatcher_class


def _jit_decorator(target_name: str):
    return _load_compiler().jit_decorator(target_name)
