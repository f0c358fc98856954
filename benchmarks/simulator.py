"""Seconds a thread in Numba's interpreted CUDA simulator, as JSON; the argument is the number of blocks to run.

Run by cpu_device.py in a child process.

It needs NUMBA_ENABLE_CUDASIM=1 and the kernels' source as below: the simulator replaces the module `cuda` in them.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
from numba import cuda

TREE = 256


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@cuda.jit
def reduction(values, sums):
    partial = cuda.shared.array(TREE, np.float32)
    thread = cuda.threadIdx.x
    partial[thread] = values[cuda.blockIdx.x * TREE + thread]
    cuda.syncthreads()
    width = TREE // 2
    while width > 0:
        if thread < width:
            partial[thread] += partial[thread + width]
        cuda.syncthreads()
        width //= 2
    if thread == 0:
        sums[cuda.blockIdx.x] = partial[0]


def seconds_per_thread(kernel: Any, n: int, *arguments: Any) -> float:
    start = time.perf_counter()
    kernel[n // TREE, TREE](*arguments)
    return (time.perf_counter() - start) / n


def main() -> None:
    n = int(sys.argv[1]) * TREE
    x, y = np.random.default_rng(1).random((2, n), np.float32)
    out, sums = np.zeros(n, np.float32), np.zeros(n // TREE, np.float32)
    a = np.float32(1.5)
    seconds = {
        "saxpy": seconds_per_thread(saxpy, n, a, x, y, out),
        "block reduction": seconds_per_thread(reduction, n, x, sums),
    }
    np.testing.assert_allclose(out, a * x + y, rtol=1e-6)
    np.testing.assert_allclose(sums, x.reshape(-1, TREE).sum(axis=1), rtol=1e-5)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
