"""Compare two functions fairly on a machine that is not ours alone. Before: functions to time. After: report.py.

Runs alternate, so that both meet the same clock speed, caches and neighbours; the answer is the median of the ratios
of neighbouring runs. A block of runs that other processes disturbed is measured again when they have become quiet;
tries and waits are bounded.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Function = Callable[[], object]

#: A block counts as disturbed when others used more than this share of the machine's CPU time.
MAX_FOREIGN_SHARE = 0.08
#: How long others must have been quiet.
_QUIET_S = 0.5
#: Calls before those that are counted go on for this long: they meet the other function's caches and threads. GNU
#: OpenMP's worker, on which njit(parallel) runs, spins for 4.3 ms after its last loop (CPU time of a sleeping process)
#: and takes half of the core that the other function's helper wants.
_SETTLE_S = 0.01
#: Fields of "cpu" in /proc/stat that are work: user, nice, system, irq, softirq, steal (proc(5)).
_BUSY_FIELDS = (1, 2, 3, 6, 7, 8)


@dataclass(frozen=True)
class Plan:
    """How much to measure. A sample is calls for at least `settle_s` seconds, which are not counted, and then calls
    for at least `min_sample_s` seconds.

    A disturbed block has `max_tries` tries; a comparison waits `max_wait_s` seconds in all for others to become quiet.
    """

    n_blocks: int = 5
    n_pairs: int = 5
    min_sample_s: float = 0.02
    settle_s: float = _SETTLE_S
    max_tries: int = 4
    max_wait_s: float = 20.0


#: Shows that a benchmark runs; its figures mean nothing.
SMOKE_TEST = Plan(n_blocks=1, n_pairs=1, min_sample_s=0.0, settle_s=0.0, max_tries=1, max_wait_s=0.0)


@dataclass(frozen=True)
class Comparison:
    """Medians over all blocks that are kept. `n_disturbed`: blocks kept although disturbed, for want of better ones.

    `foreign_share`: the largest share of others in a kept block; None where the system does not tell.
    """

    ours_s: float
    peer_s: float
    ratio: float
    n_disturbed: int
    foreign_share: float | None


@dataclass(frozen=True)
class _Block:
    ours_s: list[float]
    peer_s: list[float]
    foreign_share: float | None

    @property
    def is_disturbed(self) -> bool:
        return self.foreign_share is not None and self.foreign_share > MAX_FOREIGN_SHARE


def compare(ours: Function, peer: Function, plan: Plan) -> Comparison:
    """Time two functions against each other. Both must have been called before: nothing compiles in here."""
    ours_calls = _calls_per_sample(ours, plan.min_sample_s)
    peer_calls = _calls_per_sample(peer, plan.min_sample_s)

    def measure_block() -> _Block:
        clock = ForeignClock()
        ours_s, peer_s = [], []
        for pair in range(plan.n_pairs):
            # Each goes first every second time.
            if pair % 2 == 0:
                ours_s.append(_sample(ours, ours_calls, plan.settle_s))
            peer_s.append(_sample(peer, peer_calls, plan.settle_s))
            if pair % 2 == 1:
                ours_s.append(_sample(ours, ours_calls, plan.settle_s))
        return _Block(ours_s, peer_s, clock.foreign_share())

    patience = Patience(plan.max_wait_s)
    blocks = [_measure_undisturbed(measure_block, plan.max_tries, patience) for _ in range(plan.n_blocks)]
    all_ours = [seconds for block in blocks for seconds in block.ours_s]
    all_peer = [seconds for block in blocks for seconds in block.peer_s]
    shares = [block.foreign_share for block in blocks if block.foreign_share is not None]
    return Comparison(
        ours_s=statistics.median(all_ours),
        peer_s=statistics.median(all_peer),
        ratio=statistics.median(a / b for a, b in zip(all_ours, all_peer, strict=True)),
        n_disturbed=sum(block.is_disturbed for block in blocks),
        foreign_share=max(shares, default=None),
    )


class ForeignClock:
    """Share of the machine's CPU time that other processes used since this clock was made. Linux only."""

    def __init__(self) -> None:
        self._start = self._read()

    def foreign_share(self) -> float | None:
        """From 0 to 1; None where /proc/stat does not exist. /proc/stat ticks at 100 Hz: measure 0.3 s or more."""
        if self._start is None:
            return None
        end = self._read()
        assert end is not None
        wall_s, busy_s, own_s = (after - before for before, after in zip(self._start, end, strict=True))
        return max(0.0, busy_s - own_s) / (wall_s * (os.cpu_count() or 1))

    @staticmethod
    def _read() -> tuple[float, float, float] | None:
        """Seconds: wall clock, all work on all cores, work of this process."""
        try:
            with open("/proc/stat") as file:
                fields = file.readline().split()
        except FileNotFoundError:
            return None
        busy_s = sum(int(fields[i]) for i in _BUSY_FIELDS) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), busy_s, time.process_time()


class Patience:
    """Waits for other processes to become quiet, `max_wait_s` seconds in all."""

    def __init__(self, max_wait_s: float) -> None:
        self._left_s = max_wait_s

    def wait_for_quiet(self) -> None:
        while self._left_s > 0:
            clock = ForeignClock()
            time.sleep(_QUIET_S)
            self._left_s -= _QUIET_S
            if (clock.foreign_share() or 0.0) <= MAX_FOREIGN_SHARE:
                return


def _measure_undisturbed(measure_block: Callable[[], _Block], max_tries: int, patience: Patience) -> _Block:
    """The first undisturbed block, or the least disturbed of `max_tries`."""
    tries = []
    for _ in range(max_tries):
        tries.append(measure_block())
        if not tries[-1].is_disturbed:
            return tries[-1]
        patience.wait_for_quiet()
    return min(tries, key=lambda block: block.foreign_share or 0.0)


def _calls_per_sample(function: Function, min_sample_s: float) -> int:
    start = time.perf_counter()
    function()
    once_s = max(time.perf_counter() - start, 1e-7)
    return max(1, round(min_sample_s / once_s))


def _sample(function: Function, n_calls: int, settle_s: float) -> float:
    """Seconds a call."""
    settled = time.perf_counter() + settle_s
    function()
    while time.perf_counter() < settled:
        function()
    start = time.perf_counter()
    for _ in range(n_calls):
        function()
    return (time.perf_counter() - start) / n_calls
