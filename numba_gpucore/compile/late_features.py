"""Parts of the language that few kernels use, loaded where a program needs one. Before: late_contexts asks. After:
typing and lowering, which register what these parts mean.

Together they are two thirds of what the compiler would import and register for a session's first kernel. What is loaded
later than the rest means the same as if it had been there from the start: no attribute is in two of these parts, and
templates of one function in two of them take different types (tests/unit/test_late_features.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from numba_gpucore.base.collector import collector_held
from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.numba_api import global_compiler_lock, types


@dataclass(frozen=True)
class LateFeature:
    """modules: what to import. typing, lowering: registries of theirs beside those that contexts install anyway, as
    "module:name"."""

    modules: tuple[str, ...]
    typing: tuple[str, ...] = ()
    lowering: tuple[str, ...] = ()

    @property
    def is_loaded(self) -> bool:
        return all(name in sys.modules for name in self.modules)


def _stubs(name: str) -> LateFeature:
    return LateFeature(tuple(f"numba_gpucore.compile.{step}.{name}" for step in ("typing", "lower")))


#: Modules with stubs in numba_gpucore; what they mean is in modules of the same names in typing and lower.
STUB_MODULES = ("cache_hints", "cooperative_groups", "fp16", "libdevice")
LATE_FEATURES = {
    **{name: _stubs(name) for name in STUB_MODULES},
    "array functions": LateFeature(("numba_gpucore.compile.array_math",)),
    "ufuncs": LateFeature(
        (
            "numba.np.npyimpl",
            "numba_gpucore.compile.half_ufuncs",
            "numba_gpucore.compile.lower.half_ufuncs",
            "numba_gpucore.compile.lower.ufuncs",
        ),
        typing=("numba.core.typing.npydecl:registry", "numba_gpucore.compile.half_ufuncs:HALF_UFUNC_TYPING"),
        lowering=("numba.np.npyimpl:registry",),
    ),
    "cmath": LateFeature(
        ("numba.core.typing.cmathdecl", "numba.cpython.cmathimpl"),
        typing=("numba.core.typing.cmathdecl:registry",),
        lowering=("numba.cpython.cmathimpl:registry",),
    ),
    "dates": LateFeature(("numba.np.npdatetime", "numba.np.types.datetime_registry")),
    "hashes": LateFeature(("numba.cpython.hashing",)),
    "random numbers": LateFeature(("numba.cpython.randomimpl",)),
    "texts": LateFeature(("numba.cpython.unicode", "numba.cpython.charseq")),
    "lists": LateFeature(("numba.cpython.listobj",)),
}
_FEATURES_OF_MODULES = {
    **{f"numba_gpucore.{name}": (name,) for name in STUB_MODULES},
    "cmath": ("cmath",),
    "numpy": ("array functions", "ufuncs"),
}


def features_of_value(value: Any) -> tuple[str, ...]:
    """The features that may know a value which a program mentions, the likeliest first."""
    if isinstance(value, np.ufunc):
        return ("ufuncs",)
    module = getattr(value, "__module__", None)
    if not isinstance(module, str):
        return ()
    return _FEATURES_OF_MODULES.get(module) or _FEATURES_OF_MODULES.get(module.partition(".")[0], ())


def features_of_call(function: Any, operands: Iterable[types.Type]) -> tuple[str, ...]:
    """The features that may know what a function is of such operands, where it is unknown without."""
    likely = features_of_value(getattr(function, "typing_key", function))
    return likely or (("ufuncs",) if any(isinstance(type_, types.Array) for type_ in operands) else ())


def features_of_attribute(owner: types.Type) -> tuple[str, ...]:
    """The features that may know an attribute of values of this type which is unknown without."""
    return ("array functions",) if isinstance(owner, types.Array) else ()


def loaded_features() -> frozenset[str]:
    """The names of those whose modules are there, whoever imported them."""
    return frozenset(name for name, feature in LATE_FEATURES.items() if feature.is_loaded)


def load_features(names: Iterable[str]) -> None:
    """Import what these features consist of."""
    # Numba's compilers in other threads look at its registries under this lock.
    with global_compiler_lock, collector_held():
        for module in (module for name in names for module in LATE_FEATURES[name].modules):
            import_module(module)


def typing_registries() -> Iterator[Any]:
    """Those that features which are loaded have of their own."""
    return _registries("typing")


def lowering_registries() -> Iterator[Any]:
    return _registries("lowering")


def _registries(step: str) -> Iterator[Any]:
    for feature in LATE_FEATURES.values():
        if feature.is_loaded:
            for place in getattr(feature, step):
                module, _, name = place.partition(":")
                yield getattr(sys.modules[module], name)
