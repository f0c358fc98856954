"""The good kernels against NumPy or Python integers, in four thread orders, with and without traps."""

import numpy as np
import pytest

ORDERS = [
    {"order": "forward"},
    {"order": "reversed"},
    {"order": "shuffled", "seed": 1},
    {"order": "shuffled", "seed": 2},
]


@pytest.fixture(params=ORDERS, ids=lambda order: order["order"] + str(order.get("seed", "")))
def order(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["plain", "traps"])
def load(request, load_kernel):
    return lambda prefix: load_kernel(prefix, trap_undefined=request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_saxpy(load, order, rng):
    n = 1000
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    out = load("k01").run("saxpy", 4, 256, [x, y, np.float32(2.5), np.uint32(n)], **order)
    np.testing.assert_array_equal(out[1], np.float32(2.5) * x + y)


def test_stencil_of_a_strided_view(load, order, rng):
    whole = rng.random((40, 70), np.float32)
    source = whole[1:38:2, ::3]
    view = np.array([(*source.shape, *source.strides)], "i8,i8,i8,i8")
    start = source.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    nbytes = np.frombuffer(whole.tobytes()[start:], np.uint8)
    rows, columns = source.shape
    library = load("k02")
    buffers = [nbytes, np.zeros(source.shape, np.float32), view]
    out = library.run("stencil2d", 0, (8, 8), buffers, threads=(columns, rows), **order)
    want = source.copy()
    around = source[:-2, 1:-1] + source[2:, 1:-1] + source[1:-1, :-2] + source[1:-1, 2:]
    want[1:-1, 1:-1] = np.float32(0.25) * around - source[1:-1, 1:-1]
    np.testing.assert_array_equal(out[1], want)


def test_reduce(load, order, rng):
    """Multiples of 1/8 below 2**20 add without rounding in float32."""
    n, groups = 5000, 20
    x = rng.integers(0, 64, n).astype(np.float32) / 8
    out = load("k03").run("reduce", groups, 256, [x, np.zeros(groups, np.float32), np.uint32(n)], **order)
    padded = np.zeros(groups * 256, np.float32)
    padded[:n] = x
    np.testing.assert_array_equal(out[1], padded.reshape(groups, 256).sum(1))


def test_matmul(load, order, rng):
    """Products of small integers are exact in float32."""
    m, n, k = 37, 50, 41
    a, b = rng.integers(-9, 9, (m, k)).astype(np.float32), rng.integers(-9, 9, (k, n)).astype(np.float32)
    buffers = [a, b, np.zeros((m, n), np.float32), np.array([m, n, k, 0], np.uint32)]
    out = load("k04").run("matmul", (4, 3), (16, 16), buffers, **order)
    np.testing.assert_array_equal(out[2], a @ b)


def test_histogram(load, order, rng):
    data = rng.integers(0, 256, 10000).astype(np.uint8)
    out = load("k05").run("histogram", 8, 128, [data, np.zeros(256, np.uint32), np.uint32(data.size)], **order)
    np.testing.assert_array_equal(out[1], np.bincount(data, minlength=256))


def test_half(load, order, rng):
    """Each operation rounds to half, as NumPy's do; functions are computed in float32 and rounded."""
    n, half = 256, np.float16
    x = rng.normal(size=n).astype(half) * half(3)
    v = rng.normal(size=(n, 4)).astype(half)
    buffers = [x, v, np.zeros(n, half), np.zeros(n, half), np.zeros((n, 4), half)]
    out = load("k06").run("half_ops", 4, 64, buffers, **order)
    b = x * half(1.5) + half(0.25)
    with np.errstate(divide="ignore", over="ignore"):  # b + 2 may be 0
        np.testing.assert_array_equal(out[2], (b - x) / (b + half(2)))

    def in_float32(function, a):
        return function(a.astype(np.float32)).astype(half)

    functions = in_float32(np.sqrt, abs(x)) + in_float32(np.exp, -abs(x)) + np.maximum(x, half(0))
    np.testing.assert_array_equal(out[3], functions + x.astype(np.int32).astype(half))
    swizzled = np.stack([v[:, 3], v[:, 2], v[:, 0], np.ones(n, half)], 1)
    np.testing.assert_array_equal(out[4], swizzled * x[:, None] + v[:, 1:2])


def control_flow(row):
    """What k07 computes for one thread, written without its one-trip loops."""
    total = state = 0
    for v in row:
        if v < 0:
            total -= 1
            continue
        j = 0
        while j < v:
            total += j
            if total > 1000:
                return -total
            j += 2 if (total & 7) == 5 else 1
        state = [1, (state + 2) ^ 4, state ^ 4, state][v & 3]
        total += state
    return total


def test_control_flow(load, order, rng):
    x = rng.integers(-5, 30, (100, 12)).astype(np.int32)
    out = load("k07").run("control", 0, 32, [x, np.zeros(100, np.int32), np.int32(12)], threads=100, **order)
    np.testing.assert_array_equal(out[1], [control_flow(row) for row in x.tolist()])


def test_pointers_in_an_argument_struct(load, order, rng):
    n = 100
    a, b = rng.random((n, 2), np.float32), rng.random(n, np.float32)
    library = load("k08")
    target, first, second = (library.place(data) for data in (np.zeros(n, np.float32), a, b))
    array = "u8,i8,i8"
    dtype = np.dtype([("dst", array), ("a", array), ("b", array), ("scale", "f4"), ("flag", "u1")], align=True)
    arrays = (target.address, n, 4), (first.address, n, 8), (second.address, n, 4)
    args = np.array([(*arrays, 3.0, 1)], dtype)
    library.run("axpby", 2, 64, [args], resident=[target, first, second], **order)
    np.testing.assert_array_equal(target.host.view(np.float32), a[:, 0] + np.float32(3) * b[::-1])


def int64_results(x, y):
    """The ten results of k09 for Python integers x, y in the range of int64."""
    m = 2**64
    ux, uy = x % m, y % m

    def wrap(v):
        return (v + 2**63) % m - 2**63

    quotient = -1 if y == 0 else (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)
    shift = uy & 63
    counts = bin(ux).count("1") * 10000 + (64 - ux.bit_length()) * 100
    counts += 64 if uy == 0 else (uy & -uy).bit_length() - 1
    return [
        wrap(x + y),
        wrap(x * y),
        (x * y) >> 64,
        wrap((ux * uy) >> 64),
        quotient,
        -1 if y == 0 else x - quotient * y,
        x >> shift,
        wrap((ux >> shift) ^ (ux << shift) % m),
        counts,
        int(np.float32(x >> 40)) + int(x <= y) + ((ux & 0xFFFFFFFF) * (uy & 0xFFFFFFFF)) % 2**32,
    ]


def test_int64(load, order, rng):
    n = 200
    a, b = rng.integers(-(2**63), 2**63 - 1, n), rng.integers(-(2**63), 2**63 - 1, n)
    b[:8] = [0, 1, -1, 63, 64, 2**62, -(2**63), 7]
    a[:3] = [5, -(2**63) + 1, 2**63 - 1]
    out = load("k09").run("int64_ops", 0, 64, [a, b, np.zeros((n, 10), np.int64)], threads=n, **order)
    assert out[2].tolist() == [int64_results(int(x), int(y)) for x, y in zip(a, b, strict=True)]


def test_compare_and_swap_loop(load, order, rng):
    """Sums of integers below 2**24 are exact in any order."""
    n = 3000
    x, where = rng.integers(0, 100, n).astype(np.float32), rng.integers(0, 7, n).astype(np.uint32)
    buffers = [x, np.zeros(7, np.float32), where, np.zeros(7, np.float32)]
    out = load("k10").run("casadd", 0, 96, buffers, threads=n, **order)
    want = np.bincount(where, x, 7)
    np.testing.assert_array_equal(out[1], want)
    np.testing.assert_array_equal(out[3], want)


def test_simdgroup_functions(load, order, rng):
    n, block = 1024, 256
    x = rng.integers(-9, 10, n).astype(np.float32)
    buffers = [x, np.zeros(n // block, np.float32), np.zeros(n, np.float32), np.zeros(n, np.uint32)]
    out = load("k11").run("simd_ops", 4, block, buffers, threadgroup_nbytes=[block // 32 * 4], **order)
    groups = x.reshape(-1, 32)
    np.testing.assert_array_equal(out[1], x.reshape(-1, block).sum(1))
    np.testing.assert_array_equal(out[2].reshape(-1, 32), groups.cumsum(1) + groups.max(1, keepdims=True))
    ballots = ((groups > 0) << np.arange(32, dtype=np.uint64)).sum(1).astype(np.uint32)
    odd_lanes = np.where(np.arange(n) & 1, 16, 0) << 8
    np.testing.assert_array_equal(out[3], np.repeat(ballots, 32) ^ odd_lanes.astype(np.uint32))


def test_structures_move_between_spaces(load, order, rng):
    n = 128
    dtype = np.dtype([("key", "i4"), ("pad", "i4", 3), ("val", "f4", 4)])
    items = np.zeros(n, dtype)
    items["key"] = rng.integers(0, 100, n)
    items["val"] = rng.random((n, 4), np.float32)
    out = load("k12").run("structs", 2, 64, [items, np.zeros(n, dtype)], **order)[1]
    thread = np.arange(n)
    chosen, other = items.copy(), items[thread ^ 1]
    is_swapped = (chosen["key"] > other["key"]) & (thread % 2 == 0)
    chosen[is_swapped] = other[is_swapped]
    column = np.array([3, 1, 0, 2], np.float32)[thread & 3]
    offsets = np.stack([np.full(n, 0.5, "f4"), np.full(n, 1, "f4"), np.full(n, 2, "f4"), column], 1)
    np.testing.assert_array_equal(out["key"], chosen["key"][thread ^ 2])
    np.testing.assert_array_equal(out["val"], (chosen["val"][:, ::-1] + offsets)[thread ^ 2])
