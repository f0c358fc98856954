"""The registry that all kernel language lowering goes into. Before: typing. After: target context."""

from __future__ import annotations

from numba_gpucore.compile.numba_api import LoweringRegistry

registry = LoweringRegistry("gpucore")
#: Installed after Numba's own, for what that has for the very same types: of equal signatures the last one counts.
replacements = LoweringRegistry("gpucore replacements")
lower = registry.lower
replace = replacements.lower
replace_attribute = replacements.lower_getattr
lower_attribute = registry.lower_getattr
lower_getattr_generic = registry.lower_getattr_generic
lower_setattr_generic = registry.lower_setattr_generic
lower_cast = registry.lower_cast
lower_constant = registry.lower_constant
