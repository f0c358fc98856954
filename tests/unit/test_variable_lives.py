"""Variables' lives are found out for functions of the host, and for device functions only where somebody asks."""

from __future__ import annotations

import numba
import pytest
from numba.core import analysis

import numba_ptxplus as gpu


@pytest.fixture
def analysed(monkeypatch) -> list[int]:
    """How many blocks the functions have whose lives are found out."""
    found: list[int] = []
    compute = analysis.compute_live_variables

    def count(cfg, blocks, *maps):
        found.append(len(blocks))
        return compute(cfg, blocks, *maps)

    monkeypatch.setattr(analysis, "compute_live_variables", count)
    return found


def add_one(out):
    out[0] = out[1] + 1


def add_by_closure(out):
    def more(x):
        return x + 1

    out[0] = more(out[1])


def squares(n):
    for i in range(n):
        yield i * i


def test_only_functions_for_devices_are_spared(analysed):
    gpu.compile_ptx(add_one, "void(int32[::1])")
    assert not analysed
    numba.njit("void(int32[::1])")(add_one)
    assert analysed


def test_inlining_knows_what_lives(analysed):
    gpu.compile_ptx(add_by_closure, "void(int32[::1])")
    assert analysed


def test_states_of_generators_are_what_lives(analysed):
    generator = gpu.jit(device=True)(squares)

    def kernel(out):
        for square in generator(4):
            out[0] += square

    ptx, _ = gpu.compile_ptx(kernel, "void(int64[::1])")
    assert "st.global" in ptx and analysed
