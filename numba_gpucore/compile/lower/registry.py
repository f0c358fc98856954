"""The registry that all kernel language lowering goes into. Before: typing. After: target context."""

from __future__ import annotations

from numba_gpucore.compile.numba_api import LoweringRegistry

registry = LoweringRegistry("gpucore")
lower = registry.lower
lower_attribute = registry.lower_getattr
lower_getattr_generic = registry.lower_getattr_generic
lower_setattr_generic = registry.lower_setattr_generic
lower_cast = registry.lower_cast
lower_constant = registry.lower_constant
