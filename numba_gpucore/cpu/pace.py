"""Whether helpers make a program with atomics faster or slower. Before: Device.launch. After: the choice of workers.

Workers that add to the same few addresses pass cache lines to and fro: 4M atomic additions into 256 bins take 10 ms on
one core and 41 ms on two. Whether a program does so depends on its data, so both ways are timed in turn.
"""

from __future__ import annotations

from numba_gpucore.base.records import dataclass

#: Launches between two looks at the slower way: what was true once need not stay so.
LOOK_AGAIN = 32


@dataclass
class Pace:
    """Time of a thread in the last launch of each kind, in ns; 0 for a kind that has not been tried."""

    together_ns: float = 0.0
    alone_ns: float = 0.0
    launches: int = 0

    def goes_alone(self) -> bool:
        """How the next launch should run: first together, then alone, then whichever was faster."""
        if not self.together_ns or not self.alone_ns:
            return bool(self.together_ns)
        is_faster_alone = self.alone_ns < self.together_ns
        return is_faster_alone != (self.launches % LOOK_AGAIN == 0)

    def note(self, thread_ns: float, alone: bool) -> None:
        self.launches += 1
        if alone:
            self.alone_ns = thread_ns
        else:
            self.together_ns = thread_ns
