"""Exceptions lead back to the user's lines: the message names the chain of calls, the traceback ends in the source."""

import os
import traceback

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.base.errors import UnsupportedKernelError

HERE = os.path.basename(__file__)


@pytest.fixture(params=[numba_metal, numba_ptxplus], ids=["metal", "ptxplus"])
def gpu(request):
    return request.param


def line_of(function, text):
    """The line number of the first source line of `function` that contains `text`."""
    code = function.__code__
    with open(__file__) as file:
        lines = file.read().splitlines()
    return next(n for n in range(code.co_firstlineno, len(lines) + 1) if text in lines[n - 1])


def load(x, i):
    return x[i + 10]


def middle(x, i):
    return load(x, i) + 1


def fails(kernel, *args):
    with pytest.raises((IndexError, ValueError)) as caught:
        kernel[1, 1](*args)
    frames = [
        (os.path.basename(f.filename), f.lineno, f.name) for f in traceback.extract_tb(caught.value.__traceback__)
    ]
    return str(caught.value), frames


def test_throw_in_the_kernel_itself(gpu):
    def kernel(x):
        x[12] = 1

    message, frames = fails(gpu.jit(boundscheck=True)(kernel), np.zeros(4, np.float32))
    line = line_of(kernel, "x[12]")
    assert f"({HERE}:{line}), block (0, 0, 0)" in message
    assert frames[-1] == (HERE, line, kernel.__qualname__)


def test_throw_two_calls_deep_names_both_call_sites(gpu):
    inner = gpu.jit(device=True)(load)

    @gpu.jit(device=True)
    def outer(x, i):
        return inner(x, i) + 1

    def kernel(x):
        x[0] = outer(x, 0)

    message, frames = fails(gpu.jit(boundscheck=True)(kernel), np.zeros(4, np.float32))
    lines = [line_of(kernel, "= outer"), line_of(outer.py_func, "return inner"), line_of(load, "i + 10")]
    assert f"({HERE}:{lines[2]}, in device function 'load' called at {HERE}:{lines[1]} in '" in message
    assert f"' called at {HERE}:{lines[0]}), block" in message
    assert [frame[1] for frame in frames[-3:]] == lines
    assert frames[-1] == (HERE, lines[2], "load")


def test_two_ways_to_one_site_are_both_named(gpu):
    inner = gpu.jit(device=True)(load)

    def kernel(x):
        x[0] = inner(x, 0)
        x[1] = inner(x, 1)

    message, _frames = fails(gpu.jit(boundscheck=True)(kernel), np.zeros(4, np.float32))
    first, second = line_of(kernel, "inner(x, 0)"), line_of(kernel, "inner(x, 1)")
    assert f"called at {HERE}:{first} or " in message
    assert f"called at {HERE}:{second})" in message


def test_throw_inside_numba_is_told_at_the_users_line(gpu):
    """`range` with step 0 throws in Numba's own implementation, where no user wrote anything."""

    def kernel(x):
        for i in range(0, 3, int(x[0])):
            x[1] = i

    message, frames = fails(gpu.jit(boundscheck=True)(kernel), np.zeros(4, np.float32))
    line = line_of(kernel, "range(")
    assert f"{HERE}:{line}" in message
    assert frames[-1][:2] == (HERE, line)


def test_recursion_is_followed_once():
    @numba_ptxplus.jit(device=True)
    def down(x, n):
        if n == 0:
            return x[99]
        return down(x, n - 1)

    def kernel(x):
        x[0] = down(x, 3)

    message, _frames = fails(numba_ptxplus.jit(kernel), np.zeros(4))
    assert f"called at {HERE}:{line_of(kernel, '= down')}" in message


PLACES = """
import traceback
import numba
import numpy as np
import numba_ptxplus as cuda
from one.helpers import item
from two.helpers import item as other_item

third = cuda.jit(device=True)(lambda x, i: x[i])
fourth = cuda.jit(device=True)(lambda x, i: x[i] + 1)
fifth = cuda.jit(device=True)(lambda x, i: x[i])
sixth = numba.njit(inline="always")(lambda x, i: x[i])

@cuda.jit(cache=True)
def kernel(x, way):
    if way == 0:
        x[0] = item(x, 5)
    elif way == 1:
        x[0] = other_item(x, 5)
    elif way == 2:
        x[0] = third(x, 5)
    elif way == 3:
        x[0] = fourth(x, 5)
    elif way == 4:
        x[0] = fifth(x, 5)
    else:
        x[0] = sixth(x, 5)

for way in range(6):
    try:
        kernel[1, 1](np.zeros(3), way)
    except IndexError as error:
        frame, place = traceback.extract_tb(error.__traceback__)[-1], str(error).splitlines()[1]
        print(*frame.filename.rsplit("/", 3)[1:], frame.lineno, "helpers.py" in place, " or " in place)
print(len(kernel.stats.hits))
"""


def test_functions_of_one_name_are_told_apart_wherever_they_are(tmp_path, run_python):
    """By a process that compiles, and by one that finds the kernel when everything lies elsewhere in other files."""
    helper = "import numba_ptxplus as cuda\n@cuda.jit(device=True)\ndef item(x, i):\n    return x[i]{}\n"
    for folder, n_lines, n_hits in (("here", 0, 0), ("there", 7, 1)):
        root = tmp_path / folder
        for package, what in (("one", ""), ("two", " + 1")):
            (root / package).mkdir(parents=True)
            (root / package / "helpers.py").write_text("#\n" * n_lines + helper.format(what))
        (root / "program.py").write_text("#\n" * n_lines + PLACES)
        cache = str(tmp_path / "cache")
        printed = run_python(root / "program.py", NUMBA_PTXPLUS_DEVICE="cpu", NUMBA_CACHE_DIR=cache).stdout
        name = tmp_path.name
        assert printed.splitlines() == [
            f"{folder} one helpers.py {n_lines + 4} True False",
            f"{folder} two helpers.py {n_lines + 4} True False",
            *(f"{name} {folder} program.py {n_lines + line} False False" for line in (9, 10, 11, 12)),
            str(n_hits),
        ]


def test_promises_of_functions_of_one_name_are_told_apart():
    """The second is broken where the first is kept, in the same line of a function of the same name."""

    def define(filename):
        namespace = {"gpu": numba_ptxplus}
        text = "def check(n):\n    gpu.static_assert(n == 1, 'n is 1')\n    return n"
        exec(compile(text, filename, "exec"), namespace)
        return numba_ptxplus.jit(device=True)(namespace["check"])

    first, second = define("one/checks.py"), define("two/checks.py")

    @numba_ptxplus.jit
    def kernel(x):
        x[0] = first(1) + second(2)

    with pytest.raises(UnsupportedKernelError, match=r"two/checks\.py:2: static_assert failed: n is 1"):
        kernel[1, 1](np.zeros(1))
