"""Gravity between all pairs of bodies; a block loads as many bodies as it has threads into shared memory at a time."""

import math
import sys

import numpy as np
from numba import cuda, float32

THREADS = 64
STEPS = 3
SOFTENING, DT = 0.01, 0.01


@cuda.jit(fastmath=True)
def accelerate(position, mass, acceleration):
    near = cuda.shared.array((THREADS, 4), float32)
    i, thread = cuda.grid(1), cuda.threadIdx.x
    n = position.shape[0]
    x = y = z = float32(0)
    if i < n:
        x, y, z = position[i, 0], position[i, 1], position[i, 2]
    ax = ay = az = float32(0)
    for first in range(0, n, THREADS):
        if first + thread < n:
            for axis in range(3):
                near[thread, axis] = position[first + thread, axis]
            near[thread, 3] = mass[first + thread]
        cuda.syncthreads()
        for k in range(min(THREADS, n - first)):
            dx, dy, dz = near[k, 0] - x, near[k, 1] - y, near[k, 2] - z
            square = dx * dx + dy * dy + dz * dz + float32(SOFTENING)
            pull = near[k, 3] / (square * math.sqrt(square))
            ax += dx * pull
            ay += dy * pull
            az += dz * pull
        cuda.syncthreads()
    if i < n:
        acceleration[i, 0], acceleration[i, 1], acceleration[i, 2] = ax, ay, az


@cuda.jit("void(float32[:, ::1], float32[:, ::1], float32[:, ::1], float32)")
def move(position, velocity, acceleration, dt):
    i, axis = cuda.grid(2)
    if i < position.shape[0] and axis < 3:
        velocity[i, axis] += dt * acceleration[i, axis]
        position[i, axis] += dt * velocity[i, axis]


def main(n=1000):
    rng = np.random.default_rng(7)
    position = rng.standard_normal((n, 3)).astype(np.float32)
    mass = (rng.random(n) / n).astype(np.float32)
    on_device = cuda.to_device(position)
    masses = cuda.to_device(mass)
    velocity = cuda.to_device(np.zeros_like(position))
    acceleration = cuda.device_array_like(on_device)
    for _ in range(STEPS):
        accelerate[-(-n // THREADS), THREADS](on_device, masses, acceleration)
        move[-(-n // 32), (32, 3)](on_device, velocity, acceleration, DT)

    expected, speed = position.astype(np.float64), np.zeros((n, 3))
    for _ in range(STEPS):
        distance = expected[None] - expected[:, None]
        square = (distance**2).sum(axis=2) + SOFTENING
        speed += DT * (distance * (mass / square**1.5)[..., None]).sum(axis=1)
        expected += DT * speed
    np.testing.assert_allclose(on_device.copy_to_host(), expected, rtol=1e-4, atol=1e-5)
    print(f"nbody {n}: positions agree with NumPy after {STEPS} steps")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
