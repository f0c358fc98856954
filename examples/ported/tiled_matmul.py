"""Matrix product by tiles in shared memory, for sizes that are not multiples of the tile."""

import sys

import numpy as np
from numba import cuda, float32

TILE = 8


@cuda.jit
def matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for first in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = 0
        tile_b[ty, tx] = 0
        if row < a.shape[0] and first + tx < a.shape[1]:
            tile_a[ty, tx] = a[row, first + tx]
        if first + ty < b.shape[0] and column < b.shape[1]:
            tile_b[ty, tx] = b[first + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def main(size=120):
    rng = np.random.default_rng(11)
    # Whole numbers: every sum is exact in float32, so the result is too.
    a = rng.integers(-4, 5, (size, size + 3)).astype(np.float32)
    b = rng.integers(-4, 5, (size + 3, size - 2)).astype(np.float32)
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    start, end = cuda.event(), cuda.event()
    start.record()
    matmul[(-(-c.shape[1] // TILE), -(-c.shape[0] // TILE)), (TILE, TILE)](a, b, c)
    end.record()
    end.synchronize()
    assert cuda.event_elapsed_time(start, end) >= 0
    np.testing.assert_array_equal(c, a @ b)
    print(f"tiled matmul {a.shape} @ {b.shape}: equal to NumPy's")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
