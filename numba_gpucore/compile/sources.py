"""Modules whose `@overload`s and intrinsics a function uses. Before: typing. After: Artifact.sources.

Numba finds these by type, so nothing in the kernel's bytecode leads to them and its fingerprint cannot know that they
changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from numba_gpucore.base.artifact import SourceCheck
from numba_gpucore.base.source import digest_module_source
from numba_gpucore.base.versions import VERSIONED_PACKAGES
from numba_gpucore.compile.numba_api import types

#: Where a template keeps the user's function, by kind of template.
_DEFINITION_ATTRIBUTES = ("_overload_func", "_definition_func")


def overload_modules(typemap: dict[str, types.Type]) -> frozenset[str]:
    """Names of the user's modules that define an overload or intrinsic among the functions of a type map."""
    return frozenset(
        module
        for type_ in typemap.values()
        for template in _templates_of(type_)
        for module in _defining_modules(template)
        if module.partition(".")[0] not in VERSIONED_PACKAGES
    )


def _templates_of(type_: types.Type) -> Iterator[Any]:
    if isinstance(type_, types.Function):
        yield from type_.templates
    elif isinstance(type_, types.BoundFunction):
        yield type_.template


def _defining_modules(template: Any) -> Iterator[str]:
    for name in _DEFINITION_ATTRIBUTES:
        definition = getattr(template, name, None)
        if definition is not None and definition.__module__:
            yield definition.__module__


def check_sources(modules: Iterable[str]) -> tuple[SourceCheck, ...]:
    """What a later hit must find unchanged, sorted by module."""
    return tuple(SourceCheck(module, digest_module_source(module)) for module in sorted(set(modules)))
