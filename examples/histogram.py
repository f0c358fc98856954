"""Histogram of a photograph's grey levels: atomic additions in shared memory, then one a bin and block in global."""

from __future__ import annotations

import numpy as np

import common
import numba_metal as cuda

THREADS = 256
N_BINS = 256


@cuda.jit
def count_levels(levels, counts):
    """counts[v] += the number of times that v occurs in `levels` (uint8, shape (n,)); N_BINS threads a block."""
    own = cuda.shared.array(N_BINS, np.int32)
    thread = cuda.threadIdx.x
    own[thread] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), levels.size, cuda.gridsize(1)):
        cuda.atomic.add(own, levels[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, thread, own[thread])


def main() -> None:
    options = common.parse_options(__doc__, 600, "height of the photograph in pixels")
    levels_host = common.to_grey(common.load_photograph(options.size)).ravel()
    levels = cuda.to_device(levels_host)
    counts = cuda.to_device(np.zeros(N_BINS, np.int32))

    def launch() -> None:
        count_levels[64, THREADS](levels, counts)
        cuda.synchronize()

    times = common.time_two_launches(launch)
    expected = 2 * np.bincount(levels_host, minlength=N_BINS)
    checks = [common.Check("counts of two launches", counts.copy_to_host(), expected)]
    common.report("histogram", cuda.current_device(), times, checks)


if __name__ == "__main__":
    main()
