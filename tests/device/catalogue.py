"""Kernels that every level must run alike: the CPU device, the PTX machine, emitted Metal text, real GPUs.

A Case says what to launch and what must come out, from NumPy, the Python language, CUDA's documents or a hand count.
`all_cases()` gathers those of the `kernels_*.py` files. A runner makes arguments, launches, and calls `check`:

    args = case.make_args(np.random.default_rng(case.seed))
    before = copy.deepcopy(args)
    ...launch case.kernel with case.grid, case.block, case.shared_nbytes and args...
    case.check(before, args)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

#: What a device may lack. "float64": doubles in arguments or literals; "atomic64": 64-bit atomics; "recursion";
#: "grid_barrier": waiting for the whole grid.
FEATURES = frozenset({"float64", "atomic64", "recursion", "grid_barrier"})
#: What the refusal of a program that needs such a feature says.
REFUSALS = {
    "float64": "float64",
    "atomic64": "an atomic operation on 64-bit integers",
    "recursion": "calls itself",
    "grid_barrier": "a barrier across the whole grid",
}
TOPICS = (
    "places", "barriers", "memory", "atomics", "warps", "numbers", "halves", "math", "libdevice", "arrays", "python", "calls",
)  # fmt: skip


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


def all_cases() -> tuple[Case, ...]:
    """Every case, in the order of TOPICS. Names are unique."""
    cases = tuple(case for topic in TOPICS for case in import_module(f"tests.device.kernels_{topic}").CASES)
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return cases
