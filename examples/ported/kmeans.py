"""K-means: points find their nearest centre, and add themselves to it atomically; a ufunc divides."""

import sys

import numpy as np
from numba import cuda, float32

CENTRES, ROUNDS = 4, 5


@cuda.jit
def assign(points, centres, labels):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best, nearest = 0, float32(np.inf)
        for k in range(centres.shape[0]):
            square = float32(0)
            for axis in range(points.shape[1]):
                difference = points[i, axis] - centres[k, axis]
                square += difference * difference
            if square < nearest:
                best, nearest = k, square
        labels[i] = best


@cuda.jit
def accumulate(points, labels, sums, counts):
    i = cuda.grid(1)
    if i < points.shape[0]:
        k = labels[i]
        cuda.atomic.add(counts, (k, 0), 1)
        for axis in range(points.shape[1]):
            cuda.atomic.add(sums, (k, axis), points[i, axis])


@cuda.vectorize(["float32(float32, float32)"])
def mean(total, count):
    return total / max(count, float32(1))


def kmeans(points, centres):
    labels = cuda.device_array(len(points), np.int32)
    on_device, centres = cuda.to_device(points), cuda.to_device(centres)
    for _ in range(ROUNDS):
        sums = cuda.to_device(np.zeros(centres.shape, np.float32))
        counts = cuda.to_device(np.zeros((centres.shape[0], 1), np.float32))
        assign.forall(len(points))(on_device, centres, labels)
        accumulate.forall(len(points))(on_device, labels, sums, counts)
        centres = mean(sums, counts)
    return labels.copy_to_host(), centres.copy_to_host()


def kmeans_numpy(points, centres):
    for _ in range(ROUNDS):
        labels = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([points[labels == k].mean(axis=0) for k in range(len(centres))])
    return labels, centres


def main(n=2000):
    rng = np.random.default_rng(13)
    corners = np.array([[0, 0], [0, 8], [8, 0], [8, 8]])
    points = (corners[np.arange(n) % CENTRES] + rng.standard_normal((n, 2))).astype(np.float32)
    labels, centres = kmeans(points, points[:CENTRES])
    expected_labels, expected_centres = kmeans_numpy(points.astype(np.float64), points[:CENTRES].astype(np.float64))
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(centres, expected_centres, rtol=1e-4, atol=1e-5)
    print(f"k-means {n} points: centres {', '.join(f'({x:.2f}, {y:.2f})' for x, y in centres)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
