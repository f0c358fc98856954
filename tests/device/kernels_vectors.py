"""Short vectors: made of numbers and vectors, taken apart, in arithmetic, tuples, branches, loops and arrays."""

from __future__ import annotations

import numpy as np
from numba import njit

from numba_gpucore import language as gpu
from numba_gpucore.dtypes import float32, int32
from numba_gpucore.vector_types import VECTOR_CLASSES, vector_names
from tests.device.catalogue import Case

_NAMES = vector_names()
float1, float2, float3, float4 = (_NAMES[f"float{n}"] for n in (1, 2, 3, 4))
half2, half4, int2, int3, int4, uint2, uchar4, short2, long4, double3 = (
    _NAMES[name]
    for name in ("half2", "half4", "int2", "int3", "int4", "uint2", "uchar4", "short2", "longlong4", "double3")
)
N = 64


def constructors(x, out):
    a, b, c, d = x[0], x[1], x[2], x[3]
    pair, single, triple = float2(a, b), float1(c), float3(single_of(d), float2(b, a))
    full = float4(pair, single, d)
    out[0], out[1], out[2], out[3] = full.x, full.y, full.z, full.w
    mixed = float4(triple, full.w)
    out[4], out[5], out[6], out[7] = mixed.x, mixed.y, mixed.z, mixed.w
    turned = int4(float4(full.w, full.z, pair))
    out[8], out[9], out[10], out[11] = turned.x, turned.y, turned.z, turned.w


@njit
def single_of(x):
    return float1(x)


def expect_constructors(x, out):
    a, b, c, d = x[:4]
    return {1: np.array([a, b, c, d, d, b, a, d, *np.trunc([d, c, a, b])], np.float32)}


def float_arithmetic(x, out):
    i = gpu.grid(1)
    v = float3(x[i], x[i] + float32(1), 2)
    w = v * v - v / (-v + float3(0, 0, 9)) + float32(0.5)
    w = gpu.fma(w, v, w)
    out[0, i] = w.x
    out[1, i] = w.y
    out[2, i] = w.z


def expect_float_arithmetic(x, out):
    v = np.stack([x, x + np.float32(1), np.full_like(x, 2)])
    w = v * v - v / (-v + np.array([[0], [0], [9]], np.float32)) + np.float32(0.5)
    return {1: (w.astype(np.float64) * v + w).astype(np.float32)}


def products(x, out):
    """Components of several vectors together: LLVM may work on whole vectors and shuffle them."""
    i = gpu.grid(1)
    a, b = x.view(float4)[i], x.view(float4)[(i + 1) % (x.size // 4)]
    out[0, i] = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w
    c = float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    out[1, i], out[2, i], out[3, i] = c.x, c.y, c.z
    d = float4(a.w, a.z, b.y, b.x) * float4(b.z, b.z, a.x, a.x)
    if max(d.x, d.y) > min(d.z, d.w):
        d = float4(d.z, d.w, d.x, d.y)
    out[4, i], out[5, i], out[6, i], out[7, i] = d.x, abs(d.y), d.z + d.w, d.x - d.y


def expect_products(x, out):
    a = x.reshape(-1, 4).T
    b = np.roll(a, -1, axis=1)
    c = np.cross(a[:3].T, b[:3].T).T
    d = a[[3, 2]] * b[[2, 2]], b[[1, 0]] * a[[0, 0]]
    d = np.where(d[0].max(0) > d[1].min(0), np.stack([*d[1], *d[0]]), np.stack([*d[0], *d[1]]))
    return {1: np.stack([(a * b).sum(0), *c, d[0], np.abs(d[1]), d[2] + d[3], d[0] - d[1]]).astype(np.float32)}


def integer_arithmetic(x, out):
    """Components wrap in their own width."""
    i = gpu.grid(1)
    bytes_ = uchar4(x[i], x[i] + 1, 200, 7)
    bytes_ = bytes_ * bytes_ + bytes_
    words = short2(x[i], -x[i]) * short2(1000, 1000)
    whole = int3(x[i], 1, -1) - int3(words.x, words.y, 2) * 3
    longs = long4(x[i], words.y, whole.z, 1) + long4(1, 2, 3, bytes_.z)
    out[0, i], out[1, i], out[2, i], out[3, i] = bytes_.x, bytes_.y, bytes_.z, bytes_.w
    out[4, i], out[5, i] = words.x, words.y
    out[6, i], out[7, i], out[8, i] = whole.x, whole.y, whole.z
    out[9, i], out[10, i], out[11, i], out[12, i] = longs.x, longs.y, longs.z, longs.w


def expect_integer_arithmetic(x, out):
    b = np.stack([x, x + 1, np.full_like(x, 200), np.full_like(x, 7)]).astype(np.uint8)
    b = b * b + b
    w = np.stack([x, -x]).astype(np.int16) * np.int16(1000)
    k = np.stack([x - 3 * w[0].astype(np.int32), 1 - 3 * w[1].astype(np.int32), np.full_like(x, -7)])
    longs = [x + 1, w[1].astype(np.int64) + 2, k[2] + 3, 1 + b[2].astype(np.int64)]
    return {1: np.stack([*b, *w, *k, *longs]).astype(np.int64)}


def half_pairs(x, out):
    i = gpu.grid(1)
    a = half4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3])
    b = half2(a.x, a.w)
    c = gpu.fma(a, a, a) * a + a
    d = gpu.fma(b, b, -b) / b
    out[0, i], out[1, i], out[2, i], out[3, i] = c.x, c.y, c.z, c.w
    out[4, i], out[5, i] = d.x, d.y


def expect_half_pairs(x, out):
    a = x.reshape(-1, 4).T
    b = a[[0, 3]]
    c = (a.astype(np.float64) ** 2 + a).astype(np.float16) * a + a
    d = (b.astype(np.float64) ** 2 - b).astype(np.float16) / b
    return {1: np.concatenate([c, d])}


def choices(x, out):
    """A vector that a branch chooses, one that a loop changes, and some in a tuple."""
    i = gpu.grid(1)
    v = float2(x[i], 1)
    if x[i] > 0:
        v = float2(v.y, v.x)
    total = float2(0, 0)
    for k in range(i % 5):
        total = total + v * float32(k)
    for w in (v, total, v):
        total += w
    out[0, i] = total.x
    out[1, i] = total.y


def expect_choices(x, out):
    v = np.where(x > 0, [np.ones_like(x), x], [x, np.ones_like(x)]).astype(np.float32)
    sums = np.array([sum(range(k)) for k in np.arange(N) % 5], np.float32)
    return {1: (2 * (v * sums) + 2 * v).astype(np.float32)}


def in_arrays(x, out):
    i = gpu.grid(1)
    tile = gpu.shared.array(N, float4)
    own = gpu.local.array(3, int3)
    tile[i] = float4(x[i], i, x[i] + float32(1), -x[i])
    for k in range(3):
        own[k] = int3(i, k, i * k)
    gpu.syncthreads()
    other = tile[N - 1 - i]
    out[0, i], out[1, i], out[2, i], out[3, i] = other.x, other.y, other.z, other.w
    out[4, i] = own[i % 3].z


def expect_in_arrays(x, out):
    i = np.arange(N)
    rows = [x[::-1], i[::-1], (x + np.float32(1))[::-1], -x[::-1], i * (i % 3)]
    return {1: np.stack(rows).astype(np.float32)}


def views(x, pairs, out):
    """Numbers of global and shared memory in groups."""
    i = gpu.grid(1)
    tile = gpu.shared.array((4, N), int32)
    groups, results = x.view(float4), out.view(float4)
    if i < groups.shape[0]:
        v = groups[i]
        results[i] = float4(v.w, v.z, v.y, v.x)
    twos = pairs.view(uint2)
    if i < twos.shape[0]:
        own = twos[i, 1]
        twos[i, 0] = uint2(own.y, own.x) + own
    rows = tile.view(int2)
    rows[i % 4, i // 4] = int2(i, i)


def expect_views(x, pairs, out):
    changed = pairs.copy()
    changed[:, :2] = pairs[:, :1:-1] + pairs[:, 2:]
    return {1: changed, 2: x.reshape(-1, 4)[:, ::-1].ravel()}


def wide(x, out):
    i = gpu.grid(1)
    v = double3(x[i], 1.0, -x[i]) * 2.0 + 0.25
    tile = gpu.shared.array(N, double3)
    tile[i] = v / v
    gpu.syncthreads()
    out[0, i], out[1, i], out[2, i], out[3, i] = v.x, v.y, v.z, tile[N - 1 - i].x


def expect_wide(x, out):
    rows = [x * 2 + 0.25, np.full_like(x, 2.25), -x * 2 + 0.25, np.ones_like(x)]
    return {1: np.stack(rows)}


def _of_each_class(classes):
    """A kernel for each number of components of one base, since a class is a constant of a kernel."""

    one, two, three, four = classes

    def kernel(out):
        a = one(3)
        b = two(a, 5)
        c = three(b.y, b)
        d = four(c, a.x)
        out[0], out[1], out[2], out[3] = a.x, b.y, c.x + c.z, d.x + d.w

    kernel.__name__ = f"made_{classes[0].base.name}"
    return kernel


def _class_cases():
    for start in range(0, len(VECTOR_CLASSES), 4):
        classes = VECTOR_CLASSES[start : start + 4]
        base = classes[0].base
        yield Case(
            _of_each_class(classes),
            lambda rng, dtype=base.dtype: (np.zeros(4, dtype),),
            lambda out: {0: np.array([3, 5, 10, 8])},
            block=1,
            needs=frozenset({"float64"}) if base.name == "float64" else frozenset(),
            name=f"vectors_of_{base.name}",
        )


def normal(rng, n=N, dtype=np.float32):
    return rng.normal(size=n).astype(dtype)


WHOLE = "the PTX machine joins products and sums of floats, as CUDA does: one rounding less"
CASES = [
    Case(constructors, lambda rng: (normal(rng) * np.float32(9), np.zeros(12, np.float32)), expect_constructors,
         block=1, name="vector_constructors"),
    Case(float_arithmetic, lambda rng: (normal(rng), np.zeros((3, N), np.float32)), expect_float_arithmetic, block=N,
         rtol=1e-5, atol=1e-5, tolerance=WHOLE, name="vector_float_arithmetic"),
    Case(products, lambda rng: (rng.integers(-9, 9, 4 * N).astype(np.float32), np.zeros((8, N), np.float32)),
         expect_products, block=N, name="vector_products"),
    Case(integer_arithmetic, lambda rng: (rng.integers(0, 250, N, np.int32), np.zeros((13, N), np.int64)),
         expect_integer_arithmetic, block=N, name="vector_integer_arithmetic"),
    Case(half_pairs, lambda rng: (normal(rng, 4 * N, np.float16), np.zeros((6, N), np.float16)), expect_half_pairs,
         block=N, name="vector_half_pairs"),
    Case(choices, lambda rng: (rng.integers(-9, 9, N).astype(np.float32), np.zeros((2, N), np.float32)), expect_choices,
         block=N, name="vector_choices"),
    Case(in_arrays, lambda rng: (normal(rng), np.zeros((5, N), np.float32)), expect_in_arrays, block=N,
         name="vectors_in_arrays"),
    Case(views, lambda rng: (normal(rng), rng.integers(0, 2**32, (9, 4), np.uint32), np.zeros(N, np.float32)),
         expect_views, block=N, name="vector_views"),
    Case(wide, lambda rng: (rng.integers(1, 9, N).astype(np.float64), np.zeros((4, N))), expect_wide, block=N,
         needs=frozenset({"float64"}), name="vectors_wide"),
    *_class_cases(),
]  # fmt: skip
