"""The Mandelbrot set: points of the plane, each counted by one thread of a 2-D grid that strides over the picture."""

import sys

import numpy as np
from numba import cuda

STEPS = 50
WEST, EAST, SOUTH, NORTH = -2.0, 0.5, -1.125, 1.125


@cuda.jit(device=True)
def count_steps(real, imag, limit):
    x, y = real, imag
    for step in range(limit):
        if x * x + y * y > 4:
            return step
        x, y = x * x - y * y + real, 2 * x * y + imag
    return limit


@cuda.jit
def mandelbrot(west, south, dx, dy, picture):
    column, row = cuda.grid(2)
    columns, rows = cuda.gridsize(2)
    for i in range(row, picture.shape[0], rows):
        for j in range(column, picture.shape[1], columns):
            picture[i, j] = count_steps(west + j * dx, south + i * dy, STEPS)


def mandelbrot_numpy(real, imag):
    start = real + 1j * imag
    point, counts = start.copy(), np.zeros(start.shape, np.int32)
    for _ in range(STEPS):
        inside = point.real**2 + point.imag**2 <= 4
        counts += inside
        point = np.where(inside, point * point + start, point)
    return counts


def main(size=300):
    dx, dy = np.float32((EAST - WEST) / size), np.float32((NORTH - SOUTH) / size)
    picture = np.zeros((size, size), np.int32)
    mandelbrot[(4, 4), (16, 8)](np.float32(WEST), np.float32(SOUTH), dx, dy, picture)

    steps = np.arange(size, dtype=np.float32)
    expected = mandelbrot_numpy(*np.meshgrid(np.float32(WEST) + steps * dx, np.float32(SOUTH) + steps * dy))
    # A fused multiply-add rounds once where NumPy rounds twice, which can move points at the rim.
    differing = np.mean(picture != expected)
    assert differing < 0.02, f"{differing:.1%} of the points differ"
    print(f"mandelbrot {size}x{size}: {picture.sum()} steps, {differing:.2%} of the points differ from NumPy")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
