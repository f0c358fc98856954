"""How a kernel runs on a CPU, decided from what it uses. Before: Job. After: definitions, legalize."""

from __future__ import annotations

from dataclasses import dataclass, replace

from numba_gpucore.compile.intrinsics import INTRINSICS
from numba_gpucore.compile.job import Job

#: Threads in a row of blocks that run as one loop; their place in it must fit into the 20 bits of ir/flat.ll.
MAX_ROW_THREADS = 2**20
#: Sites that fit beside the place.
MAX_FLAT_SITES = 2**12
#: First guess for the size of a thread's frame; legalize builds again where more is needed.
FRAME_NBYTES = 224


@dataclass(frozen=True)
class ProgramShape:
    """is_coroutine: threads can wait for each other. uses_warps: by more than block barriers. throw: the function that
    records a throw. is_merged: blocks that are neighbours in x run as one row, see ir/flat.ll. frame_nbytes: room for a
    suspended thread."""

    is_coroutine: bool
    uses_warps: bool
    uses_grid_barrier: bool
    throw: str
    is_merged: bool
    frame_nbytes: int

    @property
    def row_threads(self) -> int:
        return MAX_ROW_THREADS if self.is_merged else 1

    @property
    def ir_files(self) -> tuple[str, ...]:
        if not self.is_coroutine:
            return ("flat", "launch", "ids")
        return ("warps" if self.uses_warps else "rounds", "coroutine", "launch", "ids")

    def with_frame(self, nbytes: int) -> ProgramShape:
        return replace(self, frame_nbytes=nbytes)

    def unmerged(self) -> ProgramShape:
        return replace(self, is_merged=False)


def choose_shape(job: Job, has_atomics: bool) -> ProgramShape:
    """Merging is a guess where a kernel asks for its block's x: it may only need it to compute its x in the grid."""
    suspending = {name for name in job.intrinsics if INTRINSICS[name].suspends}
    shares = bool(job.shared_arrays) or "gpu.dynamic_shared" in job.intrinsics
    has_scalar_loop = bool(suspending) or has_atomics or job.has_recursion or len(job.sites) > MAX_FLAT_SITES
    return ProgramShape(
        is_coroutine=bool(suspending),
        uses_warps=any(not name.startswith("gpu.barrier") or name == "gpu.barrier.grid" for name in suspending),
        uses_grid_barrier="gpu.barrier.grid" in suspending,
        throw="gpu.throw.report" if has_scalar_loop else "gpu.throw.first",
        is_merged=not (suspending or shares or job.has_recursion or "gpu.lane_id" in job.intrinsics),
        frame_nbytes=FRAME_NBYTES if suspending else 0,
    )
