"""Random kernels whose threads differ by where they are: guards, checks and branches on x and y, against Python.

The CPU device settles such conditions for whole rows of threads (`cpu/bound_rows.py`, `cpu/settle_throws.py`), which
run along x or y (`cpu/choose_row_axis.py`). The right values, and which threads fail how, come from running the same
source in Python, thread by thread.
"""

from __future__ import annotations

import random
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import numba_ptxplus
from tests.levels import opened_level

GUARDS = ("x < n", "x < n and y < m", "y < m and x < out.shape[0]", "0 < x < n - 1", "True", "0 < x < n and 0 <= y < m")
PLACES = (
    "x, y = cuda.grid(2)",
    "x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x\n    y = cuda.grid(2)[1]",
    "x = cuda.grid(1)\n    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y",
)
INDICES = (
    "x", "x", "x", "y", "x + 1", "x - 1", "x - 2", "y - 1", "n - 1 - x", "x * 2", "0", "-1", "y + 2", "c[x]", "m - 1",
)  # fmt: skip
LIMITS = ("n", "m", "a.shape[0]", "b.shape[0] - 1", "3", "-2", "17", "n // 2", "n - 2", "limit")


class Source:
    """One kernel's source, `seed` says which."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        statements = "\n".join(self._statements(("x", "y"), depth=0))
        choose = self._random.choice
        self.text = (
            f"def kernel(a, b, c, out, n, m, limit):\n    {choose(PLACES)}\n    if {choose(GUARDS)}:\n"
            f"        s = 0\n{statements}\n        out[{choose(('x, y', 'y, x'))}] = s\n"
        )

    def _condition(self, names: tuple[str, ...]) -> str:
        choose = self._random.choice
        value = choose(names) + choose(("", " + 1", " - 2", " * 2"))
        text = f"{value} {choose(('<', '<=', '>', '>=', '==', '!='))} {choose(LIMITS)}"
        if self._random.random() < 0.3:
            text = f"({text}) {choose(('and', 'or'))} ({self._condition(names)})"
        return f"not ({text})" if self._random.random() < 0.15 else text

    def _value(self, names: tuple[str, ...], depth: int = 0) -> str:
        choose = self._random.choice
        kind = self._random.random()
        if kind < 0.45:
            return f"{choose('ab')}[{choose(INDICES)}]"
        if kind < 0.75 or depth == 2:
            return choose((*names, "-4", "1", "5"))
        return f"({self._value(names, depth + 1)} {choose('+-*')} {self._value(names, depth + 1)})"

    def _statements(self, names: tuple[str, ...], depth: int) -> list[str]:
        indent = "    " * (depth + 2)
        lines = []
        for _ in range(self._random.randint(1, 3)):
            kind = self._random.random() * (1 if depth < 2 else 0.6)
            if kind < 0.5:
                lines.append(f"{indent}s = s * 3 + {self._value(names)}")
            elif kind < 0.6:
                lines += [f"{indent}if {self._condition(names)}:", f"{indent}    raise ValueError('unwanted', x)"]
            elif kind < 0.85:
                lines += [f"{indent}if {self._condition(names)}:", *self._statements(names, depth + 1)]
                if self._random.random() < 0.4:
                    lines += [f"{indent}else:", *self._statements(names, depth + 1)]
            else:
                count = self._random.choice(("2", "n % 4", "y % 3"))
                lines += [f"{indent}for j in range({count}):", *self._statements((*names, "j"), depth + 1)]
        return lines


def run_in_python(text: str, grid: tuple[int, int], block: tuple[int, int], arguments: tuple[Any, ...]) -> dict:
    """Run every thread; returns the class of each failing thread's exception, by block and thread index."""
    failures = {}
    for by, bx, ty, tx in product(range(grid[1]), range(grid[0]), range(block[1]), range(block[0])):
        place = (bx * block[0] + tx, by * block[1] + ty)
        cuda = SimpleNamespace(
            blockIdx=SimpleNamespace(x=bx, y=by),
            threadIdx=SimpleNamespace(x=tx, y=ty),
            blockDim=SimpleNamespace(x=block[0], y=block[1]),
            grid=lambda ndim, place=place: place[0] if ndim == 1 else place,
        )
        names: dict[str, Any] = {"cuda": cuda}
        exec(text, names)
        try:
            names["kernel"](*arguments)
        except (IndexError, ValueError) as error:
            failures[bx, by, tx, ty] = type(error)
    return failures


def make_arguments(seed: int, grid: tuple[int, int], block: tuple[int, int]) -> tuple[Any, ...]:
    """Arrays that threads exceed now and then."""
    chance = random.Random(-seed)
    width, height = grid[0] * block[0], grid[1] * block[1]
    n, m = chance.choice((0, 1, 5, 13, width, width + 3)), chance.choice((1, 3, height, 7))
    lengths = chance.choice((n + 1, width + 2, width * 2 + 6)), chance.choice((max(1, n), width + 2))
    a, b = (np.array([chance.randint(-9, 9) for _ in range(length)]) for length in lengths)
    c = np.array([chance.randint(-1, len(a) - (chance.random() < 0.9)) for _ in range(width + 2)])
    size = max(width, height) + 2
    return a, b, c, np.zeros((size, size), np.int64), n, m, chance.randint(-2, 20)


@pytest.fixture(scope="module")
def level():
    with opened_level("ptxplus on cpu") as opened:
        yield opened


@pytest.mark.parametrize("seed", range(40))
def test_random_kernel(level, seed):
    text = Source(seed).text
    chance = random.Random(seed)
    grid, block = (chance.randint(1, 4), chance.randint(1, 3)), (chance.choice((1, 3, 8, 16)), chance.choice((1, 2, 5)))
    arguments, wanted = make_arguments(seed, grid, block), make_arguments(seed, grid, block)
    failures = run_in_python(text, grid, block, wanted)
    names: dict[str, Any] = {"cuda": numba_ptxplus}
    exec(text, names)
    kernel = level.jit(names["kernel"], boundscheck=True)
    if failures:
        with pytest.raises((IndexError, ValueError)) as raised:
            kernel[grid, block](*arguments)
        error = raised.value
        assert failures[(*error.block[:2], *error.thread[:2])] is type(error), text
        assert error.count <= len(failures), text
        if isinstance(error, IndexError) and "at least" not in str(error):
            assert error.count == len(failures), text
    else:
        kernel[grid, block](*arguments)
    np.testing.assert_array_equal(arguments[3], wanted[3], err_msg=text)
