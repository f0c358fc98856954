"""Arrays in kernels: layouts, views, slices, negative indices, reductions, whole-array assignment."""

from __future__ import annotations

import numpy as np
from numba import njit

from numba_gpucore import language as gpu
from tests.device.catalogue import Case

ONE_DAY, TWO_DAYS = np.timedelta64(1, "D"), np.timedelta64(2, "D")


def double_2d(x, out):
    i, j = gpu.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = 2 * x[i, j]


def views_of_views(stack, out):
    """A view that starts in the middle, and one into it with an offset on the last axis."""
    b = gpu.blockIdx.x
    mine = stack[2 * b :]
    for m in range(2):
        for r in range(stack.shape[1]):
            row = mine[m, r, 1:]
            for c in range(row.size):
                out[2 * b + m, r, c] = 10 * row[c]


def slices(x, out):
    i = gpu.grid(1)
    if i == 0:
        out[0] = x[-1]
        out[1] = x[2:-2:3][1]
        out[2] = x[::-1][0]
        out[3] = len(x[5:2])
        out[4] = x[-4:][0]
        out[5:8] = x[:3]
        out[8:10] = 7
        out[10] = x[...][2]
        out[10:][...] += 1


def expect_slices(x, out):
    return {1: np.array([x[-1], x[5], x[-1], 0, x[-4], x[0], x[1], x[2], 7, 7, x[2] + 1])}


def slice_bounds(x, out):
    """Slices of 0 to 4 items, whose bounds lie from nine before the start to nine behind it."""
    i = gpu.grid(1)
    if i < out.shape[0]:
        part = x[: i % 5][i // 5 % 19 - 9 : i // 95 - 9]
        out[i, 0] = part.size
        out[i, 1] = part[0] if part.size else -1


def expect_slice_bounds(x, out):
    parts = [x[: i % 5][i // 5 % 19 - 9 : i // 95 - 9] for i in range(len(out))]
    return {1: np.array([(part.size, part[0] if part.size else -1) for part in parts])}


def reductions(x, out):
    """NumPy's reductions over a row, which Numba writes as loops."""
    i = gpu.grid(1)
    if i < x.shape[0]:
        row = x[i]
        out[i, 0] = row.sum()
        out[i, 1] = row.max()
        out[i, 2] = row.min()
        out[i, 3] = np.argmax(row)
        out[i, 4] = row.mean()
        out[i, 5] = row.prod()
        out[i, 6] = np.argmin(row)


def expect_reductions(x, out):
    return {
        1: np.stack(
            [
                x.sum(1),
                x.max(1),
                x.min(1),
                x.argmax(1),
                x.mean(1),
                x.prod(1),
                x.argmin(1),
            ],
            axis=1,
        )
    }


def functions_of_views(x, out):
    """NumPy functions that Numba writes with temporary arrays, and others that look at every item."""
    i = gpu.grid(1)
    if i < x.shape[0]:
        row = x[i]
        out[i, 0] = np.count_nonzero(row)
        out[i, 1] = np.dot(row, x[0]) + row[::2].dot(x[:5, 1])
        out[i, 2] = np.array_equal(row, x[0])
        out[i, 3] = np.where(row[0] > 4, row[0], -row[1])
        out[i, 4] = np.clip(row[2], 3, 6)
        out[i, 5] = np.any(row)
        out[i, 6] = row.var()
        out[i, 7] = np.sum(x[:, i]) + np.max(x[i:, i])


def expect_functions_of_views(x, out):
    i = np.arange(len(x))
    columns = [
        np.count_nonzero(x, axis=1),
        x @ x[0] + x[:, ::2] @ x[:5, 1],
        i == 0,
        np.where(x[:, 0] > 4, x[:, 0], -x[:, 1]),
        np.clip(x[:, 2], 3, 6),
        x.any(axis=1),
        x.astype(np.float64).var(axis=1),
        x.sum(axis=0)[: len(x)] + [x[k:, k].max() for k in i],
    ]
    return {1: np.stack(columns, axis=1).astype(np.float32)}


def views_from_functions(x, out):
    """Device functions that return parts of their arguments, alone and in tuples."""
    i = gpu.grid(1)
    if i < 3:
        row, last = row_and_last(x, i)
        out[i] = inner(row)[1] + 100 * last[0] + 10_000 * np.transpose(x)[1, i] + 1_000_000 * x.ravel()[i]


@njit
def inner(row):
    return row[1:-1]


@njit
def row_and_last(x, i):
    return x[i], x[i, -1:]


def assign_rows(x, out):
    i = gpu.grid(1)
    if i < x.shape[0]:
        out[i, :] = x[i]
        out[i, 1:] = 0


def whole_expressions(x, y, out):
    """Expressions over whole arrays into existing ones; operands broadcast, the destination may be one of them."""
    i = gpu.grid(1)
    if i < out.shape[0]:
        out[i, :] = 2 * x[i] + y
        out[i, 1:] = out[i, 1:] * out[i, 1:] - x[i, 0]
        out[i, :1] = np.sqrt(y[:1])
        out[i, 2:] += y[2:]


def expect_whole_expressions(x, y, out):
    wanted = 2 * x + y
    wanted[:, 1:] = wanted[:, 1:] ** 2 - x[:, :1]
    wanted[:, :1] = np.sqrt(y[:1])
    wanted[:, 2:] += y[2:]
    return {2: wanted}


def single_columns(x, y):
    """Axes along which there is one item, whose strides say nothing: the destination is the operand all the same."""
    i = gpu.grid(1)
    if i < x.shape[0]:
        x[i] += 1
        x[i] = x[i] * 2
        y[i, :] -= y[i]
        y[i] = x[i]


def overlapping_assignments(x):
    """Shifts within one array, both ways, as if the source had been copied first."""
    i = gpu.grid(1)
    if i < x.shape[0]:
        row = x[i]
        row[2:] = row[:-2]
        row[:-1] = row[1:]
        row[::-1][1:] = row[::-1][:-1]


def expect_overlapping_assignments(x):
    wanted = x.copy()
    wanted[:, 2:] = wanted[:, :-2].copy()
    wanted[:, :-1] = wanted[:, 1:].copy()
    wanted[:, ::-1][:, 1:] = wanted[:, ::-1][:, :-1].copy()
    return {0: wanted}


def reshaped(x, out):
    i = gpu.grid(1)
    m = x.reshape(4, 8)
    t = m.T
    if i < 8:
        out[i] = t[i, 1] + 100 * m[3, i] + m.size + m.ndim


def iterate(x, out):
    i = gpu.grid(1)
    total = 0
    for value in x[i]:
        total += value
    for k, value in enumerate(x[i]):
        total += k * value
    for a, b in zip(x[i], x[0]):  # noqa: B905
        total += a * b
    for index in np.ndindex(2, 2):
        total += x[index]
    for value in x[i].flat:
        total += value
    out[i] = total


def expect_iterate(x, out):
    k = np.arange(x.shape[1])
    return {1: 2 * x.sum(1) + (k * x).sum(1) + (x * x[0]).sum(1) + x[:2, :2].sum()}


def zero_dimensions(x, out):
    out[()] = x[()] + 1
    out[...] += x[...]


def empty_array(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[0] = 1
    for k in range(x.shape[0]):
        out[k] = 2


def datetimes(t, out, days):
    i = gpu.grid(1)
    if i < t.size:
        out[i] = t[i] + TWO_DAYS
        days[i] = (t[i] - t[0]) / ONE_DAY


def layout_case(name, make_view):
    """The same kernel over another memory layout of the input."""

    def make_args(rng):
        return make_view(rng), np.zeros((5, 7), np.float32)

    return Case(double_2d, make_args, lambda x, out: {1: 2 * x}, grid=(2, 2), block=(4, 4), name=f"double_2d_{name}")


def random(rng, shape):
    return rng.random(shape, np.float32)


LAYOUTS = {
    "c": lambda rng: random(rng, (5, 7)),
    "f": lambda rng: np.asfortranarray(random(rng, (5, 7))),
    "transposed": lambda rng: random(rng, (7, 5)).T,
    "strided": lambda rng: random(rng, (10, 21))[::2, ::3],
    "reversed": lambda rng: random(rng, (5, 7))[::-1, ::-1],
    "broadcast": lambda rng: np.broadcast_to(random(rng, 7), (5, 7)),
    "offset": lambda rng: random(rng, (6, 9))[1:, 2:],
}


def life(a, b):
    """The next generation on a torus: indices are chosen by conditions, and wrap where they are negative."""
    i, j = gpu.grid(2)
    rows, columns = a.shape
    if i < rows and j < columns:
        count = 0
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di != 0 or dj != 0:
                    count += a[i + di if i + di < rows else 0, j + dj if j + dj < columns else 0]
        b[i, j] = 1 if count == 3 or (count == 2 and a[i, j]) else 0


def stencil_of_three_axes(a, b):
    x, y, z = gpu.grid(3)
    if 0 < x < a.shape[0] - 1 and 0 < y < a.shape[1] - 1 and 0 < z < a.shape[2] - 1:
        b[x, y, z] = a[x - 1, y, z] + a[x + 1, y, z] + a[x, y - 1, z] + a[x, y + 1, z] + a[x, y, z - 1] + a[x, y, z + 1]


def expect_stencil_of_three_axes(a, b):
    inner = (slice(1, -1),) * 3
    wanted = np.zeros_like(b)
    wanted[inner] = sum(np.roll(a, step, axis)[inner] for axis in range(3) for step in (-1, 1))
    return {1: wanted}


def expect_life(a, b):
    shifts = [(u, v) for u in (-1, 0, 1) for v in (-1, 0, 1) if u or v]
    count = sum(np.roll(a, shift, (0, 1)) for shift in shifts)
    return {1: (count == 3) | ((count == 2) & (a == 1))}


CASES = (
    *(layout_case(name, make_view) for name, make_view in LAYOUTS.items()),
    Case(
        views_of_views,
        lambda _rng: (np.arange(72, dtype=np.float32).reshape(6, 3, 4), np.zeros((6, 3, 3), np.float32)),
        lambda stack, out: {1: 10 * stack[:, :, 1:]},
        grid=3,
        block=1,
    ),
    Case(slices, lambda rng: (rng.integers(0, 99, 20), np.zeros(11, np.int64)), expect_slices, block=2),
    Case(
        slice_bounds,
        lambda rng: (rng.integers(0, 99, 4), np.zeros((5 * 19 * 19, 2), np.int64)),
        expect_slice_bounds,
        grid=8,
        block=256,
    ),
    Case(
        reductions,
        lambda rng: (rng.integers(1, 9, (6, 10)).astype(np.float32), np.zeros((6, 7), np.float32)),
        expect_reductions,
        rtol=2e-7,
        tolerance="the mean is one division; sums and products are exact below 2**24 or round alike within one ulp",
    ),
    Case(
        functions_of_views,
        lambda rng: (rng.integers(0, 9, (6, 10)).astype(np.float32), np.zeros((6, 8), np.float32)),
        expect_functions_of_views,
        rtol=1e-6,
        tolerance="a variance in float32",
    ),
    Case(
        views_from_functions,
        lambda rng: (rng.integers(0, 9, (3, 5)), np.zeros(3, np.int64)),
        lambda x, out: {1: x[:, 2] + 100 * x[:, -1] + 10_000 * x[:, 1] + 1_000_000 * x.ravel()[:3]},
        block=4,
    ),
    Case(
        assign_rows,
        lambda rng: (random(rng, (6, 4)), np.ones((6, 4), np.float32)),
        lambda x, out: {1: np.concatenate([x[:, :1], np.zeros((6, 3), np.float32)], axis=1)},
    ),
    Case(
        whole_expressions,
        lambda rng: (
            rng.integers(0, 9, (6, 5)).astype(np.float32),
            rng.integers(0, 5, 5).astype(np.float32) ** 2,
            np.zeros((6, 5), np.float32),
        ),
        expect_whole_expressions,
    ),
    Case(
        single_columns,
        lambda rng: (rng.integers(0, 99, (5, 1)), rng.integers(0, 99, (5, 1, 3))),
        lambda x, y: {0: (x + 1) * 2, 1: np.broadcast_to(((x + 1) * 2)[:, :, np.newaxis], y.shape)},
    ),
    Case(overlapping_assignments, lambda rng: (rng.integers(0, 99, (5, 9)),), expect_overlapping_assignments),
    Case(
        reshaped,
        lambda rng: (rng.integers(0, 9, 32, dtype=np.int32), np.zeros(8, np.int32)),
        lambda x, out: {1: x.reshape(4, 8)[1] + 100 * x.reshape(4, 8)[3] + 34},
    ),
    Case(iterate, lambda rng: (rng.integers(0, 9, (4, 5)), np.zeros(4, np.int64)), expect_iterate, block=4),
    Case(
        zero_dimensions,
        lambda _rng: (np.array(3, np.int32), np.array(0, np.int32)),
        lambda x, out: {1: np.array(7)},
        block=1,
    ),
    Case(empty_array, lambda _rng: (np.zeros(0, np.int32), np.zeros(1, np.int32)), lambda x, out: {}),
    Case(
        datetimes,
        lambda rng: (
            np.datetime64("2024-02-27") + rng.integers(0, 400, 16).astype("timedelta64[D]"),
            np.zeros(16, "datetime64[D]"),
            np.zeros(16, np.float64),
        ),
        lambda t, out, days: {1: t + TWO_DAYS, 2: (t - t[0]) / ONE_DAY},
        block=16,
        needs=frozenset({"float64"}),
    ),
    Case(
        life,
        lambda rng: ((rng.random((11, 21)) < 0.4).astype(np.uint8), np.zeros((11, 21), np.uint8)),
        expect_life,
        grid=(2, 2),
        block=(8, 16),
    ),
    Case(
        stencil_of_three_axes,
        lambda rng: (rng.integers(0, 99, (7, 6, 9)).astype(np.float32), np.zeros((7, 6, 9), np.float32)),
        expect_stencil_of_three_axes,
        grid=(2, 2, 2),
        block=(4, 4, 8),
    ),
)
