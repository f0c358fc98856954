"""How decorated functions are pickled. Before: Kernel, DeviceFunction, UFunc. After: pickle, multiprocessing."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from numba_gpucore.launch import miss


def reduce_decorated(decorated: Any, py_func: Callable[..., Any], arguments: tuple[Any, ...]) -> str | tuple[Any, ...]:
    """What `__reduce__` returns: the global name where that is `decorated` itself, else its class and arguments.

    A function without a global name, or whose name the decorator's result took, goes by value, which loads Numba.
    """
    module = sys.modules.get(py_func.__module__)
    try:
        found = operator.attrgetter(py_func.__qualname__)(module)
    except AttributeError:
        found = None
    if found is decorated:
        return py_func.__qualname__
    if found is py_func:
        return type(decorated), arguments
    return miss.make_from_pickle, (type(decorated), miss.pickle_by_value(arguments))
