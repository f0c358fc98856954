"""Random programs on every level against the same source run by Python. Another `SEEDS` looks at other programs."""

from __future__ import annotations

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from tests.device.random_programs import BLOCK, RandomProgram

#: Among them one whose kernel raises.
SEEDS = (3, 4, 8, 82)


@pytest.mark.parametrize("seed", SEEDS)
def test_python_computes_the_same(level: SimpleNamespace, seed: int) -> None:
    program = RandomProgram(seed)
    filename = f"<random program {seed}>"
    # Messages and reports read the source.
    linecache.cache[filename] = (len(program.text), None, program.text.splitlines(keepends=True), filename)
    arguments, wanted = program.arguments(), program.run_in_python()
    kernel = level.jit(program.function(filename))
    if wanted is None:
        with pytest.raises(ValueError, match="stop"):
            kernel[program.grid, BLOCK](*arguments)
        return
    kernel[program.grid, BLOCK](*arguments)
    for got, want in zip(arguments[1:], wanted, strict=True):
        np.testing.assert_array_equal(got, want, program.text)
