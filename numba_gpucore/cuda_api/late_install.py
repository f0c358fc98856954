"""install_as_cuda() at the first import of numba. Before: a child's start-up. After: `install`.

Child processes that never import numba must not pay for us, so this module needs nothing but the import system.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType


class LateInstaller:
    """A finder that waits for `numba`, then steps aside for what `package.install_as_cuda()` puts in place."""

    def __init__(self, package_name: str):
        self._package_name = package_name

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "numba" and not name.startswith("numba."):
            return None
        sys.meta_path.remove(self)
        importlib.import_module(self._package_name).install_as_cuda()
        for finder in sys.meta_path:  # from the start: the new ones stand first
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


def install_when_imported(package_name: str) -> None:
    """Make the package `numba.cuda` as soon as this process imports numba."""
    sys.meta_path.insert(0, LateInstaller(package_name))


class _AfterImport:
    """A finder that calls a function with one module, once it has been executed."""

    def __init__(self, name: str, function: Callable[[ModuleType], None]):
        self._name = name
        self._function = function

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        execute, function = spec.loader.exec_module, self._function

        def execute_and_call(module: ModuleType) -> None:
            execute(module)
            function(module)

        setattr(spec.loader, "exec_module", execute_and_call)  # noqa: B010  for this one module
        return spec


def call_after_import(name: str, function: Callable[[ModuleType], None]) -> None:
    """Call `function(module)` when the module of that name has been imported, at once if it is there already."""
    if name in sys.modules:
        function(sys.modules[name])
        return
    finders: list[object] = list(sys.meta_path)
    last = finders.index(importlib.machinery.PathFinder) if importlib.machinery.PathFinder in finders else 0
    sys.meta_path.insert(last, _AfterImport(name, function))
