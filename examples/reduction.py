"""Mean brightness of a photograph: each block adds its part as a tree in shared memory, one atomic addition a block."""

from __future__ import annotations

import numpy as np

import common
import numba_metal as cuda

THREADS = 256


@cuda.jit
def add_up(values, total):
    """total[0] += the sum of `values`, shape (n,)."""
    partial = cuda.shared.array(THREADS, np.float32)
    thread = cuda.threadIdx.x
    own = np.float32(0)
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        own += values[i]
    partial[thread] = own
    cuda.syncthreads()
    width = THREADS // 2
    while width > 0:
        if thread < width:
            partial[thread] += partial[thread + width]
        cuda.syncthreads()
        width //= 2
    if thread == 0:
        cuda.atomic.add(total, 0, partial[0])


def main() -> None:
    options = common.parse_options(__doc__, 600, "height of the photograph in pixels")
    photograph = common.load_photograph(options.size)
    values = cuda.to_device(photograph.ravel())
    totals = [cuda.to_device(np.zeros(1, np.float32)) for _ in range(2)]
    remaining = iter(totals)

    def launch() -> None:
        add_up[64, THREADS](values, next(remaining))
        cuda.synchronize()

    times = common.time_two_launches(launch)
    expected = photograph.astype(np.float64).mean()
    means = [total.copy_to_host()[0] / np.float32(photograph.size) for total in totals]
    # A tree rounds a value about log2(n) times, so relative 20 * 2**-24.
    checks = [common.Check("mean brightness", np.array(means), np.full(2, expected), 20 * 2.0**-24)]
    common.report("reduction", cuda.current_device(), times, checks)


if __name__ == "__main__":
    main()
