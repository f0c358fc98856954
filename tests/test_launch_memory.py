"""Launching costs no memory that stays."""

from __future__ import annotations

SCRIPT = """
import resource
import sys

import numpy as np

import numba_metal as cuda


@cuda.jit
def scale(x, y, factor):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * factor


host = np.ones(64, np.float32), np.ones(64, np.float32)
device = cuda.to_device(host[0]), cuda.to_device(host[1])
stream = cuda.stream()


def launch_many(n):
    for i in range(n):
        scale[1, 64](*device, np.float32(i))
        scale[1, 64](*host, np.float32(i))
        if i % 100 == 0:
            scale[1, 64, stream](*device, np.float32(i))
            stream.synchronize()


def peak_nbytes():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # getrusage(2) of each system


launch_many(5_000)
before = peak_nbytes()
launch_many(50_000)
print(peak_nbytes() - before)
"""


def test_a_hundred_thousand_launches_leave_nothing_behind(run_python):
    """Ten bytes a launch would be 1 MB."""
    growth_nbytes = int(run_python("-c", SCRIPT, NUMBA_METAL_DEVICE="cpu").stdout)
    assert growth_nbytes < 1_000_000
