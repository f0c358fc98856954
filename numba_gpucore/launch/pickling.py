"""How decorated functions are pickled. Before: Kernel, DeviceFunction. After: pickle, multiprocessing."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any


def reduce_decorated(decorated: Any, py_func: Callable[..., Any], arguments: tuple[Any, ...]) -> str | tuple[Any, ...]:
    """What `__reduce__` returns: the global name where that is `decorated` itself, else its class and arguments.

    A function whose name has been taken by the decorator's result cannot be pickled, since Python does that by name.
    """
    module = sys.modules.get(py_func.__module__)
    try:
        found = operator.attrgetter(py_func.__qualname__)(module)
    except AttributeError:
        found = None
    return py_func.__qualname__ if found is decorated else (type(decorated), arguments)
