"""The heat equation on a plate with fixed edges: explicit time steps with a five-point stencil."""

from __future__ import annotations

import numpy as np

import common
import numba_metal as cuda

THREADS = (32, 8)
N_STEPS = 200
#: Heat conductivity * time step / (grid spacing)**2; the scheme is stable up to 0.25.
RATE = np.float32(0.2)
FOUR = np.float32(4)


@cuda.jit
def step(now, after):
    """One time step for the inner points; `after` keeps its edges."""
    column, row = cuda.grid(2)
    height, width = now.shape
    if 0 < row < height - 1 and 0 < column < width - 1:
        neighbours = now[row - 1, column] + now[row + 1, column] + now[row, column - 1] + now[row, column + 1]
        after[row, column] = now[row, column] + RATE * (neighbours - FOUR * now[row, column])


def step_with_numpy(now: np.ndarray, after: np.ndarray) -> None:
    neighbours = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
    after[1:-1, 1:-1] = now[1:-1, 1:-1] + RATE * (neighbours - FOUR * now[1:-1, 1:-1])


def make_plate(size: int) -> np.ndarray:
    """Temperatures from 0 to 1: a hot ring on a cold plate whose upper edge is kept hot."""
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    radius = np.hypot(x, y)
    plate = ((radius > 0.4) & (radius < 0.6)).astype(np.float32)
    plate[0] = 1
    return plate


def run_with_numpy(plate: np.ndarray) -> np.ndarray:
    now, after = plate.copy(), plate.copy()
    for _ in range(N_STEPS):
        step_with_numpy(now, after)
        now, after = after, now
    return now


def make_picture(plate: np.ndarray) -> np.ndarray:
    """uint8 RGB pixels, cold to hot."""
    return common.to_colour(plate, "inferno")


def main() -> None:
    options = common.parse_options(__doc__, 512, "height and width of the plate in points")
    plate = make_plate(options.size)
    now, after = cuda.to_device(plate), cuda.to_device(plate)
    blocks = common.count_blocks(plate.shape, THREADS)

    def launch() -> None:
        step[blocks, THREADS](now, after)
        step[blocks, THREADS](after, now)
        cuda.synchronize()

    times = common.time_two_launches(launch)
    for _ in range((N_STEPS - 4) // 2):
        launch()
    plate_host = now.copy_to_host()
    # Errors do not grow: the scheme averages. One rounding of values up to 4, a step, is far below this.
    checks = [common.Check(f"{N_STEPS} steps", plate_host, run_with_numpy(plate), 1e-5)]
    common.report("heat", cuda.current_device(), times, checks)
    common.save_picture(make_picture(plate_host), options.out / "heat.png")


if __name__ == "__main__":
    main()
