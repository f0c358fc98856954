"""What happens where Numba wants memory from a heap: a clear error. Before: Numba's lowering. After: the user."""

from __future__ import annotations

from numba_gpucore.compile.numba_api import NRTContext, errors
from numba_gpucore.runtime.methods import NO_HEAP


class NoHeap(NRTContext):
    """Stands where Numba's CPU target has its memory allocator."""

    def _require_nrt(self):
        raise errors.UnsupportedError(NO_HEAP)


#: Where a container is made.
NO_CONTAINERS = NO_HEAP.replace("(a new array, a list, a string, a copy)", "for lists, sets and dictionaries")


class NoContainers:
    """Mixin of a target context: lists, sets and dictionaries need a heap."""

    def build_list(self, builder, list_type, items):
        raise errors.UnsupportedError(NO_CONTAINERS)

    def build_set(self, builder, set_type, items):
        raise errors.UnsupportedError(NO_CONTAINERS)

    def build_map(self, builder, dict_type, item_types, items):
        raise errors.UnsupportedError(NO_CONTAINERS)
