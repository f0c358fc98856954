"""The parts of ufuncs that need no device: layouts, loops, signatures, options, and Numba's own decorators."""

from __future__ import annotations

import pickle
import subprocess
from collections.abc import Callable

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.base.errors import OptionError
from numba_gpucore.ufuncs.core_layout import CoreLayout
from numba_gpucore.ufuncs.declared import choose_signature
from numba_gpucore.ufuncs.loops import Loop, memory_order, merge_axes
from numba_gpucore.warm.compile_modules import kernels_of

Runner = Callable[..., subprocess.CompletedProcess[str]]


@numba_ptxplus.vectorize(["int32(int32)"])
def negate(x):
    return -x


@pytest.mark.parametrize(
    ("text", "inputs", "outputs"),
    [
        ("(m,n),(n,p)->(m,p)", (("m", "n"), ("n", "p")), (("m", "p"),)),
        (" ( x ) -> () , (x) ", (("x",),), ((), ("x",))),
        ("(),()->()", ((), ()), ((),)),
    ],
)
def test_layouts(text, inputs, outputs) -> None:
    layout = CoreLayout.parse(text)
    assert (layout.inputs, layout.outputs) == (inputs, outputs)
    assert CoreLayout.parse(str(layout)) == layout


@pytest.mark.parametrize("text", ["", "(n)", "n->n", "(n)->", "(n)->(n", "(n)(m)->(n)", "(3)->()", "(n)->(n)->(n)"])
def test_bad_layouts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="layout"):
        CoreLayout.parse(text)


def test_undefined_output_axes_are_refused() -> None:
    with pytest.raises(NameError, match="undefined output symbols: p"):
        CoreLayout.parse("(m)->(m,p)")


@pytest.mark.parametrize(
    ("shapes", "loops", "outputs"),
    [
        ([(2, 3), (3, 4)], [(), ()], [(2, 4)]),
        ([(5, 2, 3), (7, 5, 3, 4)], [(5,), (7, 5)], [(2, 4)]),
        ([(0, 3), (3, 0)], [(), ()], [(0, 0)]),
    ],
)
def test_shapes_are_split(shapes, loops, outputs) -> None:
    assert CoreLayout.parse("(m,n),(n,p)->(m,p)").split_shapes(shapes) == (loops, outputs)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(2,), (3, 4)], r"arg #1: insufficient inner dimension: shape \(2,\) for \(m,n\)"),
        ([(2, 3), ()], r"arg #2: insufficient inner dimension: shape \(\) for \(n,p\)"),
        ([(2, 3), (9, 4, 5)], r"arg #2: shape\[1\] mismatch argument: n is 3, got 4"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shapes, message) -> None:
    """With NumPy's axes: those that are looped over count."""
    with pytest.raises(ValueError, match=message):
        CoreLayout.parse("(m,n),(n,p)->(m,p)").split_shapes(shapes)


def test_dense_arrays_are_walked_as_one_axis() -> None:
    """Strides of a C and of an F array of shape (3, 4), 4 bytes an element."""
    assert merge_axes((3, 4), [(16, 4), (16, 4)], (0, 1)) == Loop((12,), ((4,), (4,)))
    order = memory_order((3, 4), [(4, 12)])
    assert order == (1, 0)
    assert merge_axes((3, 4), [(4, 12)], order) == Loop((12,), ((4,),))


def test_repeated_operands_keep_their_axes() -> None:
    assert merge_axes((3, 4), [(16, 4), (0, 4)], (0, 1)) == Loop((3, 4), ((16, 4), (0, 4)))
    assert merge_axes((2, 3, 4), [(48, 16, 4), (0, 0, 4)], (0, 1, 2)) == Loop((6, 4), ((16, 4), (0, 4)))
    assert merge_axes((1, 1), [(4, 4)], (0, 1)) == Loop((1,), ((0,),))


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        ((np.zeros(2, np.float32), np.zeros(2, np.float32)), "f"),
        ((np.zeros(2, np.float32), 1), "f"),
        ((np.zeros(2, np.int32), 1), "i"),
        ((np.zeros(2, np.int32), 1.5), "d"),  # not a whole number for int32
        ((1, 2), "d"),  # int64 to float64 is NumPy's safe conversion; int32 would lose digits
        ((1.5, 2.5), "d"),
        ((np.zeros(2, np.int16), np.zeros(2, np.float32)), "f"),
    ],
)
def test_choice_of_signatures(arguments, chosen: str) -> None:
    declared = [(np.dtype(char),) * 2 for char in "ifd"]
    assert choose_signature("f", declared, arguments) == (np.dtype(chosen),) * 2


def test_attributes() -> None:
    assert (negate.__name__, negate.nin, negate.nout, negate.types, negate.ntypes) == ("negate", 1, 1, ["i->i"], 1)
    assert repr(negate) == "<ufunc 'negate' of numba_ptxplus>"
    assert pickle.loads(pickle.dumps(negate)) is negate


def test_local_functions_are_pickled_by_value() -> None:
    def make(offset):
        @numba_ptxplus.jit(device=True)
        def shift(x):
            return x + offset

        @numba_ptxplus.vectorize(["int64(int64)"])
        def shift_all(x):
            return shift(x)

        @numba_ptxplus.guvectorize(["void(int64[:], int64[:])"], "(n)->()")
        def shift_first(x, y):
            y[0] = shift(x[0])

        return shift_all, shift_first, numba_ptxplus.reduce(lambda a, b: a + b)

    copies = pickle.loads(pickle.dumps(make(5)))
    copies = pickle.loads(pickle.dumps(copies))  # those of copies too
    assert [one(np.arange(3)).tolist() for one in copies] == [[5, 6, 7], 5, 3]


def test_warming_finds_kernels_of_ufuncs() -> None:
    assert set(negate.kernels) <= set(kernels_of(__name__))
    assert len(negate.kernels) == 1


def test_wrong_declarations_are_told() -> None:
    def function(x):
        return x

    with pytest.raises(TypeError, match=r"'function' takes 1 arguments, signature .* has 2"):
        numba_metal.vectorize(["float32(float32, float32)"])(function)
    with pytest.raises(KeyError, match="numba_metal does not support 'other'"):
        numba_metal.vectorize(["float32(float32)"], other=1)(function)
    with pytest.raises(TypeError, match="makes ufuncs for target 'metal', not 'parallel'"):
        numba_metal.vectorize(["float32(float32)"], target="parallel")
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        numba_metal.vectorize(["float32(float32)"], target="cuda", nopython=True)(function)


def test_faults_in_a_function_are_told_at_its_lines() -> None:
    with pytest.raises(TypeError, match=r"test_ufuncs\.py:\d+: the name 'missing' is not defined"):

        @numba_metal.vectorize(["int32(int32)"])
        def function(x):
            return missing(x)  # noqa: F821

    table = np.arange(3, dtype=np.int32)

    @numba_metal.vectorize(["int32(int32)"])
    def look_up(x):
        return table[x]

    with pytest.raises(IndexError, match="index 7 is out of bounds") as caught:
        look_up(np.array([2, 7], np.int32))
    line = look_up.py_func.__code__.co_firstlineno
    assert f"(test_ufuncs.py:{line + 2}, in device function" in str(caught.value)
    assert f"called at test_ufuncs.py:{line})" in str(caught.value)


def test_kernels_cannot_call_ufuncs() -> None:
    @numba_ptxplus.jit
    def kernel(x):
        x[0] = negate(x[0])

    with pytest.raises(TypeError, match=r"Untyped global name 'negate': a ufunc .* call the function itself"):
        kernel[1, 1](np.zeros(1, np.int32))


def test_wrong_gufuncs_are_told() -> None:
    def function(x, y):
        y[0] = x[0]

    with pytest.raises(TypeError, match=r"guvectorized functions cannot return values: .* specifies int32 return type"):
        numba_metal.guvectorize(["int32(int32[:], int32[:])"], "(n)->(n)")(function)
    with pytest.raises(TypeError, match=r"argument 1 has 2 core axes in .* a 2-d array, not array\(int32, 1d"):
        numba_metal.guvectorize(["void(int32[:], int32[:])"], "(n)->(n,n)")(function)
    with pytest.raises(TypeError, match=r"argument 1 has 0 core axes in .* so its type is a 1-d array, not int32"):
        numba_metal.guvectorize(["void(int32[:], int32)"], "(n)->()")(function)
    with pytest.raises(TypeError, match=r"so its type is a number or a 1-d array, not array\(int32, 2d"):
        numba_metal.guvectorize(["void(int32[:,:], int32[:])"], "()->()")(function)
    with pytest.raises(TypeError, match="The following target options are not supported: 'other'"):
        numba_metal.guvectorize(["void(int32[:], int32[:])"], "(n)->(n)", other=1)(function)
    with pytest.raises(TypeError, match="nopython flag must be True"):
        numba_metal.guvectorize(["void(int32[:], int32[:])"], "(n)->(n)", nopython=False)(function)
    with pytest.raises(TypeError, match="at least one signature"):
        numba_metal.guvectorize([], "(n)->(n)")(function)
    with pytest.raises(TypeError, match="takes a layout, or signatures and a layout, not 3 arguments"):
        numba_metal.guvectorize([], "(n)->(n)", "metal")
    with pytest.raises(TypeError, match=r"the layout of a gufunc is a text .*, not \['void"):
        numba_metal.guvectorize(["void(int32[:], int32[:])"])
    with pytest.raises(TypeError, match="writable_args are not supported"):
        numba_metal.guvectorize(["void(int32[:], int32[:])"], "(n)->(n)", writable_args=(0,))(function)


NUMBA_DECORATORS = """
import numpy as np
{setup}
from numba import float32, guvectorize, vectorize

@vectorize([float32(float32, float32), "int32(int32, int32)"], target="{target}")
def add(a, b):
    return a + b

@guvectorize([(float32[:], float32[:])], "(n)->()", target="{target}")
def first(a, b):
    b[0] = a[0]

@guvectorize("(n)->()", target="{target}")
def last(a, b):
    b[0] = a[a.size - 1]

import numba_metal, numba_ptxplus        # which register once more
vectorize([float32(float32)], target="{target}")(lambda x: x)
x = np.arange(6, dtype=np.float32).reshape(2, 3)
print(add(x, 1).tolist(), first(x).tolist(), last(x, np.zeros(2, np.float32)).tolist(), add)
"""


@pytest.mark.parametrize(
    ("target", "setup", "package"),
    [
        ("metal", "import numba_metal", "numba_metal"),
        ("ptxplus", "import numba, numba_ptxplus", "numba_ptxplus"),
        ("cuda", "import numba_metal; numba_metal.install_as_cuda()", "numba_metal"),
        ("cuda", "import numba.np.ufunc, numba_ptxplus; numba_ptxplus.install_as_cuda()", "numba_ptxplus"),
    ],
)
def test_numbas_own_decorators(target: str, setup: str, package: str, run_python: Runner) -> None:
    program = NUMBA_DECORATORS.format(target=target, setup=setup)
    output = run_python("-c", program, NUMBA_METAL_DEVICE="cpu", NUMBA_PTXPLUS_DEVICE="cpu").stdout
    assert output == f"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] [0.0, 3.0] [2.0, 5.0] <ufunc 'add' of {package}>\n"


SWAPPED = np.dtype(np.float32).newbyteorder()


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (2, "results are written to arrays, not to 2"),
        ([0.0], r"results are written to arrays, not to \[0\.0\]"),
        (np.zeros(1, SWAPPED), "results cannot be written to an array of [<>]f4, whose bytes are in another order"),
    ],
    ids=["number", "list", "other order of bytes"],
)
def test_results_are_not_written_in_vain(out, message: str) -> None:
    def add(a, b):
        return a + b

    x = np.ones(1, np.float32)
    with pytest.raises(TypeError, match=message):
        numba_metal.vectorize(["float32(float32, float32)"])(add)(x, x, out=out)
    with pytest.raises(TypeError, match=message):
        numba_metal.reduce(add)(x, res=out)


def test_vectorize_takes_functions_and_signatures() -> None:
    with pytest.raises(OptionError, match="vectorize takes a function, a signature or a list of them, not 3"):
        numba_metal.vectorize(3)
