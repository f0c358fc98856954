"""Pi from random points in a square: one generator for each thread, and a reduction of their counts."""

import math
import sys

import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

POINTS = 50


@cuda.jit
def count_inside(states, counts):
    i = cuda.grid(1)
    if i < counts.size:
        inside = 0
        for _ in range(POINTS):
            x = xoroshiro128p_uniform_float32(states, i)
            y = xoroshiro128p_uniform_float32(states, i)
            if x * x + y * y <= 1:
                inside += 1
        counts[i] = inside


@cuda.reduce
def total(a, b):
    return a + b


def estimate(threads, seed):
    block = 64
    grid = -(-threads // block)
    states = create_xoroshiro128p_states(grid * block, seed=seed)
    counts = cuda.device_array(threads, np.int32)
    count_inside[grid, block](states, counts)
    return 4 * total(counts) / (threads * POINTS)


def main(threads=10000):
    pi = estimate(threads, seed=1)
    error = math.sqrt(math.pi * (4 - math.pi) / (threads * POINTS))  # of a binomial count
    assert abs(pi - math.pi) < 5 * error, pi
    assert estimate(threads, seed=1) == pi, "the same seed gives the same numbers"
    assert estimate(threads, seed=2) != pi
    print(f"monte carlo pi: {pi:.4f} from {threads * POINTS} points, standard error {error:.4f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
