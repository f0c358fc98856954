"""Versions of installed packages, told without importing them. Before: the file system. After: cache keys."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.machinery import PathFinder

OWN_PACKAGES = ("numba_gpucore", "numba_metal", "numba_ptxplus")
#: What kernels are compiled with, besides us.
COMPILING_PACKAGES = ("llvmlite", "numba", "numpy")
#: Packages whose versions stand in every cache key, so that what is theirs need not be looked into.
VERSIONED_PACKAGES = frozenset({*COMPILING_PACKAGES, *OWN_PACKAGES})
#: Beside them the standard library, which the version of Python's bytecode stands for.
KNOWN_PACKAGES = VERSIONED_PACKAGES | sys.stdlib_module_names
_INFO_SUFFIX = ".dist-info"
#: What stands for a package that is not installed, or not as a distribution of its own name.
NOT_INSTALLED = "none"


@cache
def version_of(package: str) -> str:
    """Version of the distribution that has the name of a package, as installed beside it; NOT_INSTALLED if none.

    An installer names the metadata folder `{name}-{version}.dist-info` (Binary distribution format, "The .dist-info
    directory"), so a look into the package's folder does; importlib.metadata, which parses e-mail headers and takes
    17 ms to import, is asked where that is not clear: for editable installs, eggs, and leftovers of older versions.
    """
    # PathFinder looks at the path only: `numba` in sys.modules can be our stand-in.
    spec = PathFinder.find_spec(package)
    if spec is not None and spec.origin is not None:
        found = _versions_beside(os.path.dirname(os.path.dirname(spec.origin)), package)
        if len(found) == 1:
            return found[0]
    return _version_from_metadata(package)


def _versions_beside(folder: str, package: str) -> list[str]:
    prefix = package.lower() + "-"
    names = metadata_folders(folder)
    return [name[len(prefix) : -len(_INFO_SUFFIX)] for name in names if name.lower().startswith(prefix)]


@cache
def metadata_folders(folder: str) -> list[str]:
    """Names of the metadata folders beside packages; kept, since the packages of a key lie in one folder."""
    try:
        return [name for name in os.listdir(folder) if name.endswith(_INFO_SUFFIX)]
    except OSError:
        return []


def _version_from_metadata(package: str) -> str:
    from importlib import metadata  # noqa: PLC0415 - slow to import, and seldom needed

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED
