"""Barriers of a block. Before: wave.py schedules. After: program.py binds them.

PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier". Threads are counted, not warps (as
`barrier` without `.aligned` does since sm_70). Without a thread count a barrier waits for the block's threads that have
not exited.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .errors import LaneFault
from .frames import Frame, Lanes
from .operations.operation import Modifiers
from .slots import SlotTable
from .syntax import Instruction, Not
from .types import PRED, TYPES

if TYPE_CHECKING:
    from .wave import Wave

#: Changes a frame and says where its lanes go on.
End = Callable[[Frame, Lanes], None]
REDUCTIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    # (number of true predicates, number of threads) of a block
    "popc": lambda ntrue, nthreads: ntrue,
    "and": lambda ntrue, nthreads: ntrue == nthreads,
    "or": lambda ntrue, nthreads: ntrue > 0,
}


@dataclass(frozen=True)
class Arrival:
    """Lanes that came to a barrier together. next_pc: where they go on; None if they do not wait (bar.arrive).

    predicate: their votes of a bar.red. write_result: stores the outcome of it.
    """

    frame: Frame
    pc: int
    next_pc: int | None
    ids: np.ndarray
    predicate: np.ndarray | None
    write_result: Callable[[Frame, np.ndarray, np.ndarray, np.ndarray], None] | None


class Barriers:
    """The barriers of all blocks of a wave; a barrier is known by its number and its thread count (0: all)."""

    def __init__(self, wave: Wave):
        self.wave = wave
        self.arrivals: dict[tuple[int, int], list[Arrival]] = {}

    @property
    def is_waited_at(self) -> bool:
        return any(arrival.next_pc is not None for present in self.arrivals.values() for arrival in present)

    def waiting_places(self) -> list[tuple[int, np.ndarray]]:
        return [(arrival.pc, arrival.ids) for present in self.arrivals.values() for arrival in present]

    def arrive(self, number: int, nthreads: int, arrival: Arrival) -> None:
        for other_number, other_nthreads in self.arrivals:
            if other_number == number and other_nthreads != nthreads:
                raise LaneFault(f"barrier {number} is used with {nthreads} and {other_nthreads} threads at once")
        self.arrivals.setdefault((number, nthreads), []).append(arrival)
        self._release((number, nthreads))

    def release_all(self) -> None:
        """Look again, after threads have exited."""
        for key in list(self.arrivals):
            self._release(key)

    def _release(self, key: tuple[int, int]) -> None:
        """Let the blocks go on whose threads are all there."""
        wave, present = self.wave, self.arrivals[key]
        nblocks = wave.geometry.nblocks
        arrived = np.zeros(nblocks, np.int64)
        ntrue = np.zeros(nblocks, np.int64)
        for arrival in present:
            blocks = wave.block_of_lane[arrival.ids]
            arrived += np.bincount(blocks, minlength=nblocks)
            if arrival.predicate is not None:
                ntrue += np.bincount(blocks, arrival.predicate, nblocks).astype(np.int64)
        needed = key[1] or np.bincount(wave.block_of_lane[wave.is_alive], minlength=nblocks)
        is_complete = (arrived > 0) & (arrived >= needed)
        if not is_complete.any():
            return
        left: list[Arrival] = []
        for arrival in present:
            goes = is_complete[wave.block_of_lane[arrival.ids]]
            left += self._let_go(arrival, goes, ntrue, arrived)
        self.arrivals[key] = left
        if not left:
            del self.arrivals[key]

    def _let_go(self, arrival: Arrival, goes: np.ndarray, ntrue: np.ndarray, arrived: np.ndarray) -> list[Arrival]:
        """Schedule the lanes of an arrival that may go; returns what is left of it."""
        wave = self.wave
        if goes.any() and arrival.next_pc is not None:
            ids = arrival.ids[goes]
            if arrival.write_result is not None:
                blocks = wave.block_of_lane[ids]
                arrival.write_result(arrival.frame, ids, ntrue[blocks], arrived[blocks])
            wave.schedule(arrival.frame.depth, arrival.next_pc, wave.compact(ids))
        if goes.all():
            return []
        stays = ~goes
        predicate = None if arrival.predicate is None else arrival.predicate[stays]
        return [
            Arrival(arrival.frame, arrival.pc, arrival.next_pc, arrival.ids[stays], predicate, arrival.write_result)
        ]


def bind_barrier(instruction: Instruction, table: SlotTable, pc: int) -> End:
    """bar{.cta}.sync/.arrive/.red and their longer names."""
    mods = Modifiers(instruction)
    mods.flag("cta")
    kind = mods.choose("sync", "arrive", "red")
    mods.flag("aligned")
    operands = list(instruction.operands)
    write, predicate, is_negated = None, None, False
    if kind == "red":
        write = _bind_result(mods, instruction, operands, table)
        voted = operands.pop()
        is_negated = isinstance(voted, Not)
        predicate = table.source(instruction, voted.register if isinstance(voted, Not) else voted, PRED)
    mods.finish()
    number = table.source(instruction, operands[0], TYPES["u32"])
    count = table.source(instruction, operands[1], TYPES["u32"]) if len(operands) > 1 else None

    def end(frame: Frame, lanes: Lanes) -> None:
        wave, views = frame.wave, frame.views
        ids = wave.ids[lanes]
        numbers = views[number][lanes]
        counts = np.zeros_like(numbers) if count is None else views[count][lanes]
        votes = None if predicate is None else views[predicate][lanes] ^ is_negated
        if kind == "arrive":
            wave.schedule(frame.depth, pc + 1, lanes)
        for one in np.unique(numbers):
            chosen = numbers == one
            arrival = Arrival(
                frame, pc, None if kind == "arrive" else pc + 1, ids[chosen],
                None if votes is None else votes[chosen], write,
            )  # fmt: skip
            wave.barriers.arrive(int(one), int(counts[chosen][0]), arrival)

    return end


def _bind_result(
    mods: Modifiers, instruction: Instruction, operands: list, table: SlotTable
) -> Callable[[Frame, np.ndarray, np.ndarray, np.ndarray], None]:
    reduce = REDUCTIONS[mods.choose(*REDUCTIONS)]
    type_ = mods.type("u32", "pred")
    dest = table.dest(instruction, operands.pop(0), type_)

    def write(frame: Frame, ids: np.ndarray, ntrue: np.ndarray, nthreads: np.ndarray) -> None:
        frame.views[dest][ids] = reduce(ntrue, nthreads)

    return write
