"""Blur a photograph and find its edges: 5x5 binomial filter, then Sobel's gradient."""

from __future__ import annotations

import math

import numpy as np

import common
import numba_metal as cuda

THREADS = (32, 8)
TAPS = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16)


@cuda.jit
def blur(image, blurred):
    """Pixels beyond the border repeat it."""
    column, row = cuda.grid(2)
    height, width = image.shape
    if row >= height or column >= width:
        return
    taps = cuda.const.array_like(TAPS)
    total = np.float32(0)
    for i in range(5):
        y = min(max(row + i - 2, 0), height - 1)
        for j in range(5):
            x = min(max(column + j - 2, 0), width - 1)
            total += taps[i] * taps[j] * image[y, x]
    blurred[row, column] = total


@cuda.jit
def find_edges(image, edges):
    """Length of Sobel's gradient; 0 at the border."""
    column, row = cuda.grid(2)
    height, width = image.shape
    if row >= height or column >= width:
        return
    if row == 0 or row == height - 1 or column == 0 or column == width - 1:
        edges[row, column] = 0
        return
    top, middle, bottom = image[row - 1], image[row], image[row + 1]
    left, right = column - 1, column + 1
    across = top[right] - top[left] + bottom[right] - bottom[left]
    across += middle[right] - middle[left] + (middle[right] - middle[left])
    down = bottom[left] - top[left] + bottom[right] - top[right]
    down += bottom[column] - top[column] + (bottom[column] - top[column])
    edges[row, column] = math.sqrt(across * across + down * down)


def blur_with_numpy(image: np.ndarray) -> np.ndarray:
    height, width = image.shape
    padded = np.pad(image, 2, mode="edge")
    rows = sum(tap * padded[i : i + height] for i, tap in enumerate(TAPS))
    return sum(tap * rows[:, j : j + width] for j, tap in enumerate(TAPS))


def find_edges_with_numpy(image: np.ndarray) -> np.ndarray:
    edges = np.zeros_like(image)
    smooth_down = image[:-2] + 2 * image[1:-1] + image[2:]
    smooth_across = image[:, :-2] + 2 * image[:, 1:-1] + image[:, 2:]
    across = smooth_down[:, 2:] - smooth_down[:, :-2]
    down = smooth_across[2:] - smooth_across[:-2]
    edges[1:-1, 1:-1] = np.sqrt(across * across + down * down)
    return edges


def make_picture(photograph: np.ndarray, blurred: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """uint8 pixels: the photograph, blurred, and its edges, side by side."""
    return common.to_grey(np.hstack([photograph, blurred, edges]))


def main() -> None:
    options = common.parse_options(__doc__, 600, "height of the photograph in pixels")
    photograph = common.load_photograph(options.size)
    image = cuda.to_device(photograph)
    blurred = cuda.device_array_like(image)
    edges = cuda.device_array_like(image)
    blocks = common.count_blocks(photograph.shape, THREADS)

    def launch() -> None:
        blur[blocks, THREADS](image, blurred)
        find_edges[blocks, THREADS](blurred, edges)
        cuda.synchronize()

    times = common.time_two_launches(launch)
    blurred_host, edges_host = blurred.copy_to_host(), edges.copy_to_host()
    # Rounding: 25 float32 terms up to 1 for the blur; sums of 8 terms, magnified by the square root near 0, for edges.
    expected = blur_with_numpy(photograph)
    checks = [
        common.Check("blur", blurred_host, expected, 2e-6),
        common.Check("edges", edges_host, find_edges_with_numpy(expected), 1e-5),
    ]
    common.report("edges", cuda.current_device(), times, checks)
    common.save_picture(make_picture(photograph, blurred_host, edges_host), options.out / "edges.png")


if __name__ == "__main__":
    main()
