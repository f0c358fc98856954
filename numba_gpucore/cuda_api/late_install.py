"""install_as_cuda() at the first import of numba. Before: a child's start-up. After: `install`.

Child processes that never import numba must not pay for us, so this module needs nothing but the import system.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Sequence
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
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        importlib.import_module(self._package_name).install_as_cuda()
        for finder in sys.meta_path:  # from the start: the new ones stand first
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


def install_when_imported(package_name: str) -> None:
    """Make the package `numba.cuda` as soon as this process imports numba."""
    sys.meta_path.insert(0, LateInstaller(package_name))  # type: ignore[arg-type]
