"""Typing of libdevice's functions, one at a time as kernels name them. Before: libdevice. After: lower.libdevice.

`functions`, `create_signature` and `arg` are what numba.cuda.libdevicefuncs offers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from numba.extending import typeof_impl

from numba_gpucore import libdevice
from numba_gpucore.compile.numba_api import templates, types
from numba_gpucore.libdevice import LibdeviceFunction


class arg(NamedTuple):
    """A parameter in C; `is_ptr`: C stores a result of type `ty` through it."""

    name: str
    ty: types.Type
    is_ptr: bool


def _numba_type(name: str) -> types.Type:
    return getattr(types, name)


def _c_parameters(function: LibdeviceFunction) -> list[arg]:
    marked = [(name, False) for name in function.params] + [(name, True) for name in function.outs]
    return [arg(f"x{i}", _numba_type(name), is_ptr) for i, (name, is_ptr) in enumerate(marked)]


@cache
def _by_c_name() -> dict[str, tuple[types.Type, list[arg]]]:
    return {
        function.c_name: (_numba_type(function.value), _c_parameters(function))
        for function in libdevice.functions().values()
    }


def __getattr__(name: str) -> Any:
    """`functions`: the type of the value and the parameters, by C name. Made when asked for: it takes 2 ms."""
    if name != "functions":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _by_c_name()


def __dir__() -> list[str]:
    return sorted((*globals(), "functions"))


def signature_of(function: LibdeviceFunction) -> Any:
    """The signature that a kernel sees."""
    return create_signature(_numba_type(function.value), _c_parameters(function))


def create_signature(retty: types.Type, args: Sequence[arg]) -> Any:
    """The signature that a kernel sees: what C stores through pointers is returned after the value."""
    results = [] if retty == types.void else [retty]
    results += [one.ty for one in args if one.is_ptr]
    result = results[0] if len(results) == 1 else types.Tuple(results)
    return templates.signature(result, *(one.ty for one in args if not one.is_ptr))


@cache
def _function_type(function: LibdeviceFunction) -> types.Function:
    # Not in the registry: 340 templates would cost the first kernel of every process 10 ms.
    template = templates.make_concrete_template(function.name, function, [signature_of(function)])
    return types.Function(template)


@typeof_impl.register(LibdeviceFunction)
def type_libdevice_function(function, _context):
    return _function_type(function)
