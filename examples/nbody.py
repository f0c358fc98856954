"""Gravity between n bodies, all pairs: blocks share the positions that they read, tile after tile."""

from __future__ import annotations

import math

import numpy as np

import common
import numba_ptxplus as cuda

THREADS = 128
#: Keeps close encounters finite: a distance r counts as sqrt(r*r + SOFTENING).
SOFTENING = np.float32(0.01)


@cuda.jit
def find_accelerations(bodies, accelerations):
    """bodies: x, y, z, mass, shape (n, 4); accelerations: shape (n, 3); gravity's constant is 1."""
    tile = cuda.shared.array((THREADS, 4), np.float32)
    thread = cuda.threadIdx.x
    body = cuda.grid(1)
    n = bodies.shape[0]
    x = y = z = np.float32(0)
    if body < n:
        x, y, z = bodies[body, 0], bodies[body, 1], bodies[body, 2]
    ax = ay = az = np.float32(0)
    for start in range(0, n, THREADS):
        if start + thread < n:
            for k in range(4):
                tile[thread, k] = bodies[start + thread, k]
        cuda.syncthreads()
        for other in range(min(THREADS, n - start)):
            dx, dy, dz = tile[other, 0] - x, tile[other, 1] - y, tile[other, 2] - z
            square = dx * dx + dy * dy + dz * dz + SOFTENING
            pull = tile[other, 3] / (square * math.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    if body < n:
        accelerations[body, 0] = ax
        accelerations[body, 1] = ay
        accelerations[body, 2] = az


def find_accelerations_with_numpy(bodies: np.ndarray) -> np.ndarray:
    positions, masses = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    accelerations = np.empty_like(positions)
    for i, position in enumerate(positions):
        offsets = positions - position
        squares = np.sum(offsets * offsets, axis=1) + float(SOFTENING)
        accelerations[i] = (masses / squares**1.5) @ offsets
    return accelerations


def make_cluster(n: int) -> np.ndarray:
    """Bodies of a Plummer sphere, total mass 1; shape (n, 4), float32."""
    random = np.random.default_rng(2)
    directions = random.normal(size=(n, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = 1 / np.sqrt(random.uniform(0.05, 0.95, (n, 1)) ** (-2 / 3) - 1)
    return np.hstack([directions * radii, np.full((n, 1), 1 / n)]).astype(np.float32)


def main() -> None:
    options = common.parse_options(__doc__, 2000, "number of bodies")
    bodies_host = make_cluster(options.size)
    bodies = cuda.to_device(bodies_host)
    accelerations = cuda.device_array((options.size, 3), np.float32)

    def launch() -> None:
        find_accelerations[-(-options.size // THREADS), THREADS](bodies, accelerations)
        cuda.synchronize()

    times = common.time_two_launches(launch)
    expected = find_accelerations_with_numpy(bodies_host)
    # About ten roundings a pair, and pulls that add up to a few units.
    checks = [common.Check("accelerations", accelerations.copy_to_host(), expected, 2e-5)]
    common.report("nbody", cuda.current_device(), times, checks)


if __name__ == "__main__":
    main()
