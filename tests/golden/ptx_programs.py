"""Twenty kernels whose PTX is kept: eight of benchmarks/ptx_kernels.py, and one for each way of PTX with things.

Before: nothing. After: test_ptx_goldens.py compiles each.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np

import numba_ptxplus as gpu

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from ptx_kernels import make_kernels

PARTICLE = np.dtype([("position", np.float64, 3), ("mass", np.float32), ("alive", np.bool_)], align=True)


@dataclass(frozen=True)
class Program:
    name: str
    function: Callable[..., None]
    signature: Any
    options: dict[str, Any] = field(default_factory=dict)


def block_vote(x, out):
    i = gpu.grid(1)
    positive = gpu.syncthreads_count(x[i] > 0)
    if gpu.syncthreads_or(x[i] < 0) and gpu.threadIdx.x == 0:
        out[gpu.blockIdx.x] = positive


def warp_sum(x, out):
    i = gpu.grid(1)
    total = x[i]
    distance = 16
    while distance > 0:
        total += gpu.shfl_down_sync(0xFFFFFFFF, total, distance)
        distance //= 2
    if gpu.laneid == 0:
        out[i // 32] = total


def warp_vote(x, out):
    i = gpu.grid(1)
    mask = gpu.activemask()
    ballot = gpu.ballot_sync(mask, x[i] > 0)
    same = gpu.match_any_sync(mask, x[i])
    gpu.syncwarp(mask)
    out[i] = gpu.popc(ballot) + gpu.ffs(same)


def atomics(sums, largest, x):
    i = gpu.grid(1)
    if i < x.size:
        gpu.atomic.add(sums, 0, x[i])
        gpu.atomic.max(largest, (0, i % 2), x[i])
        gpu.atomic.cas(largest, (1, 1), 0.0, x[i])


def two_shared_views(x):
    floats = gpu.shared.array(0, np.float32)
    words = gpu.shared.array(0, np.uint32)
    t = gpu.threadIdx.x
    floats[t] = x[t]
    gpu.syncthreads()
    x[t] = words[t] & 0x7FFFFF


def checked(x, order):
    i = gpu.grid(1)
    x[order[i]] = i


def raising(x):
    i = gpu.grid(1)
    if x[i] < 0:
        raise ValueError("negative", i, x[i])
    x[i] = math.sqrt(x[i])


def move(particles, step):
    i = gpu.grid(1)
    if i < particles.size and particles[i].alive:
        for axis in range(3):
            particles[i].position[axis] += step / particles[i].mass


def rotate(z, angle):
    i = gpu.grid(1)
    if i < z.size:
        z[i] *= complex(math.cos(angle), math.sin(angle))


def halves(x, y):
    i = gpu.grid(1)
    if i < x.size:
        y[i] = x[i] * x[i] + y[i]


def strided_copy(source, target):
    y, x = gpu.grid(2)
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = source[-1 - y, x]


def local_sort(x):
    i = gpu.grid(1)
    items = gpu.local.array(4, np.int32)
    for k in range(4):
        items[k] = x[4 * i + k]
    for _ in range(4):
        for k in range(3):
            if items[k] > items[k + 1]:
                items[k], items[k + 1] = items[k + 1], items[k]
    for k in range(4):
        x[4 * i + k] = items[k]


PROGRAMS = [
    *(Program(k.name.replace(" ", "_"), k.function, k.signature) for k in make_kernels(gpu, np.float32)),
    Program("block_vote", block_vote, "void(float32[::1], int32[::1])"),
    Program("warp_sum", warp_sum, "void(float64[::1], float64[::1])"),
    Program("warp_vote", warp_vote, "void(int64[::1], int32[::1])"),
    Program("atomics", atomics, "void(float32[::1], float64[:,::1], float32[::1])"),
    Program("two_shared_views", two_shared_views, "void(float32[::1])"),
    Program("checked", checked, "void(float32[::1], int32[::1])", {"debug": False, "boundscheck": True}),
    Program("raising", raising, "void(float64[::1])"),
    Program("move", move, numba.void(numba.from_dtype(PARTICLE)[::1], numba.float32)),
    Program("rotate", rotate, "void(complex64[::1], float32)", {"fastmath": True}),
    Program("halves", halves, "void(float16[::1], float16[::1])", {"launch_bounds": (256, 4), "max_registers": 32}),
    Program("strided_copy", strided_copy, "void(float32[:,:], float32[:,::1])"),
    Program("local_sort", local_sort, "void(int32[::1])"),
]
