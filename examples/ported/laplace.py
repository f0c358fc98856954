"""Laplace's equation by Jacobi's method; each block finds its largest change in shared memory."""

import sys

import numpy as np
from numba import cuda, float32

TILE = 16
THREADS = TILE * TILE
SWEEPS = 20


@cuda.jit
def sweep(old, new, changes):
    shared = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.y * TILE + cuda.threadIdx.x
    i, j = cuda.grid(2)
    shared[thread] = 0
    if 1 <= i < old.shape[0] - 1 and 1 <= j < old.shape[1] - 1:
        new[i, j] = float32(0.25) * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])
        shared[thread] = abs(new[i, j] - old[i, j])
    cuda.syncthreads()

    step = THREADS // 2
    while step > 0:
        if thread < step:
            shared[thread] = max(shared[thread], shared[thread + step])
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        changes[cuda.blockIdx.x, cuda.blockIdx.y] = shared[0]


def main(size=200):
    plate = np.zeros((size, size), np.float32)
    plate[0] = 100
    blocks = -(-size // TILE)
    stream = cuda.stream()
    old, new = cuda.to_device(plate, stream), cuda.to_device(plate, stream)
    changes = cuda.device_array((blocks, blocks), np.float32)
    for _ in range(SWEEPS):
        sweep[(blocks, blocks), (TILE, TILE), stream](old, new, changes)
        old, new = new, old
    result, change = old.copy_to_host(stream=stream), changes.copy_to_host(stream=stream)
    stream.synchronize()

    before = after = plate.astype(np.float64)
    for _ in range(SWEEPS):
        before, after = after, after.copy()
        after[1:-1, 1:-1] = 0.25 * (before[:-2, 1:-1] + before[2:, 1:-1] + before[1:-1, :-2] + before[1:-1, 2:])
    np.testing.assert_allclose(result, after, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(change.max(), np.abs(after - before).max(), rtol=1e-4)
    print(f"laplace {size}x{size}: largest change after {SWEEPS} sweeps is {change.max():.4f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
