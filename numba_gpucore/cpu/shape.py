"""How a kernel runs on a CPU, decided from what it uses. Before: Job. After: definitions, legalize."""

from __future__ import annotations

from dataclasses import replace

from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.intrinsics import INTRINSICS
from numba_gpucore.compile.job import Job

#: Sites that fit beside the place, in 12 bits; one more, in the last place of the longest row, would be -1: no failure.
MAX_FLAT_SITES = 2**12 - 1
#: Room for a thread's frame in the first build; what is not needed is taken away afterwards.
FRAME_NBYTES = 4064
#: What changes from thread to thread along y or z.
_OTHER_AXES = frozenset({"gpu.global_id.y", "gpu.global_id.z", "gpu.thread_id.y", "gpu.thread_id.z"})


@dataclass(frozen=True)
class ProgramShape:
    """is_coroutine: threads can wait for each other. uses_warps: by more than block barriers. reports_throws: at once,
    since nothing is vectorised anyway. keeps_blocks: threads of different blocks may not take turns, since they share
    memory. frame_nbytes: room for a suspended thread. row_axis: of flat programs, 0 for x: rows run along this
    axis, which the program takes for x, and x for it, in all but reports."""

    is_coroutine: bool
    uses_warps: bool
    uses_grid_barrier: bool
    reports_throws: bool
    keeps_blocks: bool
    frame_nbytes: int
    row_axis: int = 0

    @property
    def ir_files(self) -> tuple[str, ...]:
        """What is optimised with the kernel."""
        if not self.is_coroutine:
            return ("flat", "launch", "ids")
        return ("warps" if self.uses_warps else "rounds", "coroutine", "launch", "ids")

    @property
    def outer_files(self) -> tuple[str, ...]:
        """What is the same for every kernel, and is linked when the rest is optimised."""
        if not self.is_coroutine:
            return ("blocks", "work")
        return ("warp_blocks" if self.uses_warps else "round_blocks", "coroutine_blocks", "work", "launch")

    @property
    def throw(self) -> str:
        """The function that every throw calls."""
        return "gpu.throw.report" if self.is_coroutine else "gpu.throw.flat"

    def with_frame(self, nbytes: int) -> ProgramShape:
        return replace(self, frame_nbytes=nbytes)

    def with_rows_along(self, axis: int) -> ProgramShape:
        return replace(self, row_axis=axis)


def prints(job: Job) -> bool:
    return "gpu.print.begin" in job.intrinsics


def may_choose_rows(job: Job, shape: ProgramShape) -> bool:
    """True for programs whose rows may run along y or z as well. Not for those that are not vectorised, that share
    memory in a block, or that ask for lanes, which are counted along x."""
    is_free = not shape.reports_throws and not shape.keeps_blocks
    return is_free and not _OTHER_AXES.isdisjoint(job.intrinsics) and "gpu.lane_id" not in job.intrinsics


def choose_shape(job: Job, has_atomics: bool) -> ProgramShape:
    suspending = {name for name in job.intrinsics if INTRINSICS[name].suspends}
    shares = bool(job.shared_arrays) or "gpu.dynamic_shared" in job.intrinsics
    # Without optimisation the text of a thread, variables in memory, cannot be run again either.
    has_scalar_loop = bool(suspending) or has_atomics or prints(job) or job.has_recursion or not job.request.options.opt
    has_scalar_loop = has_scalar_loop or len(job.sites) > MAX_FLAT_SITES
    return ProgramShape(
        is_coroutine=bool(suspending),
        uses_warps=any(not name.startswith("gpu.barrier") or name == "gpu.barrier.grid" for name in suspending),
        uses_grid_barrier="gpu.barrier.grid" in suspending,
        reports_throws=has_scalar_loop,
        keeps_blocks=shares or job.has_recursion,
        frame_nbytes=FRAME_NBYTES if suspending else 0,
    )
