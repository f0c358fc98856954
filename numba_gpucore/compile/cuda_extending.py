"""What numba.cuda.extending has otherwise than numba.extending. Before: users' extensions. After: Numba's registries.

Overloads are for target "cuda" unless they say something else, as in numba.cuda, which our targets inherit from.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from numba import extending

from numba_gpucore.compile.numba_api import datamodel, numpy_support, types
from numba_gpucore.dtypes import DType

_TARGET = "cuda"

overload = functools.partial(extending.overload, target=_TARGET)
overload_attribute = functools.partial(extending.overload_attribute, target=_TARGET)
overload_method = functools.partial(extending.overload_method, target=_TARGET)
overload_classmethod = functools.partial(extending.overload_classmethod, target=_TARGET)
register_model = extending.register_model


def _as_numba_type(type_: Any) -> Any:
    """Numba's type for one of our light dtypes, which programs know as `numba.cuda.int32`; else the type itself."""
    return numpy_support.from_dtype(type_.dtype) if isinstance(type_, DType) else type_


class StructModel(datamodel.models.StructModel):
    """Numba's StructModel, whose members may have our light dtypes."""

    def __init__(self, dmm: Any, fe_type: types.Type, members: Sequence[tuple[str, Any]]):
        super().__init__(dmm, fe_type, [(name, _as_numba_type(type_)) for name, type_ in members])


class _Models(ModuleType):
    """numba.core.datamodel.models with our StructModel."""

    def __getattr__(self, name: str) -> Any:
        return getattr(datamodel.models, name)


core_models = _Models("numba.cuda.datamodel.models", datamodel.models.__doc__)
core_models.StructModel = StructModel  # type: ignore[attr-defined]
