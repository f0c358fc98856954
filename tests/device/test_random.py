"""Random programs on every level against the same source run by Python. Another `SEEDS` looks at other programs."""

from __future__ import annotations

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from tests.device.random_programs import BLOCK, RandomProgram

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_python_computes_the_same(level: SimpleNamespace, seed: int) -> None:
    program = RandomProgram(seed)
    filename = f"<random program {seed}>"
    # Messages and reports read the source.
    linecache.cache[filename] = (len(program.text), None, program.text.splitlines(keepends=True), filename)
    b, t = np.zeros(program.a.size, np.int64), np.zeros(4, np.int32)
    level.jit(program.function(filename))[program.grid, BLOCK](program.a, b, t)
    wanted_b, wanted_t = program.run_in_python()
    np.testing.assert_array_equal(b, wanted_b, program.text)
    np.testing.assert_array_equal(t, wanted_t, program.text)
