"""numba.cuda's cooperative groups, as stubs: groups of threads that wait for each other. Before: language. After: typed
in compile/typing.
"""

from __future__ import annotations

from numba_gpucore.language import kernel_only


class GridGroup:
    """All threads of a launch."""

    @kernel_only
    def sync(self) -> None:
        """Wait until every live thread of the grid is here; then all see each other's writes.

        All blocks of such a launch run at once, so a device limits their number: LaunchError names it. Metal has no
        barrier for a grid, and refuses such kernels.
        """


@kernel_only
def this_grid() -> GridGroup:
    """The grid that the thread belongs to."""
