"""The Mandelbrot set: each thread counts how long one point stays near 0."""

from __future__ import annotations

import numpy as np

import common
import numba_metal as cuda

THREADS = (32, 8)
MAX_COUNT = 100
LEFT, TOP, WIDTH = np.float32(-2.0), np.float32(-1.25), np.float32(2.5)
FOUR = np.float32(4)


@cuda.jit
def count_steps(counts):
    """Steps of z = z*z + c until |z| > 2, at most MAX_COUNT; c covers a square of the complex plane."""
    column, row = cuda.grid(2)
    height, width = counts.shape
    if row >= height or column >= width:
        return
    c_real = LEFT + WIDTH * np.float32(column) / np.float32(width)
    c_imag = TOP + WIDTH * np.float32(row) / np.float32(height)
    real = imag = np.float32(0)
    count = 0
    while count < MAX_COUNT and real * real + imag * imag <= FOUR:
        product = real * imag
        real = real * real - imag * imag + c_real
        imag = product + product + c_imag
        count += 1
    counts[row, column] = count


def count_steps_with_numpy(size: int) -> np.ndarray:
    c_real = (LEFT + WIDTH * np.arange(size, dtype=np.float32) / np.float32(size))[None, :]
    c_imag = (TOP + WIDTH * np.arange(size, dtype=np.float32) / np.float32(size))[:, None]
    real = np.zeros((size, size), np.float32)
    imag = np.zeros_like(real)
    counts = np.zeros((size, size), np.int32)
    for _ in range(MAX_COUNT):
        inside = real * real + imag * imag <= FOUR
        counts += inside
        product = real * imag
        real, imag = (
            np.where(inside, real * real - imag * imag + c_real, real),
            np.where(inside, product + product + c_imag, imag),
        )
    return counts


def make_picture(counts: np.ndarray) -> np.ndarray:
    """uint8 RGB pixels."""
    return common.to_colour(np.sqrt(counts / MAX_COUNT), "magma")


def main() -> None:
    options = common.parse_options(__doc__, 1024, "height and width in pixels")
    shape = (options.size, options.size)
    counts = cuda.device_array(shape, np.int32)
    blocks = common.count_blocks(shape, THREADS)

    def launch() -> None:
        count_steps[blocks, THREADS](counts)
        cuda.synchronize()

    times = common.time_two_launches(launch)
    counts_host = counts.copy_to_host()
    # Fused multiply-add, where a device uses it, moves single points; the count of moved points is what is compared.
    moved = np.count_nonzero(counts_host != count_steps_with_numpy(options.size))
    checks = [common.Check("share of points that differ", np.array(moved / counts_host.size), np.array(0.0), 0.01)]
    common.report("mandelbrot", cuda.current_device(), times, checks)
    common.save_picture(make_picture(counts_host), options.out / "mandelbrot.png")


if __name__ == "__main__":
    main()
