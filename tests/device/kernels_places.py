"""Where a thread is: threadIdx, blockIdx, blockDim, gridDim, grid, gridsize, laneid, warpsize."""

from __future__ import annotations

import numpy as np

from numba_gpucore import language as gpu
from tests.device.catalogue import Case


def thread_numbers(out):
    i = gpu.blockIdx.x * gpu.blockDim.x + gpu.threadIdx.x
    out[i, 0] = gpu.threadIdx.x
    out[i, 1] = gpu.blockIdx.x
    out[i, 2] = gpu.blockDim.x
    out[i, 3] = gpu.gridDim.x


def expect_thread_numbers(out):
    i = np.arange(60)
    return {0: np.stack([i % 20, i // 20, np.full(60, 20), np.full(60, 3)], axis=1)}


def grid_1d(out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = i + 1000 * gpu.gridsize(1)


def grid_2d(out):
    x, y = gpu.grid(2)
    width, height = gpu.gridsize(2)
    out[x, y] = x + 100 * y + 10_000 * width + 1_000_000 * height


def mix_channels(image, out):
    """Neighbours along the second axis are three items apart."""
    i, j = gpu.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = 4 * image[i, j, 0] + 2 * image[i, j, 1] + image[i, j, 2]


def grid_3d(out):
    x, y, z = gpu.grid(3)
    a, b, c = gpu.gridsize(3)
    out[x, y, z] = x + 10 * y + 100 * z + 1000 * (a * b * c)


def three_axes(out):
    """Every axis of every vector, with extents that tell them apart."""
    t, b, d, g = gpu.threadIdx, gpu.blockIdx, gpu.blockDim, gpu.gridDim
    i = ((b.z * g.y + b.y) * g.x + b.x) * (d.x * d.y * d.z) + (t.z * d.y + t.y) * d.x + t.x
    out[i] = t.x + 2 * t.y + 6 * t.z + 24 * (b.x + 2 * b.y + 2 * b.z) + 1000 * (d.x + 10 * d.y + 100 * d.z)


def expect_three_axes(out):
    wanted = []
    for bz, by, bx in np.ndindex(2, 1, 2):
        for tz, ty, tx in np.ndindex(4, 3, 2):
            wanted.append(tx + 2 * ty + 6 * tz + 24 * (bx + 2 * by + 2 * bz) + 1000 * (2 + 10 * 3 + 100 * 4))
    return {0: np.array(wanted, np.int32)}


def lanes(out):
    i = gpu.grid(1)
    out[i] = gpu.laneid + 100 * gpu.warpsize
    if gpu.laneid == 0:
        out[i] = -1


def expect_lanes(out):
    lane = np.arange(70) % 32
    return {0: np.where(lane == 0, -1, lane + 3200).astype(np.int32)}


def grid_stride(x, out):
    """More items than threads."""
    for i in range(gpu.grid(1), x.size, gpu.gridsize(1)):
        out[i] = 2 * x[i]


def zeros(shape, dtype=np.int32):
    return lambda _rng: (np.zeros(shape, dtype),)


def expect_grid_2d(out):
    x, y = np.indices(out.shape)
    return {0: x + 100 * y + 10_000 * 6 + 1_000_000 * 4}


def expect_grid_3d(out):
    x, y, z = np.indices(out.shape)
    return {0: x + 10 * y + 100 * z + 1000 * 4 * 2 * 6}


CASES = (
    Case(
        mix_channels,
        lambda rng: (rng.integers(0, 99, (11, 21, 3)).astype(np.float32), np.zeros((11, 21), np.float32)),
        lambda image, out: {1: image @ np.array([4, 2, 1], np.float32)},
        grid=(2, 2),
        block=(8, 16),
    ),
    Case(thread_numbers, zeros((60, 4)), expect_thread_numbers, grid=3, block=20),
    Case(grid_1d, zeros(50), lambda out: {0: np.arange(50) + 1000 * 64}, grid=4, block=16),
    Case(grid_2d, zeros((6, 4)), expect_grid_2d, grid=(3, 2), block=(2, 2)),
    Case(grid_3d, zeros((4, 2, 6)), expect_grid_3d, grid=(2, 1, 2), block=(2, 2, 3)),
    Case(three_axes, zeros(96), expect_three_axes, grid=(2, 1, 2), block=(2, 3, 4)),
    Case(lanes, zeros(70), expect_lanes, grid=1, block=70),
    Case(
        grid_stride,
        lambda rng: (rng.random(1000, dtype=np.float32), np.zeros(1000, np.float32)),
        lambda x, out: {1: 2 * x},
        grid=2,
        block=48,
    ),
)
