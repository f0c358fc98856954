"""`from numba import cuda` gives one of our packages. Before: the user's install_as_cuda(). After: unchanged scripts.

Numba itself is not imported for it: a stand-in for the module `numba` knows only `cuda`, and becomes the real module
(the same object) when a program touches anything else of it.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from numba_gpucore.cuda_api.children import install_in_children
from numba_gpucore.cuda_api.config import complete_config
from numba_gpucore.cuda_api.submodules import find_numba_tests, make_submodule, submodule_names

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc takes 2 ms to import, and its Loader only names methods

_CUDA = "numba.cuda"


def install_module_as_cuda(package: ModuleType) -> None:
    """Make `package` what `numba.cuda` means in this process, also where another numba.cuda was imported before, and in
    processes that it starts. Idempotent."""
    install_in_children(package.__name__)
    if isinstance(sys.meta_path[0], CudaFinder) and sys.modules.get(_CUDA) is package:
        return
    for name in [name for name in sys.modules if name == _CUDA or name.startswith(_CUDA + ".")]:
        del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, CudaFinder)]
    sys.meta_path.insert(0, CudaFinder(package))
    if "numba" not in sys.modules:
        sys.modules["numba"] = LazyNumba("numba")
    elif "numba.core.config" in sys.modules:
        complete_config(sys.modules["numba.core.config"])
    sys.modules[_CUDA] = package
    sys.modules["numba"].__dict__["cuda"] = package
    for leaf in submodule_names():  # programs reach them as attributes of numba.cuda too
        importlib.import_module(f"{_CUDA}.{leaf}")


class LazyNumba(ModuleType):
    """Stands in for the module `numba` until anything but `cuda` is asked of it."""

    def __init__(self, name: str):
        super().__init__(name)
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__version__", "__all__"):  # the second is `from numba import *`
            raise AttributeError(f"module 'numba' has no attribute {name!r}")
        load_real_numba(self)
        if name not in self.__dict__:  # also while numba itself is being executed
            raise AttributeError(f"module 'numba' has no attribute {name!r}")
        return self.__dict__[name]


_loading = threading.RLock()


def load_real_numba(module: ModuleType) -> None:
    """Turn the stand-in into the real module. Raises ModuleNotFoundError where numba is not installed."""
    with _loading:
        if type(module) is ModuleType or "__file__" in module.__dict__:
            return
        spec = importlib.machinery.PathFinder.find_spec("numba")
        if spec is None or spec.loader is None:
            raise ModuleNotFoundError("No module named 'numba'", name="numba")
        module.__dict__.update(
            __spec__=spec, __path__=spec.submodule_search_locations, __file__=spec.origin, __loader__=spec.loader
        )
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del module.__dict__["__file__"]
            raise
        module.__class__ = ModuleType
        complete_config(sys.modules["numba.core.config"])


class CudaFinder(Loader):
    """Answers imports of `numba.cuda` and what lies below it; stands first, so that no other numba.cuda is found."""

    def __init__(self, package: ModuleType):
        self._package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.startswith(_CUDA + "."):
            return self._find_submodule(name)
        if name in ("numba", _CUDA) and name in sys.modules:
            return _spec_of_loaded(name)
        numba = sys.modules.get("numba")
        if name.startswith("numba.") and isinstance(numba, LazyNumba):
            load_real_numba(numba)
            return _spec_after_loading(name, path or numba.__path__)
        return None

    def _find_submodule(self, name: str) -> importlib.machinery.ModuleSpec | None:
        if name == f"{_CUDA}.tests" or name.startswith(f"{_CUDA}.tests."):
            return find_numba_tests(name)
        module = make_submodule(name.removeprefix(_CUDA + "."), self._package)
        if module is None:
            raise ModuleNotFoundError(f"{self._package.__name__} offers no module {name!r}", name=name)
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.loader_state = module
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module: ModuleType = spec.loader_state
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to execute: the module is complete."""


def _spec_after_loading(name: str, path: Sequence[str]) -> importlib.machinery.ModuleSpec | None:
    if name in sys.modules:
        return _spec_of_loaded(name)
    return importlib.machinery.PathFinder.find_spec(name, path)


def _spec_of_loaded(name: str) -> importlib.machinery.ModuleSpec:
    """A spec by which importlib takes the module that came into being while it looked for it.

    importlib would execute that again by its own spec (_bootstrap._find_spec, "parent import may have already imported
    this module") unless it has none.
    """
    module = sys.modules[name]
    spec = importlib.machinery.ModuleSpec(name, _LoadedAlready(), is_package=hasattr(module, "__path__"))
    spec.loader_state, module.__spec__ = module.__spec__, None
    return spec


class _LoadedAlready(Loader):
    """Hands the import system a module that is there already, with the spec that it had."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state
