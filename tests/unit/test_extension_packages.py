"""Packages that extend Numba by its entry point: kernels may use what they overload, and pay for it only then."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Runner = Callable[..., subprocess.CompletedProcess[str]]

OVERLOADS = """
from numba.extending import overload
from extends_numba import third

def init():
    @overload(third)
    def _third(x):
        return lambda x: x / 3
"""

PROGRAM = """
import sys
import numpy as np
import numba_ptxplus as gpu
from extends_numba import third

@gpu.jit
def plain(x):
    x[0] *= 2

@gpu.jit(device=True)
def third_of(x):
    return third(x)

@gpu.jit
def divide(x):
    x[0] = third_of(x[0])

x = np.array([6], np.float32)
plain[1, 1](x)
print("extends_numba.overloads" in sys.modules)
divide[1, 1](x)
print("extends_numba.overloads" in sys.modules, x[0])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with such a package, installed as far as Python's metadata goes."""
    package, metadata = tmp_path / "extends_numba", tmp_path / "extends_numba-1.dist-info"
    package.mkdir()
    (package / "__init__.py").write_text("def third(x):\n    raise NotImplementedError\n")
    (package / "overloads.py").write_text(OVERLOADS)
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: extends-numba\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[numba_extensions]\ninit = extends_numba.overloads:init\n")
    return tmp_path


def test_they_are_loaded_where_a_kernel_needs_them(folder: Path, run_python: Runner) -> None:
    """6 * 2 / 3 = 4."""
    (folder / "program.py").write_text(PROGRAM)
    child = run_python(folder / "program.py", NUMBA_PTXPLUS_DEVICE="cpu", NUMBA_CACHE_DIR=None)
    assert child.stdout.splitlines() == ["False", "True 4.0"]


#: A type that the package knows once it is loaded: until then asking for it is an error, and none of Numba's.
TYPED_OBJECT = """
TYPES = {}

class Constant:
    @property
    def _numba_type_(self):
        return TYPES[Constant]

THIRTY = Constant()
"""

ITS_TYPE = """
from numba.core.imputils import lower_constant
from numba.extending import models, overload_attribute, register_model, types
from extends_numba import TYPES, Constant

class ConstantType(types.Dummy):
    pass

def init():
    TYPES[Constant] = ConstantType("constant")
    register_model(ConstantType)(models.OpaqueModel)

    @lower_constant(ConstantType)
    def _constant(context, builder, type_, value):
        return context.get_dummy_value()

    @overload_attribute(ConstantType, "value")
    def _value(constant):
        return lambda constant: 30
"""

USES_OBJECT = """
import numpy as np
import numba_ptxplus as gpu
from extends_numba import THIRTY

@gpu.jit
def read(x):
    x[0] = THIRTY.value

x = np.zeros(1, np.float32)
read[1, 1](x)
print(x[0])
"""


def test_they_are_loaded_whatever_error_a_kernel_fails_with(folder: Path, run_python: Runner) -> None:
    (folder / "extends_numba" / "__init__.py").write_text(TYPED_OBJECT)
    (folder / "extends_numba" / "overloads.py").write_text(ITS_TYPE)
    (folder / "program.py").write_text(USES_OBJECT)
    child = run_python(folder / "program.py", NUMBA_PTXPLUS_DEVICE="cpu", NUMBA_CACHE_DIR=None)
    assert child.stdout == "30.0\n", child.stderr


CACHED = """
import sys
import numba
import numpy as np
import numba_ptxplus as gpu
from extends_numba import third

@gpu.jit(cache=True)
def divide(x):
    x[0] = third(x[0])

@gpu.jit(cache=True)
def divide_twice(x):
    x[0] = third(third(x[0]))

x = np.array([81], np.float32)
divide[1, 1](x)
divide_twice[1, 1](x)
print(x[0], len(divide.stats.hits), len(divide_twice.stats.hits))
"""


def test_kernels_that_need_them_are_found_without_them(folder: Path, tmp_path: Path, run_python: Runner) -> None:
    """81 / 3 / 3 / 3 = 3. The second kernel meets what the first has loaded; in the next process it is the first."""
    (folder / "program.py").write_text(CACHED)
    variables = {"NUMBA_PTXPLUS_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    hits = [run_python(folder / "program.py", **variables).stdout.split() for _ in range(3)]
    assert hits == [["3.0", "0", "0"], ["3.0", "1", "0"], ["3.0", "1", "1"]]
