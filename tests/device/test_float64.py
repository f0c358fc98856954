"""Programs with float64 where a target has none: refused whole, or computed in float32. On the CPU device and on Metal.

Expected numbers are NumPy's in float32; what a kernel leaves alone must keep its float64 digits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import numba_metal
from numba_gpucore.base.errors import OptionError, UnsupportedKernelError
from numba_gpucore.launch import session
from tests.levels import opened_level

THIRD = np.float64(1 / 3)
TABLE = np.array([0.1, 0.2, 0.3])
RECORD = np.dtype([("mass", np.float64), ("count", np.int32), ("position", np.float64, (2,))])


@pytest.fixture(params=["metal on cpu", "metal double"], autouse=True)
def _device(request: pytest.FixtureRequest) -> Iterator[None]:
    with opened_level(request.param):
        yield


@numba_metal.jit(device=True)
def widened(number):
    return np.float64(number)


def many_doubles(x, scale, out):
    i = numba_metal.grid(1)
    product = x[i] * scale
    total = product + THIRD
    local = numba_metal.local.array(2, np.float64)
    local[0] = widened(i)
    out[i] = total + local[0] * TABLE[1]


def arguments():
    return np.linspace(0, 1, 32), np.float64(0.7), np.zeros(32)


def narrow_result(x, scale, _out):
    x, scale, third, entry = (np.float32(value) for value in (x, scale, THIRD, TABLE[1]))
    return (x * scale + third) + np.arange(32, dtype=np.float32) * entry


def test_every_place_is_told_at_once() -> None:
    with pytest.raises(UnsupportedKernelError) as caught:
        numba_metal.jit(many_doubles)[1, 32](*arguments())
    first, helper = many_doubles.__code__.co_firstlineno, widened.py_func.__code__.co_firstlineno
    told = {(fault.line, fault.what) for fault in caught.value.faults}
    assert told == {
        (helper + 2, "float64: an expression"),
        (first, "float64: the argument 'x', array(float64, 1d, C)"),
        (first, "float64: the argument 'scale', float64"),
        (first, "float64: the argument 'out', array(float64, 1d, C)"),
        (first + 2, "float64: 'product'"),
        (first + 3, "float64: 'THIRD' and 'total'"),
        (first + 4, "float64: 'local'"),
        (first + 5, "float64: an expression"),
        (first + 6, "float64: 'TABLE'"),
    }
    assert {fault.filename for fault in caught.value.faults} == {__file__}
    assert "float64='float32'" in str(caught.value) and "NUMBA_METAL_FLOAT64" in str(caught.value)


def test_float32_option_computes_in_float32() -> None:
    """One rounding of each operation is allowed to differ: the sum may be taken in another order."""
    x, scale, out = arguments()
    before = x.copy()
    numba_metal.jit(float64="float32")(many_doubles)[1, 32](x, scale, out)
    np.testing.assert_allclose(out, narrow_result(x, scale, out), rtol=2**-22)
    np.testing.assert_array_equal(x, before)


def test_variable_sets_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_METAL_FLOAT64", "float32")
    monkeypatch.setattr(session, "_default", session.Session())
    x, scale, out = arguments()
    numba_metal.jit(many_doubles)[1, 32](x, scale, out)
    np.testing.assert_allclose(out, narrow_result(x, scale, out), rtol=2**-22)
    with pytest.raises(UnsupportedKernelError):
        numba_metal.jit(float64="error")(many_doubles)[1, 32](x, scale, out)


def test_wrong_choices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="float64 must be 'error' or 'float32', not 'float16'"):
        numba_metal.jit(float64="float16")(many_doubles)
    monkeypatch.setenv("NUMBA_METAL_FLOAT64", "double")
    with pytest.raises(OptionError, match="NUMBA_METAL_FLOAT64 must be error or float32, not 'double'"):
        session.Session()


@numba_metal.jit(float64="float32")
def double_the_odd(x):
    i, j = numba_metal.grid(2)
    if i < x.shape[0] and j < x.shape[1] and (i + j) % 2 == 1:
        x[i, j] = 2 * x[i, j]


LAYOUTS = {
    "C": lambda: np.linspace(0, 1, 35).reshape(5, 7),
    "F": lambda: np.asfortranarray(np.linspace(0, 1, 35).reshape(5, 7)),
    "strided": lambda: np.linspace(0, 1, 140).reshape(10, 14)[::2, ::-2],
    "transposed": lambda: np.linspace(0, 1, 35).reshape(7, 5).T,
    "complex": lambda: np.linspace(0, 1, 35).reshape(5, 7) * (1 + 0.3j),
}


def odd_doubled(x):
    odd = np.add.outer(np.arange(5), np.arange(7)) % 2 == 1
    narrow = x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)
    return np.where(odd, 2 * narrow, x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_are_converted_there_and_back(layout: str) -> None:
    """Doubling is exact, so changed items are exactly the doubled float32 numbers; the others keep their digits."""
    x = LAYOUTS[layout]()
    wanted = odd_doubled(x)
    double_the_odd[1, (8, 8)](x)
    np.testing.assert_array_equal(x, wanted)
    assert x.dtype in (np.float64, np.complex128)


def test_device_arrays_are_converted_there_and_back() -> None:
    x = LAYOUTS["C"]()
    on_device = numba_metal.to_device(x)
    double_the_odd[1, (8, 8)](on_device)
    np.testing.assert_array_equal(on_device.copy_to_host(), odd_doubled(x))


def test_in_and_out_wrappers() -> None:
    x = LAYOUTS["C"]()
    before = x.copy()
    double_the_odd[1, (8, 8)](numba_metal.In(x))
    np.testing.assert_array_equal(x, before)
    double_the_odd[1, (8, 8)](numba_metal.InOut(x))
    np.testing.assert_array_equal(x, odd_doubled(before))


def test_one_array_for_two_parameters() -> None:
    """Both parameters must see one memory, as with arrays that need no conversion."""

    @numba_metal.jit(float64="float32")
    def shift(source, target):
        target[0] = source[1] + 1

    x = np.array([0.1, 0.5])
    shift[1, 1](x, x)
    np.testing.assert_array_equal(x, [1.5, 0.5])


def test_records_tuples_and_scalars() -> None:
    @numba_metal.jit(float64="float32")
    def fall(bodies, one, pair, z):
        i = numba_metal.grid(1)
        bodies[i].mass = bodies[i].mass + pair[0] * one.mass
        bodies[i].position[1] = z.imag + pair[1][0]
        if i == 0:
            one.count = 5

    bodies = np.zeros(4, RECORD)
    bodies["mass"], bodies["position"] = 0.1, 0.25
    one = np.zeros(1, RECORD)[0]
    one["mass"] = 0.5
    fall[1, 4](bodies, one, (np.float64(0.25), np.array([0.5])), np.complex128(1 + 2j))
    np.testing.assert_array_equal(bodies["mass"], np.float32(0.1) + np.float32(0.125))
    np.testing.assert_array_equal(bodies["position"], [[0.25, 2.5]] * 4)
    assert one["count"] == 5


def test_numbers_beyond_float32_become_infinite() -> None:
    """As NumPy's astype has it. Twice infinity is the same number again: that item keeps its digits."""
    x = np.array([[1.0, 3e38], [1e300, 2.0]])
    double_the_odd[1, (8, 8)](x)
    np.testing.assert_array_equal(x, [[1.0, np.inf], [1e300, 2.0]])


def test_views_of_bits_as_float64_are_refused() -> None:
    """Read as float32, they would be other numbers."""

    @numba_metal.jit(float64="float32")
    def read_bits(x, out):
        out[0] = x.view(np.float64)[0]

    line = read_bits.py_func.__code__.co_firstlineno + 2
    with pytest.raises(UnsupportedKernelError, match=f":{line}: float64: a view of other numbers as float64"):
        read_bits[1, 1](np.zeros(2, np.int64), np.zeros(1))


def test_atomics_on_64_bit_integers_are_refused() -> None:
    @numba_metal.jit
    def count(x):
        numba_metal.atomic.add(x, 0, 1)

    line = count.py_func.__code__.co_firstlineno + 2
    with pytest.raises(UnsupportedKernelError, match=f":{line}: an atomic operation on 64-bit integers — use 32-bit"):
        count[1, 1](np.zeros(1, np.int64))
