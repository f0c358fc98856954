"""Under which key the implementation of one of Numba's functions is kept. Before: dispatcher. After: stored_overloads.

Implementations are functions of Numba or of our runtime library, often made inside another function for certain types.
The store's keys hold the versions of those packages, so a function is known by its place and what its closure holds.
"""

from __future__ import annotations

import types as python_types
from typing import Any

import numpy as np

from numba_gpucore.base.versions import VERSIONED_PACKAGES
from numba_gpucore.compile.numba_api import Dispatcher, types
from numba_gpucore.compile.type_text import NotExpressible


def describe_implementation(function: Any) -> str:
    """A text that is equal for equal implementations in every process. Raises NotExpressible."""
    return _describe_function(function, ())


def _describe_function(function: Any, outer: tuple[Any, ...]) -> str:
    if function in outer:
        return f"outer {outer.index(function)}"
    module = function.__module__ or ""
    if module.partition(".")[0] not in VERSIONED_PACKAGES:
        raise NotExpressible(f"a function of {module}")
    code = function.__code__
    cells = [
        f"{name}={_describe(cell.cell_contents, (*outer, function))}"
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
    ]
    return f"{module}:{function.__qualname__}:{code.co_firstlineno}({'; '.join(cells)})"


def _describe(value: Any, outer: tuple[Any, ...]) -> str:
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return repr(value)
    if type(value) in (tuple, list):
        return f"{type(value).__name__}({', '.join(_describe(item, outer) for item in value)})"
    if isinstance(value, types.Type):
        return f"type {value}"
    if isinstance(value, python_types.FunctionType):
        return _describe_function(value, outer)
    if isinstance(value, Dispatcher):
        return _describe_function(value.py_func, outer)
    if isinstance(value, np.dtype):
        return f"dtype {value.descr if value.fields else value.str}"
    if isinstance(value, np.generic):
        return f"{value.dtype} {value.tobytes().hex()}"
    if isinstance(value, python_types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, (type, python_types.BuiltinFunctionType)):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, np.ufunc):
        name = str(value).removeprefix("<ufunc '").removesuffix("'>")
        if getattr(np, name, None) is value:
            return f"ufunc {name}"
    raise NotExpressible(f"a {type(value).__qualname__} in a closure")
