"""Step 4: execute some blocks of a launch, all their lanes together. Before: program.py. After: machine.py.

Scheduling: every lane has its own program counter and call depth; lanes at the same place form a group, and a group
executes one basic block at a time. Deepest call first, then the lowest program counter: code generators lay blocks
out so that what follows a branch lies after it, hence lanes that left a loop wait for those inside and join them
(Diamos et al., "SIMD re-convergence at thread frontiers", 2011). No post-dominators are needed, and jump tables, early
returns and irreducible loops are nothing special. What PTX promises does not rest on it: barriers and `.sync`
instructions wait for the lanes they name, wherever these are. Since sm_70 every thread makes progress, so a lane that
spins on a lock must not keep the holder from running: after PATIENCE_BLOCKS the groups take turns for a while.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .barriers import Barriers
from .errors import LaneFault, PtxFault
from .frames import ALL, Frame, Lanes
from .memory import ByteSpace, GlobalMemory, RowSpace
from .special import special_array
from .types import PtxType

if TYPE_CHECKING:
    from .program import Block, FunctionCode, Program

Dim3 = tuple[int, int, int]
WARP_SIZE = 32
PATIENCE_BLOCKS = 64
TURNS_BLOCKS = 16
STACK_BASE_NBYTES = 128
MAX_CALL_DEPTH = 512
#: Where a group is: (-call depth, program counter). The smallest runs first.
Where = tuple[int, int]


@dataclass(frozen=True)
class Geometry:
    """Shape of a launch and the blocks of it that this wave holds, as linear numbers."""

    grid: Dim3
    block: Dim3
    first_block: int
    nblocks: int

    @property
    def block_nthreads(self) -> int:
        return int(np.prod(self.block))

    @property
    def padded_nthreads(self) -> int:
        """Lanes a block takes: a whole number of warps, the last lanes of which may stay empty."""
        return -(-self.block_nthreads // WARP_SIZE) * WARP_SIZE


@dataclass(frozen=True)
class LaunchParts:
    """What a wave needs beside the program: memory, the kernel's parameters, shared memory sizes, the budget.

    grid_workspace: address of a cooperative grid's workspace, else 0.
    """

    memory: GlobalMemory
    params: bytes
    shared_flags: np.ndarray
    dynamic_shared_nbytes: int
    grid_workspace: int
    instruction_budget: int


class Wave:
    """Lanes are numbered by block, then warp, then lane of the warp; `ids` is their numbers."""

    def __init__(self, program: Program, entry: FunctionCode, geometry: Geometry, parts: LaunchParts):
        self.program = program
        self.geometry = geometry
        self.parts = parts
        width = geometry.padded_nthreads
        self.nlanes = geometry.nblocks * width
        self.ids = np.arange(self.nlanes)
        self.block_of_lane = self.ids // width
        self.thread_of_lane = self.ids % width
        self.is_alive = self.thread_of_lane < geometry.block_nthreads
        self.is_full = bool(self.is_alive.all())
        self.clock = np.zeros(1, np.uint64)
        self.memory = parts.memory
        self.watches_nc = program.uses_nc
        self._open_spaces()
        self.frames: dict[tuple[int, int], Frame] = {}
        self.ready: dict[Where, Lanes] = {}
        self.waiting: dict[Where, np.ndarray] = {}
        self.barriers = Barriers(self)
        self.nblocks_since_turns = 0
        self._start(entry)

    def _open_spaces(self) -> None:
        self.stack_top = np.full(self.nlanes, STACK_BASE_NBYTES, np.int64)
        self.local = RowSpace("local", self.ids, self.nlanes, 2 * STACK_BASE_NBYTES)
        shared_flags = self.parts.shared_flags
        self.shared = RowSpace("shared", self.block_of_lane, self.geometry.nblocks, shared_flags.size)
        self.shared.flag_rows[:, : shared_flags.size] = shared_flags
        params = np.frombuffer(self.parts.params, np.uint8)
        self.kernel_params = RowSpace("kernel_param", np.zeros(self.nlanes, np.int64), 1, params.size)
        self.kernel_params.cells[: params.size] = params
        self.kernel_params.flags[: params.size] = 1

    def _start(self, entry: FunctionCode) -> None:
        lanes = ALL if self.is_full else np.flatnonzero(self.is_alive)
        self.frame(entry, 0).enter_function(lanes)
        self.schedule(0, entry.entry_pc, lanes)

    def space(self, name: str) -> ByteSpace:
        spaces: dict[str, ByteSpace] = {
            "global": self.memory,
            "shared": self.shared,
            "local": self.local,
            "kernel_param": self.kernel_params,
        }
        return spaces[name]

    def special(self, name: str, type_: PtxType) -> np.ndarray:
        return special_array(self, name, type_)

    def frame(self, code: FunctionCode, depth: int) -> Frame:
        key = (code.number, depth)
        if key not in self.frames:
            if depth > MAX_CALL_DEPTH:
                raise LaneFault(f"calls are nested more than {MAX_CALL_DEPTH} deep")
            self.frames[key] = Frame(code, depth, self)
        return self.frames[key]

    # groups

    def schedule(self, depth: int, pc: int, lanes: Lanes) -> None:
        """Let lanes go on at `pc`; they join those that are there already."""
        where = (-depth, pc)
        present = self.ready.get(where)
        self.ready[where] = lanes if present is None else self.join(present, lanes)

    def join(self, some: Lanes, others: Lanes) -> Lanes:
        """Both groups of lanes as one."""
        both = np.concatenate([self.ids[some], self.ids[others]])
        both.sort()
        return self.compact(both)

    def compact(self, ids: np.ndarray) -> Lanes:
        """ALL if the ids are every lane: slices are faster than indices."""
        return ALL if len(ids) == self.nlanes else ids

    def split(self, lanes: Lanes, condition: np.ndarray) -> tuple[Lanes | None, Lanes | None]:
        """Lanes for which the condition holds, and the rest; None for nobody."""
        if condition.all():
            return lanes, None
        if not condition.any():
            return None, lanes
        ids = self.ids[lanes]
        return ids[condition], ids[~condition]

    def end_lanes(self, lanes: Lanes) -> None:
        """Lanes exit: whoever waits for them need not wait any longer."""
        self.is_alive[lanes] = False
        self.barriers.release_all()
        for where, waiting in self.waiting.items():
            self.schedule(-where[0], where[1], waiting)
        self.waiting.clear()

    # the loop

    def run(self) -> None:
        """Execute until every lane has ended. Raises PtxFault."""
        budget = self.parts.instruction_budget
        ninstructions = 0
        with np.errstate(all="ignore"):
            while self.ready:
                where = self._next_group()
                lanes = self.ready.pop(where)
                block = self.program.block_at(where[1])
                self._run_block(block, -where[0], lanes)
                ninstructions += len(block.instructions)
                self.clock += np.uint64(len(block.instructions))
                if ninstructions > budget:
                    raise self._fault(LaneFault(f"more than {budget} instructions in one wave"), block, 0, lanes)
        if self.waiting or self.barriers.is_waited_at:
            raise self._deadlock()

    def _next_group(self) -> Where:
        if len(self.ready) == 1:
            self.nblocks_since_turns = 0
            return next(iter(self.ready))
        self.nblocks_since_turns += 1
        if self.nblocks_since_turns > PATIENCE_BLOCKS:
            if self.nblocks_since_turns > PATIENCE_BLOCKS + TURNS_BLOCKS:
                self.nblocks_since_turns = 0
            # dictionaries keep the order of insertion: the first group has waited longest
            return next(iter(self.ready))
        return min(self.ready)

    def _run_block(self, block: Block, depth: int, lanes: Lanes) -> None:
        position = 0
        try:
            frame = self.frame(block.code, depth)
            for thunk in block.thunks:
                thunk(frame, lanes)
                position += 1
            block.end(frame, lanes)
        except LaneFault as fault:
            raise self._fault(fault, block, position, lanes) from fault

    def _fault(self, fault: LaneFault, block: Block, position: int, lanes: Lanes) -> PtxFault:
        instruction = block.instructions[min(position, len(block.instructions) - 1)]
        lane = int(self.ids[lanes][0]) if fault.lane is None else fault.lane
        return PtxFault(fault.what, instruction.line, instruction.text, self.name_thread(lane))

    def name_thread(self, lane: int) -> str:
        """ "block (0, 0, 0), thread (5, 0, 0)"."""
        block = self.geometry.first_block + int(self.block_of_lane[lane])
        return (
            f"block {unravel(block, self.geometry.grid)}, "
            f"thread {unravel(int(self.thread_of_lane[lane]), self.geometry.block)}"
        )

    def _deadlock(self) -> PtxFault:
        places = [(where[1], ids) for where, ids in self.waiting.items()] + self.barriers.waiting_places()
        texts = []
        for pc, ids in sorted(places, key=lambda place: place[0]):
            instruction = self.program.instruction_at(pc)
            first = self.name_thread(int(ids[0]))
            texts.append(f"{len(ids)} threads, first {first}, at line {instruction.line}: {instruction.text}")
        return PtxFault("deadlock; waiting for ever: " + "; ".join(texts))


def unravel(number: int, shape: Dim3) -> Dim3:
    """Coordinates (x, y, z) of a linear number, x fastest."""
    x, y, _z = shape
    return number % x, number // x % y, number // (x * y)
