"""One launch of one kernel and what must come out. Before: nothing. After: kernels, run, the tests' catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

#: What a device may lack, and what the refusal of a program that needs it says. "float64": doubles in arguments or
#: literals; "atomic64": 64-bit atomics; "recursion"; "grid_barrier": waiting for the whole grid.
REFUSALS = {
    "float64": "float64",
    "atomic64": "an atomic operation on 64-bit integers",
    "recursion": "calls itself",
    "grid_barrier": "a barrier across the whole grid",
}
FEATURES = frozenset(REFUSALS)


@dataclass(frozen=True)
class Case:
    """One launch of one kernel.

    make_args: arguments from a random generator; arrays are changed in place by the launch.
    expected: from the arguments as they were, {position: array as it must be afterwards}; arrays that it does not name
    must be unchanged. rtol, atol: 0 asks for equal bits (NaN equals NaN); `tolerance` says why it is not 0.
    block holds at most 256 threads, grid at most 8 blocks, so that slow checkers stay usable.
    """

    kernel: Callable[..., None]
    make_args: Callable[[np.random.Generator], tuple[Any, ...]]
    expected: Callable[..., Mapping[int, Any]]
    grid: int | tuple[int, ...] = 1
    block: int | tuple[int, ...] = 32
    shared_nbytes: int = 0
    rtol: float = 0.0
    atol: float = 0.0
    tolerance: str = ""
    needs: frozenset[str] = frozenset()
    name: str = ""
    seed: int = 20260

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.kernel.__name__)
        assert self.needs <= FEATURES, self.needs
        assert bool(self.tolerance) == bool(self.rtol or self.atol), f"{self.name}: a tolerance needs its reason"
        assert np.prod(self.block) <= 256 and np.prod(self.grid) <= 8, self.name

    def check(self, before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        """Raise AssertionError unless `after` is what must come out of a launch with `before`."""
        wanted = self.expected(*before)
        for position, (old, new) in enumerate(zip(before, after, strict=True)):
            if position in wanted:
                self._compare(position, new, wanted[position])
            elif isinstance(old, np.ndarray):
                np.testing.assert_array_equal(new, old, err_msg=f"{self.name}: argument {position} was changed")

    def _compare(self, position: int, got: Any, wanted: Any) -> None:
        message = f"{self.name}: argument {position}"
        if self.rtol or self.atol:
            np.testing.assert_allclose(got, wanted, rtol=self.rtol, atol=self.atol, err_msg=message)
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=message)

    def check_refusal(self, missing: frozenset[str], text: str) -> None:
        """Raise AssertionError unless `text`, from an UnsupportedKernelError, names what the target lacks."""
        assert any(REFUSALS[feature] in text for feature in self.needs & missing), f"{self.name}: {text}"
