"""Modules below numba.cuda that programs import. Before: the import system asks `install`. After: the program.

Where numba.cuda has a copy of a module of Numba's front end, Numba's own answers, imported when first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from numba_gpucore.cuda_api import devicearray
from numba_gpucore.launch.streams import Event, Stream
from numba_gpucore.launch.wrappers import In, InOut, Out

#: Name below numba.cuda → the module of Numba whose names it has.
FORWARDED = {
    "types": "numba.core.types",
    "extending": "numba.extending",
    "core": "numba.core",
    "typing": "numba.core.typing",
    "cgutils": "numba.core.cgutils",
    "errors": "numba.core.errors",
    "np": "numba.np",
    "np.numpy_support": "numba.np.numpy_support",
}


class ForwardingModule(ModuleType):
    """A module with the names of another one, which is imported when the first of them is asked for."""

    def __init__(self, name: str, source: str):
        super().__init__(name, f"The names of {source}.")
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(self._source), name)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *dir(importlib.import_module(self._source))})


def _own_modules(package: ModuleType) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
    return {
        "cudadrv": dict,
        "cudadrv.devicearray": lambda: devicearray.module_names(package),
        "cudadrv.driver": lambda: {"Stream": Stream, "Event": Event},
        "cudadrv.devices": lambda: {"gpus": package.gpus, "get_context": package.current_context},
        "devicearray": lambda: devicearray.module_names(package),
        "args": lambda: {"In": In, "Out": Out, "InOut": InOut},
        "api": lambda: {name: value for name, value in vars(package).items() if not name.startswith("_")},
        "compiler": dict,
    }


def make_submodule(leaf: str, package: ModuleType) -> ModuleType | None:
    """The module `numba.cuda.<leaf>` for `package`, or None where there is no such module."""
    name = f"numba.cuda.{leaf}"
    if leaf in FORWARDED:
        return ForwardingModule(name, FORWARDED[leaf])
    own = _own_modules(package)
    if leaf not in own:
        return None
    module = ModuleType(name, f"numba.cuda's module of that name, as {package.__name__} has it.")
    module.__dict__.update(own[leaf]())
    return module
