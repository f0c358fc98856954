"""Bitonic sort: pairs at a distance are compared in global memory, those within a block in shared memory."""

import sys

import numpy as np
from numba import cuda, float32

THREADS = 64


@cuda.jit(device=True, inline=True)
def in_order(low, high, ascending):
    return (low <= high) == ascending or low == high


@cuda.jit
def compare_far(values, length, distance):
    i = cuda.grid(1)
    partner = i ^ distance
    if partner > i and not in_order(values[i], values[partner], i & length == 0):
        values[i], values[partner] = values[partner], values[i]


@cuda.jit
def compare_near(values, length, distance):
    shared = cuda.shared.array(THREADS, float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    shared[thread] = values[i]
    cuda.syncthreads()
    while distance > 0:
        partner = thread ^ distance
        if partner > thread and not in_order(shared[thread], shared[partner], i & length == 0):
            shared[thread], shared[partner] = shared[partner], shared[thread]
        cuda.syncthreads()
        distance //= 2
    values[i] = shared[thread]


def sort(values):
    """Sort a float32 array in place."""
    size = max(THREADS, 1 << (values.size - 1).bit_length())
    padded = np.full(size, np.inf, np.float32)
    padded[: values.size] = values
    on_device = cuda.to_device(padded)
    length = 2
    while length <= size:
        distance = length // 2
        while distance >= THREADS:
            compare_far[size // THREADS, THREADS](on_device, length, distance)
            distance //= 2
        compare_near[size // THREADS, THREADS](on_device, length, distance)
        length *= 2
    values[:] = on_device.copy_to_host()[: values.size]


def main(n=3000):
    values = np.random.default_rng(9).standard_normal(n).astype(np.float32)
    expected = np.sort(values)
    sort(values)
    np.testing.assert_array_equal(values, expected)
    print(f"bitonic sort {n}: equal to NumPy's sort")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
