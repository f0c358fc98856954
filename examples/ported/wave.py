"""The wave equation on a membrane; coefficients are constants, and three device arrays change places."""

import sys

import numpy as np
from numba import cuda

STEPS = 10
WEIGHTS = np.array([-1.0 / 12, 4.0 / 3, -2.5, 4.0 / 3, -1.0 / 12], np.float32)
COURANT = np.float32(0.25)


@cuda.jit
def step(before, now, after):
    weights = cuda.const.array_like(WEIGHTS)
    i, j = cuda.grid(2)
    if 2 <= i < now.shape[0] - 2 and 2 <= j < now.shape[1] - 2:
        laplacian = now[i, j] * 0
        for k in range(-2, 3):
            laplacian += weights[k + 2] * (now[i + k, j] + now[i, j + k])
        after[i, j] = 2 * now[i, j] - before[i, j] + COURANT * laplacian


def step_numpy(before, now):
    after = before.copy()
    inner = now[2:-2, 2:-2]
    laplacian = sum(
        weight * (now[2 + k : now.shape[0] - 2 + k, 2:-2] + now[2:-2, 2 + k : now.shape[1] - 2 + k])
        for k, weight in enumerate(WEIGHTS.astype(np.float64), start=-2)
    )
    after[2:-2, 2:-2] = 2 * inner - before[2:-2, 2:-2] + COURANT * laplacian
    return after


def main(size=150):
    axis = np.linspace(-1, 1, size)
    drop = np.exp(-20 * (axis[:, None] ** 2 + axis**2))
    drop[[0, 1, -2, -1]] = drop[:, [0, 1, -2, -1]] = 0
    before, now, after = (cuda.to_device(drop.astype(np.float32)) for _ in range(3))
    blocks = -(-size // 16)
    with cuda.profiling():
        for _ in range(STEPS):
            step[(blocks, blocks), (16, 16)](before, now, after)
            before, now, after = now, after, before

    old, new = drop.copy(), drop.copy()
    for _ in range(STEPS):
        old, new = new, step_numpy(old, new)
    np.testing.assert_allclose(now.copy_to_host(), new, rtol=1e-4, atol=1e-5)
    print(f"wave {size}x{size}: height {new.max():.3f} after {STEPS} steps")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
