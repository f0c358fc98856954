"""Recursion that does not end, or not in time, raises RecursionError on the CPU device; it used to end the process.

A GPU's launch fails then, and Metal has no recursion.
"""

from __future__ import annotations

import numpy as np
import pytest

from numba_gpucore import language
from tests.levels import opened_level

FOREVER = 2**62


@pytest.fixture(scope="module")
def gpu():
    with opened_level("ptxplus on cpu") as level:
        yield level


@pytest.fixture(scope="module")
def callees(gpu):
    """Functions of (depth) that return it."""

    @gpu.jit(device=True)
    def itself(n):
        if n == 0:
            return 0
        return itself(n - 1) + 1

    @gpu.jit(device=True)
    def even(n):
        if n == 0:
            return 0
        return odd(n - 1) + 1

    @gpu.jit(device=True)
    def odd(n):
        if n == 0:
            return 0
        return even(n - 1) + 1

    @gpu.jit(device=True)
    def with_array(n):
        own = language.local.array(1000, np.int64)
        own[n % 1000] = n
        if n == 0:
            return 0
        return with_array(n - 1) + 1 + own[n % 1000] - n

    return {"itself": itself, "even": even, "with_array": with_array}


@pytest.mark.parametrize(("name", "depth"), [("itself", 2000), ("even", 2000), ("with_array", 50)])
@pytest.mark.parametrize("has_barrier", [False, True])
@pytest.mark.parametrize("threads", [(1, 1), (64, 32)], ids=["one thread", "many"])
def test_too_deep(gpu, callees, name: str, depth: int, has_barrier: bool, threads: tuple[int, int]) -> None:
    """No error is what a GPU's 512 KiB of local memory for a thread allow, in frames of 8 kB or of a few words."""
    callee = callees[name]

    @gpu.jit
    def kernel(out, depth):
        if has_barrier:
            language.syncthreads()
        out[language.grid(1)] = callee(depth)

    out = np.zeros(threads[0] * threads[1], np.int64)
    kernel[threads](out, depth)
    assert (out == depth).all()
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded") as caught:
        kernel[threads](out, FOREVER)
    assert caught.value.count == out.size
    kernel[threads](out, 3)
    assert (out == 3).all()


def test_a_kernel_may_catch_it(gpu, callees) -> None:
    callee = callees["itself"]

    @gpu.jit
    def kernel(out, depth):
        try:
            out[0] = callee(depth)
        except Exception:
            out[0] = -1

    out = np.zeros(1, np.int64)
    kernel[1, 1](out, FOREVER)
    assert out[0] == -1
