"""Kernels that every level must run alike: the CPU device, the PTX machine, emitted Metal text, real GPUs.

A Case says what to launch and what must come out, from NumPy, the Python language, CUDA's documents or a hand count.
`all_cases()` gathers those of the `kernels_*.py` files. A runner makes arguments, launches, and calls `check`:

    args = case.make_args(np.random.default_rng(case.seed))
    before = copy.deepcopy(args)
    ...launch case.kernel with case.grid, case.block, case.shared_nbytes and args...
    case.check(before, args)
"""

from __future__ import annotations

from importlib import import_module

from numba_gpucore.selftest.case import REFUSALS, Case

TOPICS = (
    "places", "barriers", "memory", "atomics", "warps", "numbers", "semantics", "halves", "half_memory", "bfloat",
    "vectors", "math", "libdevice", "arrays", "records", "python", "calls",
)  # fmt: skip
#: What each target cannot express and refuses, whatever the device: the rest must run.
MISSING = {"ptxplus": frozenset(), "metal": frozenset({"float64", "atomic64", "recursion", "grid_barrier"})}


def all_cases() -> tuple[Case, ...]:
    """Every case: those of the self-test, then in the order of TOPICS. Names are unique."""
    modules = ["numba_gpucore.selftest.kernels", *(f"tests.device.kernels_{topic}" for topic in TOPICS)]
    cases = tuple(case for module in modules for case in import_module(module).CASES)
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return cases


__all__ = ["MISSING", "REFUSALS", "TOPICS", "Case", "all_cases"]
