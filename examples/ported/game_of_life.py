"""Conway's game of life on a torus, one byte a cell; the launch configuration is taken apart from the call."""

import sys

import numpy as np
from numba import cuda

GENERATIONS = 8


@cuda.jit
def live(cells, following):
    i, j = cuda.grid(2)
    rows, columns = cells.shape
    if i >= rows or j >= columns:
        return
    neighbours = 0
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            if di != 0 or dj != 0:
                neighbours += cells[(i + di) % rows, (j + dj) % columns]
    following[i, j] = neighbours == 3 or (neighbours == 2 and cells[i, j] == 1)


def live_numpy(cells):
    around = sum(np.roll(cells, (di, dj), (0, 1)) for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0))
    return ((around == 3) | ((around == 2) & (cells == 1))).astype(np.uint8)


def main(size=100):
    cells = np.random.default_rng(3).integers(0, 2, (size, size + 3), dtype=np.uint8)
    block = (8, 8)
    grid = (-(-cells.shape[0] // block[0]), -(-cells.shape[1] // block[1]))
    old, new = cuda.to_device(cells), cuda.device_array(cells.shape, cells.dtype)
    step = live[grid, block]
    for _ in range(GENERATIONS):
        step(old, new)
        old, new = new, old

    expected = cells
    for _ in range(GENERATIONS):
        expected = live_numpy(expected)
    np.testing.assert_array_equal(old.copy_to_host(), expected)
    print(f"game of life {cells.shape}: {expected.sum()} cells live after {GENERATIONS} generations")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
