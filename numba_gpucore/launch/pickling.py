"""How decorated functions are pickled. Before: Kernel, DeviceFunction. After: pickle, multiprocessing."""

from __future__ import annotations

import operator
import pickle
import sys
from collections.abc import Callable
from typing import Any

from numba_gpucore.launch import miss


def reduce_decorated(decorated: Any, py_func: Callable[..., Any], arguments: tuple[Any, ...]) -> str | tuple[Any, ...]:
    """What `__reduce__` returns: the global name where that is `decorated` itself, else its class and arguments.

    One of these may be `py_func`. A function that cannot be found by its name (the decorator's result has it, or it
    is local) travels by value: code, defaults and closure.
    """
    found = _find(py_func)
    if found is decorated:
        return py_func.__qualname__
    positions = [position for position, argument in enumerate(arguments) if argument is py_func]
    if found is py_func or not positions:
        return type(decorated), arguments
    (position,) = positions
    others = arguments[:position] + arguments[position + 1 :]
    return rebuild_decorated, (type(decorated), position, miss.pickle_function(py_func), others)


def rebuild_decorated(cls: type, position: int, pickled_function: bytes, others: tuple[Any, ...]) -> Any:
    """The other end of `reduce_decorated`, for functions by value; `position` is the function's among the arguments."""
    return cls(*others[:position], pickle.loads(pickled_function), *others[position:])


def _find(py_func: Callable[..., Any]) -> Any:
    """What the function's module has under its name."""
    try:
        return operator.attrgetter(py_func.__qualname__)(sys.modules.get(py_func.__module__))
    except AttributeError:
        return None
