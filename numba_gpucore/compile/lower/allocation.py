"""What happens where Numba wants memory from a heap: a clear error. Before: Numba's lowering. After: the user."""

from __future__ import annotations

from numba_gpucore.compile.numba_api import NRTContext, errors


class NoHeap(NRTContext):
    """Stands where Numba's CPU target has its memory allocator."""

    def _require_nrt(self):
        raise errors.UnsupportedError(
            "a kernel cannot allocate memory (a new array, a list, a string, a copy): use local.array or shared.array "
            "with a constant shape, or pass an array to write into"
        )
