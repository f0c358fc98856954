"""Calls whose implementations are kept are typed without loading array functions, and mean the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import json
import sys
import numpy as np
from numba.core import types
from numba.extending import overload_method
import numba_ptxplus
from numba_gpucore.compile.late_features import loaded_features
from numba_gpucore.launch.session import default_session

default_session().store.keeps_overloads = sys.argv[1] == "fill"

def run(kernel, *arrays):
    out = np.zeros(4)
    numba_ptxplus.jit(kernel)[1, 1](*arrays, out)
    return out.tolist()

def kept(x, out):
    out[0] = x.sum()
    out[1] = np.max(x)
    out[2] = np.max(x[1:]) + x[1:].sum()
    out[3] = other(x)

@numba_ptxplus.jit(device=True)
def other(x):
    return x.mean()

def two_types(x, y, out):
    for i in range(2):
        out[i] = np.max(x) + x.sum()
        out[i + 2] = np.max(y) + y.sum()

def named(x, out):
    out[0] = np.max(a=x)

def literal(x, out):
    out[0] = x[1:].argmax() + x.max()

def unknown(x, out):
    out[0] = np.max(x, x, x, x)

def own(x, out):
    out[0] = x.prod()

def told(kernel, *arrays):
    try:
        result = run(kernel, *arrays)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return result

x, y = np.arange(1, 5, dtype=np.float32), np.arange(4, dtype=np.int16)
if sys.argv[1] == "fill":
    kernels = {"kept": told(kept, x), "own": told(own, x), "literal": told(literal, x)}
else:
    name = sys.argv[2]
    if name == "own":
        @overload_method(types.Array, "prod", target="gpucore")
        def overload_prod(array):
            return lambda array: 42
    kernels = {name: told(globals()[name], *((x, y) if name == "two_types" else (x,)))}
print(json.dumps([kernels, sorted(loaded_features())]))
"""

Run = Callable[..., tuple[dict[str, Any], list[str]]]


@pytest.fixture(scope="module")
def run(run_python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """run(folder, *arguments): what kernels of PROGRAM give, and the features that were loaded for them."""
    program: Path = tmp_path_factory.mktemp("program") / "program.py"
    program.write_text(PROGRAM)

    def run_program(folder: Path, *arguments: str) -> tuple[dict[str, Any], list[str]]:
        own = {"NUMBA_PTXPLUS_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(folder)}
        kernels, features = json.loads(run_python(program, *arguments, **own).stdout)
        return kernels, features

    return run_program


@pytest.fixture(scope="module")
def filled(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    kernels, features = run(folder, "fill")
    assert kernels == {"kept": [10, 4, 13, 2.5], "own": [24, 0, 0, 0], "literal": [6, 0, 0, 0]}
    assert "array functions" in features
    return folder


def test_kept_calls_need_no_array_functions(run: Run, filled: Path) -> None:
    assert run(filled, "use", "kept") == ({"kept": [10, 4, 13, 2.5]}, [])


@pytest.mark.parametrize(("kernel", "result"), [("two_types", [14, 14, 9, 9]), ("named", [4, 0, 0, 0])])
def test_other_calls_of_the_same_functions_load_them(run: Run, filled: Path, kernel: str, result: list[int]) -> None:
    kernels, features = run(filled, "use", kernel)
    assert kernels == {kernel: result} and "array functions" in features


def test_methods_that_a_program_defines_itself_are_not_replaced(run: Run, filled: Path) -> None:
    assert run(filled, "use", "own")[0] == {"own": [42, 0, 0, 0]}


def test_errors_read_as_without_a_store(run: Run, filled: Path, tmp_path: Path) -> None:
    assert run(filled, "use", "unknown")[0] == run(tmp_path, "use", "unknown")[0]
