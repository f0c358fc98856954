"""Reads code to link, in the forms in which numba.cuda takes it. Before: jit, declare_device. After: KernelOptions."""

from __future__ import annotations

import os
from typing import Any

from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.linked_code import KIND_OF_SUFFIX, LinkedCode


def read_linked_code(given: Any) -> tuple[LinkedCode, ...]:
    """A path or an object like numba.cuda's LinkableCode, or several. Raises OptionError, OSError."""
    if given is None:
        return ()
    if isinstance(given, (set, frozenset)):
        # Sets have another order in each process, and keys of the cache must not.
        return tuple(sorted(map(_read, given), key=str))
    return tuple(map(_read, given if isinstance(given, (list, tuple)) else (given,)))


def _read(item: Any) -> LinkedCode:
    if isinstance(item, (str, os.PathLike)):
        path = os.fspath(item)
        kind = _kind_of(os.path.splitext(path)[1].lower(), path)
        with open(path, "rb") as file:
            return LinkedCode(os.path.basename(path), kind, file.read())
    suffixes = getattr(item, "suffixes", ())
    if not suffixes:
        raise OptionError(f"code to link is a path or a LinkableCode, not {item!r}")
    if item.setup_callback or item.teardown_callback:
        raise OptionError(f"{item.name}: callbacks of linked code are not offered")
    data = item.data
    return LinkedCode(item.name, _kind_of(suffixes[0], item.name), data.encode() if isinstance(data, str) else data)


def _kind_of(suffix: str, name: str) -> str:
    try:
        return KIND_OF_SUFFIX[suffix]
    except KeyError:
        raise OptionError(f"{name}: code to link is told by its suffix, one of {', '.join(KIND_OF_SUFFIX)}") from None
