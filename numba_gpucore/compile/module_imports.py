"""What a user's modules import. Before: sources. After: Artifact.sources.

An overload means what it calls and reads from other modules too. Where Numba is not loaded, nobody can look at the
functions again, so files are compared: those of all modules from which an overload's module imports.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from numba_gpucore.base.source import source_path
from numba_gpucore.base.versions import KNOWN_PACKAGES, NOT_INSTALLED, version_of

_FOLDERS_OF_INSTALLED = frozenset({"site-packages", "dist-packages"})


def modules_behind(modules: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Modules of the user's own that `modules` import, directly or not, and what they import from: installed packages.

    A module in the package of one that imports it is the user's own, wherever that package is. Beside those stand the
    `__init__.py` of installed packages whose version is not known.
    """
    pending, seen, packages = list(modules), set[str](), set[str]()
    while pending:
        module = pending.pop()
        if module in seen:
            continue
        seen.add(module)
        for imported in _imports_of(module):
            package = imported.partition(".")[0]
            if package in KNOWN_PACKAGES or imported not in sys.modules:
                continue
            if package != module.partition(".")[0] and _is_installed(imported):
                if version_of(package) == NOT_INSTALLED:
                    # Its distribution has another name, as that of `yaml` is PyYAML. Most tell their version there.
                    seen.add(package)
                else:
                    packages.add(package)
            else:
                pending.append(imported)
    return frozenset(seen.difference(modules)), frozenset(packages)


def _is_installed(module: str) -> bool:
    return not _FOLDERS_OF_INSTALLED.isdisjoint(Path(source_path(module)).parts)


def _imports_of(module: str) -> frozenset[str]:
    """Names of modules in the import statements of a module, wherever in it they are."""
    path = source_path(module)
    package = getattr(sys.modules.get(module), "__package__", None) or ""
    try:
        status = os.stat(path)
        return _imports_in(path, package, status.st_mtime_ns, status.st_size) if path.endswith(".py") else frozenset()
    except (OSError, SyntaxError, ValueError):
        return frozenset()


@lru_cache(maxsize=1024)
def _imports_in(path: str, package: str, _mtime_ns: int, _nbytes: int) -> frozenset[str]:
    """Read once while it stays as it is: parsing a module of 300 lines takes 4 ms, and several kernels ask."""
    return frozenset(_names_imported(ast.parse(Path(path).read_bytes()), package))


def _names_imported(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield from (".".join(parts[: count + 1]) for count in range(len(parts)))
        elif isinstance(node, ast.ImportFrom):
            try:
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:  # beyond the outermost package, in code that never ran
                continue
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
