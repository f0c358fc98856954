"""Modules below numba.cuda that programs import. Before: the import system asks `install`. After: the program.

Where numba.cuda has a copy of a module of Numba's front end, Numba's own answers. Everything is imported when a program
asks for a first name, so that the modules themselves cost next to nothing.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

#: Name below numba.cuda → the modules whose names it has: Numba's, and for registries our compiler's.
FORWARDED = {
    "types": ("numba.core.types",),
    "extending": ("numba_gpucore.compile.cuda_extending", "numba.extending", "numba.core.extending"),
    "core": ("numba.core",),
    "typing": ("numba.core.typing",),
    "typeconv": ("numba.core.typeconv",),
    "datamodel": ("numba.core.datamodel",),
    "cpython": ("numba.cpython",),
    "misc": ("numba.misc",),
    "literal": ("numba.misc.literal",),
    "np": ("numba.np",),
    "cgutils": ("numba.core.cgutils",),
    "config": ("numba.core.config",),
    "debuginfo": ("numba.core.debuginfo",),
    "flags": ("numba.core.compiler",),
    "itanium_mangler": ("numba.core.itanium_mangler",),
    "lowering": ("numba.core.lowering",),
    "models": ("numba_gpucore.compile.cuda_extending", "numba.core.datamodel.models"),
    "serialize": ("numba.core.serialize",),
    "utils": ("numba.core.utils",),
    "cudadecl": ("numba_gpucore.compile.typing.registry",),
    "cudamath": ("numba_gpucore.compile.typing.registry",),
    "cudaimpl": ("numba_gpucore.compile.lower.registry",),
    "cg": ("numba_gpucore.cooperative_groups",),
    "cache_hints": ("numba_gpucore.cache_hints",),
    "fp16": ("numba_gpucore.fp16",),
    "intrinsics": ("numba_gpucore.language",),
    "libdevice": ("numba_gpucore.libdevice",),
    "libdevicefuncs": ("numba_gpucore.compile.typing.libdevice",),
    "stubs": ("numba_gpucore.language",),
    "vector_types": ("numba_gpucore.compile.typing.vectors",),
    "cudadrv.error": ("numba_gpucore.cuda_api.driver_errors",),
    "cudadrv.linkable_code": ("numba_gpucore.cuda_api.linkable_code",),
    "core.callconv": ("numba.core.callconv", "numba_gpucore.compile.call_conv"),
    "core.options": ("numba.core.options", "numba.core.cpu"),
}
#: Other names that numba.cuda's modules have, as "module" or "module:NAME".
_RENAMED = {
    "types": {
        "GridGroup": "numba_gpucore.compile.typing.cooperative_groups:GridGroupType",
        "grid_group": "numba_gpucore.compile.typing.cooperative_groups:grid_group",
    },
    "cudaimpl": {"lower_attr": "numba_gpucore.compile.lower.registry:lower_attribute"},
    "core.callconv": {"CUDACallConv": "numba_gpucore.compile.call_conv:ContextCallConv"},
}
#: Name below numba.cuda → the function that makes its names for a package, as "module:function".
_OWN = {
    "api": "numba_gpucore.cuda_api.module_tables:api",
    "args": "numba_gpucore.cuda_api.module_tables:args",
    "cudadrv": "numba_gpucore.cuda_api.module_tables:empty",
    "cudadrv.devicearray": "numba_gpucore.cuda_api.devicearray:module_names",
    "cudadrv.devices": "numba_gpucore.cuda_api.module_tables:devices",
    "cudadrv.driver": "numba_gpucore.cuda_api.module_tables:driver",
    "cudadrv.drvapi": "numba_gpucore.cuda_api.module_tables:empty",
    "cudadrv.enums": "numba_gpucore.cuda_api.module_tables:empty",
    "cudadrv.nvrtc": "numba_gpucore.cuda_api.driver_only:nvrtc",
    "cudadrv.nvvm": "numba_gpucore.cuda_api.driver_only:nvvm",
    "cudadrv.runtime": "numba_gpucore.cuda_api.driver_only:runtime",
    "decorators": "numba_gpucore.cuda_api.module_tables:decorators",
    "descriptor": "numba_gpucore.cuda_api.module_tables:descriptor",
    "devicearray": "numba_gpucore.cuda_api.devicearray:module_names",
    "devices": "numba_gpucore.cuda_api.module_tables:devices",
    "dispatcher": "numba_gpucore.cuda_api.module_tables:dispatcher",
    "errors": "numba_gpucore.cuda_api.module_tables:errors",
    "kernels": "numba_gpucore.cuda_api.module_tables:empty",
    "kernels.reduction": "numba_gpucore.cuda_api.ufunc_targets:reduction",
    "kernels.transpose": "numba_gpucore.cuda_api.transpose:module_names",
    "launchconfig": "numba_gpucore.cuda_api.launchconfig:module_names",
    "memory_management": "numba_gpucore.cuda_api.module_tables:empty",
    "memory_management.nrt": "numba_gpucore.cuda_api.module_tables:nrt",
    "random": "numba_gpucore.cuda_api.random:module_names",
    "testing": "numba_gpucore.cuda_api.testing:module_names",
    "vectorizers": "numba_gpucore.cuda_api.ufunc_targets:vectorizers",
}


#: Public names that few programs use, as "module" or "module:NAME". They and what they load were a tenth of an import.
SELDOM_NAMES = {
    "CudaSupportError": "numba_gpucore.cuda_api.driver_errors:CudaSupportError",
    "KernelRuntimeError": "numba_gpucore.cuda_api.driver_errors:KernelRuntimeError",
    "cg": "numba_gpucore.cooperative_groups",
    "declare_device": "numba_gpucore.launch.declare_device:declare_device",
    "fp16": "numba_gpucore.fp16",
    "libdevice": "numba_gpucore.libdevice",
    "LinkableCode": "numba_gpucore.cuda_api.linkable_code:LinkableCode",
    **{
        kind: f"numba_gpucore.cuda_api.linkable_code:{kind}"
        for kind in ("PTXSource", "CUSource", "Fatbin", "Cubin", "Archive", "Object", "LTOIR")
    },
}
#: Names of the package that are Numba's own, likewise.
_NUMBA_NAMES = {
    "deferred_type": "numba.core.types:deferred_type",
    "ffi": "numba.core.types:ffi",
    "ffi_forced_object": "numba.core.types:ffi_forced_object",
    "literal_unroll": "numba:literal_unroll",
    "none": "numba.core.types:none",
    "optional": "numba.core.types:optional",
}


def _import(path: str) -> Any:
    """What a "module" or "module:NAME" stands for."""
    source, _, name = path.partition(":")
    module = importlib.import_module(source)
    return getattr(module, name) if name else module


def _public(names: Sequence[str]) -> list[str]:
    """What `from module import *` takes, which does not ask for names one by one."""
    return [name for name in names if not name.startswith("_")]


class ForwardingModule(ModuleType):
    """A module with the names of others, which are imported when the first name is asked for."""

    def __init__(self, name: str, sources: Sequence[str], renamed: Mapping[str, str]):
        super().__init__(name, f"The names of {' and '.join(sources)}.")
        self._sources = sources
        self._renamed = renamed

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return _public(dir(self))
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name in self._renamed:
            return _import(self._renamed[name])
        for module in map(importlib.import_module, self._sources):
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        names = {name for source in self._sources for name in dir(importlib.import_module(source))}
        return sorted({*self.__dict__, *names, *self._renamed})


class ConfigModule(ForwardingModule):
    """numba.core.config under numba.cuda's name: what a program sets here, Numba and we see."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name.isupper():
            setattr(importlib.import_module(self._sources[0]), name, value)
        else:
            super().__setattr__(name, value)


class OwnModule(ModuleType):
    """A module of ours, filled by `make` for a package when the first name is asked for."""

    def __init__(self, name: str, make: str, package: ModuleType):
        super().__init__(name, f"numba.cuda's module of that name, as {package.__name__} has it.")
        self._make: str | None = make
        self._package = package

    def _fill(self) -> None:
        make, self._make = self._make, None
        if make is not None:
            # What was set from outside, such as modules below this one, stays.
            for name, value in _import(make)(self._package).items():
                self.__dict__.setdefault(name, value)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return _public(dir(self))
        if not name.startswith("__"):
            self._fill()
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        self._fill()
        return sorted(self.__dict__)


def submodule_names() -> Sequence[str]:
    """The modules below numba.cuda that a package has, parents first. Below forwarded ones there are more."""
    return sorted((*FORWARDED, *_OWN, "compiler"))


@functools.cache
def make_submodule(leaf: str, package: ModuleType) -> ModuleType | None:
    """The module `numba.cuda.<leaf>` for `package`, or None where there is no such module; the same one each time."""
    name = f"numba.cuda.{leaf}"
    if leaf == "config":
        return ConfigModule(name, FORWARDED[leaf], {})
    if leaf in FORWARDED:
        return ForwardingModule(name, FORWARDED[leaf], _RENAMED.get(leaf, {}))
    if leaf == "compiler":  # compile_ptx and its like, where the package has them
        return ForwardingModule(name, (package.__name__, "numba.core.compiler"), {})
    if leaf in _OWN:
        return OwnModule(name, _OWN[leaf], package)
    parent, _, rest = leaf.partition(".")
    if rest and parent in FORWARDED:
        source = f"{FORWARDED[parent][0]}.{rest}"
        return ForwardingModule(name, (source,), {}) if importlib.util.find_spec(source) else None
    return None


def find_numba_tests(name: str) -> ModuleSpec | None:
    """Where `numba.cuda.tests` and what lies below it are: Numba's own tests, which run on any numba.cuda."""
    parent, _, _leaf = name.rpartition(".")
    if parent == "numba.cuda":
        numba = PathFinder.find_spec("numba")
        folders = [f"{folder}/cuda" for folder in (numba.submodule_search_locations or ())] if numba else []
    else:
        folders = list(sys.modules[parent].__path__)
    return PathFinder.find_spec(name, folders)


def late_name(package_name: str, name: str) -> Any:
    """An attribute of the package that is made when it is asked for: one of SELDOM_NAMES, a name of Numba's or a module
    below numba.cuda, such as `random`. Raises AttributeError."""
    path = SELDOM_NAMES.get(name) or _NUMBA_NAMES.get(name)
    if path is not None:
        return _import(path)
    module = None if name.startswith("_") else make_submodule(name, sys.modules[package_name])
    if module is None:
        raise AttributeError(f"module {package_name!r} has no attribute {name!r}")
    return module
