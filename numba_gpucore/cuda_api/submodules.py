"""Modules below numba.cuda that programs import. Before: the import system asks `install`. After: the program.

Where numba.cuda has a copy of a module of Numba's front end, Numba's own answers, imported when first used.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from numba_gpucore.cuda_api import devicearray
from numba_gpucore.launch.streams import Event, Stream
from numba_gpucore.launch.wrappers import In, InOut, Out

#: Name below numba.cuda → the modules whose names it has: Numba's, and for registries our compiler's.
FORWARDED = {
    "types": ("numba.core.types",),
    "extending": ("numba.extending", "numba.core.extending"),
    "core": ("numba.core",),
    "typing": ("numba.core.typing",),
    "typeconv": ("numba.core.typeconv",),
    "datamodel": ("numba.core.datamodel",),
    "cgutils": ("numba.core.cgutils",),
    "errors": ("numba.core.errors",),
    "np": ("numba.np",),
    "cudadecl": ("numba_gpucore.compile.typing.registry",),
    "cudamath": ("numba_gpucore.compile.typing.registry",),
    "cudaimpl": ("numba_gpucore.compile.lower.registry",),
}
#: Other names that numba.cuda's modules have, as "module" or "module:NAME".
_RENAMED = {
    "extending": {"core_models": "numba.core.datamodel.models"},
    "cudaimpl": {"lower_attr": "numba_gpucore.compile.lower.registry:lower_attribute"},
}


class ForwardingModule(ModuleType):
    """A module with the names of others, which are imported when the first name is asked for."""

    def __init__(self, name: str, sources: Sequence[str], renamed: Mapping[str, str]):
        super().__init__(name, f"The names of {' and '.join(sources)}.")
        self._sources = sources
        self._renamed = renamed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name in self._renamed:
            source, _, attribute = self._renamed[name].partition(":")
            module = importlib.import_module(source)
            return getattr(module, attribute) if attribute else module
        for module in map(importlib.import_module, self._sources):
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        names = {name for source in self._sources for name in dir(importlib.import_module(source))}
        return sorted({*self.__dict__, *names, *self._renamed})


def _own_modules(package: ModuleType) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
    return {
        "cudadrv": dict,
        "cudadrv.devicearray": lambda: devicearray.module_names(package),
        "cudadrv.driver": lambda: {"Stream": Stream, "Event": Event, "_have_nvjitlink": _have_nvjitlink},
        "cudadrv.devices": lambda: {"gpus": package.gpus, "get_context": package.current_context},
        "devicearray": lambda: devicearray.module_names(package),
        "args": lambda: {"In": In, "Out": Out, "InOut": InOut},
        "api": lambda: {name: value for name, value in vars(package).items() if not name.startswith("_")},
    }


def _have_nvjitlink() -> bool:
    """Whether `lto=True` is taken, which programs ask by this name: kernels are always linked and optimised whole."""
    return True


def submodule_names(package: ModuleType) -> Sequence[str]:
    """The modules below numba.cuda that `package` has, parents first. Below forwarded ones there are more."""
    return sorted((*FORWARDED, *_own_modules(package), "compiler"))


def make_submodule(leaf: str, package: ModuleType) -> ModuleType | None:
    """The module `numba.cuda.<leaf>` for `package`, or None where there is no such module."""
    name = f"numba.cuda.{leaf}"
    if leaf in FORWARDED:
        return ForwardingModule(name, FORWARDED[leaf], _RENAMED.get(leaf, {}))
    if leaf == "compiler":  # compile_ptx and its like, where the package has them
        return ForwardingModule(name, (package.__name__,), {})
    parent, _, rest = leaf.partition(".")
    if rest and parent in FORWARDED:
        source = f"{FORWARDED[parent][0]}.{rest}"
        return ForwardingModule(name, (source,), {}) if importlib.util.find_spec(source) else None
    own = _own_modules(package)
    if leaf not in own:
        return None
    module = ModuleType(name, f"numba.cuda's module of that name, as {package.__name__} has it.")
    module.__dict__.update(own[leaf]())
    return module
