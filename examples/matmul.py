"""Matrix product in tiles: each block keeps a tile of both factors in shared memory. Sizes need not fit the tiles."""

from __future__ import annotations

import numpy as np

import common
import numba_ptxplus as cuda

TILE = 16
ZERO = np.float32(0)


@cuda.jit
def multiply(a, b, product):
    """product = a @ b; shapes (m, k), (k, n), (m, n)."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = ZERO
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[row, start + x] if row < a.shape[0] and start + x < a.shape[1] else ZERO
        b_tile[y, x] = b[start + y, column] if start + y < b.shape[0] and column < b.shape[1] else ZERO
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    if row < product.shape[0] and column < product.shape[1]:
        product[row, column] = total


def main() -> None:
    options = common.parse_options(__doc__, 500, "rows of the product")
    m, k, n = options.size, options.size + 7, options.size + 13
    random = np.random.default_rng(1)
    a_host = random.random((m, k), np.float32)
    b_host = random.random((k, n), np.float32)
    a, b = cuda.to_device(a_host), cuda.to_device(b_host)
    product = cuda.device_array((m, n), np.float32)
    blocks = common.count_blocks((m, n), (TILE, TILE))

    def launch() -> None:
        multiply[blocks, (TILE, TILE)](a, b, product)
        cuda.synchronize()

    times = common.time_two_launches(launch)
    expected = a_host.astype(np.float64) @ b_host.astype(np.float64)
    # k roundings of a sum below k: at most k * k * 2**-24, and as random walk far less.
    checks = [common.Check("product", product.copy_to_host(), expected, k * k * 2.0**-24)]
    common.report("matmul", cuda.current_device(), times, checks)


if __name__ == "__main__":
    main()
