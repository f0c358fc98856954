"""vectorize, guvectorize and reduce on every level. NumPy says what must come out.

float32, and arithmetic that float32 does exactly or rounds once, so that results are equal on all levels.
"""

from __future__ import annotations

import numpy as np
import pytest

BLOCK = 128


@pytest.fixture(scope="module")
def gpu(level):
    return level


@pytest.fixture(scope="module")
def subtract(gpu):
    @gpu.vectorize(["int32(int32, int32)", "float32(float32, float32)"])
    def subtract(a, b):
        return a - b

    return subtract


def floats(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 97).astype(np.float32).reshape(shape)


CUBE = floats(3, 4, 5)
OPERANDS = {
    "one axis": (floats(300), floats(300)),
    "three axes": (CUBE, CUBE[::-1]),
    "a row and a column": (floats(1, 7), floats(9, 1)),
    "missing axes": (CUBE, floats(5)),
    "Fortran order": (np.asfortranarray(CUBE), np.asfortranarray(CUBE)),
    "transposed": (CUBE.T, CUBE.transpose(2, 1, 0)),
    "mixed orders": (np.asfortranarray(CUBE), CUBE),
    "steps": (CUBE[:, ::2, ::-1], CUBE[:, 1::2, :]),
    "without axes": (np.array(3, np.float32), np.array(5, np.float32)),
    "empty": (floats(0, 3), floats(3)),
    "a number": (CUBE, 2.5),
    "a NumPy number": (np.float32(7), CUBE),
    "lists": ([1, 2, 3], np.array([[4], [5]], np.int32)),
}


@pytest.mark.parametrize("operands", OPERANDS.values(), ids=OPERANDS)
def test_broadcasting(operands, subtract) -> None:
    if isinstance(operands[0], list):
        operands = (np.array(operands[0], np.int32), operands[1])
    want, got = np.subtract(*operands), subtract(*operands)
    np.testing.assert_array_equal(got, want, strict=True)
    assert got.strides == want.strides or not want.size, "memory order is NumPy's"


def test_types_choose_the_signature(subtract) -> None:
    """Equal types, then numbers within their kind, then safe conversions, of which int16 to int32 is the first."""
    ints = np.arange(5, dtype=np.int32)
    assert subtract(ints, ints).dtype == np.int32
    assert subtract(ints, 2).dtype == np.int32
    assert subtract(floats(5), 2).dtype == np.float32
    small = np.arange(5, dtype=np.int16)
    np.testing.assert_array_equal(subtract(small, ints), np.zeros(5, np.int32), strict=True)
    np.testing.assert_array_equal(subtract(small, floats(5)), np.zeros(5, np.float32), strict=True)
    with pytest.raises(TypeError, match=r"No matching version of ufunc 'subtract' for \(int64, int64\)"):
        subtract(np.arange(3), np.arange(3))


def test_device_arrays_give_device_arrays(gpu, subtract) -> None:
    on_device = gpu.to_device(CUBE)
    result = subtract(on_device, CUBE[0])
    assert gpu.is_cuda_array(result)
    np.testing.assert_array_equal(result.copy_to_host(), CUBE - CUBE[0])
    part = subtract(on_device[:, ::2], on_device[:, 1::2])
    np.testing.assert_array_equal(part.copy_to_host(), CUBE[:, ::2] - CUBE[:, 1::2])


def test_out(gpu, subtract) -> None:
    room = np.full((3, 4, 5), -1, np.float32)
    assert subtract(CUBE, 1, out=room) is room
    np.testing.assert_array_equal(room, CUBE - 1)
    strided = np.full((6, 4, 5), -1, np.float32)
    subtract(CUBE, CUBE[0], out=strided[::2])
    np.testing.assert_array_equal(strided[::2], CUBE - CUBE[0])
    assert (strided[1::2] == -1).all()
    on_device = gpu.to_device(CUBE)
    assert subtract(on_device, on_device, out=on_device) is on_device
    assert not on_device.copy_to_host().any()
    wide = np.zeros((2, 3), np.float32)
    np.testing.assert_array_equal(subtract(floats(3), 0, wide), np.broadcast_to(floats(3), (2, 3)))


def test_out_that_overlaps_the_inputs(gpu, subtract) -> None:
    """As if the inputs had been copied before: no thread may read what another has written."""
    square = floats(60, 60)
    want = square - square.T
    subtract(square, square.T, out=square)
    np.testing.assert_array_equal(square, want)
    on_device = gpu.to_device(floats(500))
    subtract(on_device[1:], on_device[:-1], out=on_device[1:])
    np.testing.assert_array_equal(on_device.copy_to_host()[1:], np.diff(floats(500)))


def test_read_only_and_unaligned_inputs(subtract) -> None:
    constant = floats(40)
    constant.flags.writeable = False
    bytes_ = np.zeros(40 * 4 + 1, np.uint8)
    unaligned = bytes_[1:].view(np.float32)
    unaligned[...] = floats(40)
    assert not unaligned.flags.aligned
    np.testing.assert_array_equal(subtract(constant, unaligned), np.zeros(40, np.float32))


def test_stream(gpu, subtract) -> None:
    stream = gpu.stream()
    host = CUBE.copy()
    result = subtract(gpu.to_device(CUBE, stream), host, stream=stream)
    host[...] = -1  # the call took a copy
    got = result.copy_to_host(stream=stream)
    stream.synchronize()
    assert not got.any()
    np.testing.assert_array_equal(subtract(CUBE, 1, stream=stream), CUBE - 1)


@pytest.fixture(scope="module")
def add(gpu):
    @gpu.vectorize(["int32(int32, int32)"])
    def add(a, b):
        return a + b

    return add


@pytest.mark.parametrize("count", [1, 2, BLOCK + 1, 5000])
def test_reduce_method(count: int, gpu, add) -> None:
    values = np.arange(count, dtype=np.int32)
    total = add.reduce(values)
    assert (total, total.dtype) == (values.sum(), np.int32)
    stream = gpu.stream()
    assert add.reduce(gpu.to_device(values, stream), stream=stream) == values.sum()
    with pytest.raises(TypeError, match="empty array"):
        add.reduce(values[:0])


def test_without_signatures(gpu) -> None:
    @gpu.vectorize
    def twice(x):
        return x + x

    np.testing.assert_array_equal(twice(np.arange(5, dtype=np.int64)), 2 * np.arange(5), strict=True)
    assert twice(floats(5)).dtype == np.float32
    np.testing.assert_array_equal(twice(floats(5)), 2 * floats(5))


def test_core_function_calls_device_functions(gpu) -> None:
    @gpu.jit(device=True)
    def square(x):
        return x * x

    @gpu.vectorize(["float32(float32)"], fastmath=True)
    def fourth(x):
        return square(square(x))

    np.testing.assert_array_equal(fourth(floats(9)), floats(9) ** 4)


def test_float64_as_float32(gpu) -> None:
    """Where a target has no float64, arrays of it are converted if the program says so. Small integers are exact."""

    @gpu.vectorize(["float64(float64, float64)"], float64="float32" if gpu.target == "metal" else None)
    def add(a, b):
        return a + b

    x = np.arange(-5.0, 5.0)
    np.testing.assert_array_equal(add(x, x[::-1]), x + x[::-1], strict=True)
    np.testing.assert_array_equal(add(gpu.to_device(x), 1).copy_to_host(), x + 1, strict=True)
    assert add.reduce(x) == x.sum()


# Generalized ufuncs -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def multiply(gpu):
    @gpu.guvectorize(["void(float32[:,:], float32[:,:], float32[:,:])"], "(m,n),(n,p)->(m,p)")
    def multiply(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = 0
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    return multiply


@pytest.mark.parametrize(("loop_a", "loop_b"), [((), ()), ((6,), (6,)), ((3,), ()), ((2, 1), (3,)), ((0,), ())])
def test_matrix_products(loop_a, loop_b, gpu, multiply) -> None:
    """Small integers: sums are exact in float32."""
    a, b = floats(*loop_a, 2, 3) % 8, floats(*loop_b, 3, 4) % 8
    want = a @ b
    np.testing.assert_array_equal(multiply(a, b), want, strict=True)
    on_device = multiply(gpu.to_device(a), b)
    np.testing.assert_array_equal(on_device.copy_to_host(), want, strict=True)
    room = np.empty_like(want)
    assert multiply(a, b, room) is room
    np.testing.assert_array_equal(room, want)


def test_strided_parts(multiply) -> None:
    a, b = (floats(4, 6, 5) % 8)[:, ::2, ::-1], np.asfortranarray(floats(4, 5, 3) % 8)
    np.testing.assert_array_equal(multiply(a, b), a @ b)


def test_numbers_and_several_outputs(gpu) -> None:
    @gpu.guvectorize(["void(int32[:], int32, int32[:], float32[:])"], "(n),()->(n),()")
    def scale(x, factor, scaled, total):
        total[0] = 0
        for i in range(x.shape[0]):
            scaled[i] = x[i] * factor
            total[0] += scaled[i]

    x = np.arange(12, dtype=np.int32).reshape(4, 3)
    for factor in (np.int32(3), 3, np.array([1, 2, 3, 4], np.int32)):
        scaled, total = scale(x, factor)
        want = x * np.reshape(factor, (-1, 1))
        np.testing.assert_array_equal(scaled, want)
        np.testing.assert_array_equal(total, want.sum(axis=1).astype(np.float32), strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.complex64])
def test_gufunc_without_signatures(gpu, dtype) -> None:
    """One version for each combination of types of inputs and outputs; a number is of the type that it has."""

    @gpu.guvectorize("(n),()->(n),()")
    def scale(x, factor, scaled, total):
        total[0] = 0
        for i in range(x.shape[0]):
            scaled[i] = x[i] * factor
            total[0] += scaled[i]

    x = np.arange(12).reshape(4, 3).astype(dtype)
    room, total = np.zeros_like(x), np.zeros(4, np.complex64)
    assert scale(x, 3, room, total)[0] is room
    np.testing.assert_array_equal(room, 3 * x)
    np.testing.assert_array_equal(total, 3 * x.sum(axis=1))
    rooms = gpu.to_device(np.zeros_like(x)), gpu.to_device(np.zeros(4, np.complex64))
    scale(gpu.to_device(x), np.array([1, 2, 3, 4], dtype), out=rooms)
    np.testing.assert_array_equal(rooms[0].copy_to_host(), x * np.array([[1], [2], [3], [4]], dtype))
    char = np.dtype(dtype).char
    assert scale.types == [f"{char}l->{char}F", f"{char}{char}->{char}F"]
    with pytest.raises(
        TypeError, match=r"the types of its outputs decide too, so give them, as scale\(x, factor, scaled,"
    ):
        scale(x, 3)


def test_pythons_numbers_without_signatures(gpu) -> None:
    """Where literals are weak, floats take the type of the other arguments; for numba.cuda they are float64."""

    @gpu.vectorize
    def multiply(x, y):
        return x * y

    @gpu.guvectorize("(n),()->(n)")
    def scale(x, factor, out):
        for i in range(x.size):
            out[i] = x[i] * factor

    is_weak = gpu.target == "metal"
    for x, weak in ((floats(4).astype(np.int32), np.float32), (floats(4).astype(np.float16), np.float16)):
        result = multiply(x, 2.5)
        assert result.dtype == (weak if is_weak else np.float64)
        np.testing.assert_array_equal(result, x.astype(result.dtype) * 2.5)
        np.testing.assert_array_equal(scale(x, 2.5, np.zeros(4, result.dtype)), result)
    assert multiply(floats(4), 1j).dtype == (np.complex64 if is_weak else np.complex128)


def test_a_number_where_the_function_takes_an_array(gpu) -> None:
    @gpu.guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)")
    def add(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y[0]

    x = np.arange(6, dtype=np.int32)
    np.testing.assert_array_equal(add(x, 5), x + 5)
    np.testing.assert_array_equal(add(x.reshape(2, 3), np.array([10, 20], np.int32)), [[10, 11, 12], [23, 24, 25]])


def test_gufunc_faults(gpu, multiply) -> None:
    with pytest.raises(ValueError, match=r"arg #2: shape\[0\] mismatch argument: n is 3, got 4"):
        multiply(floats(2, 3), floats(4, 2))
    with pytest.raises(ValueError, match="arg #1: insufficient inner dimension"):
        multiply(floats(3), floats(3, 2))
    with pytest.raises(ValueError, match="output shape mismatch"):
        multiply(floats(2, 3), floats(3, 2), out=floats(2, 3))
    with pytest.raises(TypeError, match=r"does not support \.astype\(\)"):
        multiply(gpu.to_device(floats(2, 3).astype(np.float16)), floats(3, 2))
    with pytest.raises(TypeError, match="Got 1 positional argument"):
        multiply(floats(2, 3))


# Reductions ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def total(gpu):
    @gpu.reduce
    def total(a, b):
        return a + b

    return total


@pytest.mark.parametrize("count", [0, 1, 31, BLOCK, BLOCK + 1, 8 * BLOCK + 1, 4000])
def test_reduce(count: int, gpu, total) -> None:
    values = np.arange(count, dtype=np.int32) % 1000 - 300
    assert total(values) == values.sum()
    assert total(values, init=7) == values.sum() + 7
    assert total(gpu.to_device(values), size=count // 2) == values[: count // 2].sum()
    assert total(values[::-3]) == values[::-3].sum()


def test_reduce_result_stays_on_the_device(gpu, total) -> None:
    values, result = np.arange(3000, dtype=np.int32), gpu.to_device(np.full(2, -1, np.int32))
    stream = gpu.stream()
    assert total(gpu.to_device(values, stream), res=result, init=1, stream=stream) is None
    stream.synchronize()
    assert result.copy_to_host().tolist() == [values.sum() + 1, -1]
    on_host = np.zeros(2, np.int64)
    total(values, res=on_host)
    assert on_host.tolist() == [values.sum(), 0]


def test_reduce_of_other_functions(gpu) -> None:
    largest = gpu.Reduce(lambda a, b: a if a > b else b)
    values = np.random.default_rng(5).permutation(3000).astype(np.float32) - 5000
    assert largest(values, init=-np.inf) == values.max()
    with pytest.raises(TypeError, match="only 1-D arrays"):
        largest(np.zeros((2, 2), np.float32))
