"""Prefix sums: each block scans its part in dynamic shared memory, then the blocks' sums are scanned and added."""

import sys

import numpy as np
from numba import cuda, int32

THREADS = 128


@cuda.jit
def scan_block(values, sums, block_sums):
    shared = cuda.shared.array(0, int32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    shared[thread] = values[i] if i < values.size else 0
    cuda.syncthreads()
    distance = 1
    while distance < cuda.blockDim.x:
        mine = shared[thread]
        if thread >= distance:
            mine += shared[thread - distance]
        cuda.syncthreads()
        shared[thread] = mine
        cuda.syncthreads()
        distance *= 2
    if i < values.size:
        sums[i] = shared[thread]
    if thread == cuda.blockDim.x - 1:
        block_sums[cuda.blockIdx.x] = shared[thread]


@cuda.jit
def add_to_blocks(sums, block_sums):
    i = cuda.grid(1)
    if i < sums.size and cuda.blockIdx.x > 0:
        sums[i] += block_sums[cuda.blockIdx.x - 1]


def scan(values):
    """Inclusive prefix sums of a device array."""
    blocks = -(-values.size // THREADS)
    sums = cuda.device_array_like(values)
    block_sums = cuda.device_array(blocks, np.int32)
    scan_block[blocks, THREADS, 0, 4 * THREADS](values, sums, block_sums)
    if blocks > 1:
        add_to_blocks[blocks, THREADS](sums, scan(block_sums))
    return sums


def main(n=30000):
    values = np.random.default_rng(5).integers(-100, 100, n, dtype=np.int32)
    result = scan(cuda.to_device(values)).copy_to_host()
    np.testing.assert_array_equal(result, np.cumsum(values))
    print(f"scan {n}: equal to NumPy's cumsum")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
