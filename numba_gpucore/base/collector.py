"""Python's garbage collector, held while much is made that stays. Before: nothing. After: packages, miss, descriptor.

Importing Numba and loading its registries makes about a million long-lived objects. Collections meanwhile find nothing,
and took 120 of the 240 ms that the registries took (Numba 0.68); freezing spares later collections the walk.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext


@contextmanager
def collector_held() -> Iterator[None]:
    """No collections inside; afterwards what is there counts as permanent."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def collector_held_for_numba() -> AbstractContextManager[None]:
    """Where Numba was imported before, a collection of 16 ms would fall into the import of our packages."""
    return collector_held() if "numba" in sys.modules else nullcontext()
