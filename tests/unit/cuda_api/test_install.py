"""`from numba import cuda` in every order of imports. Each program runs in a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Runner = Callable[..., subprocess.CompletedProcess[str]]

INSTALL = "import sys, numba_ptxplus; numba_ptxplus.install_as_cuda()\n"

PROGRAMS = {
    "before numba": INSTALL
    + """
from numba import cuda
import numba.cuda
assert cuda is numba.cuda is numba_ptxplus
assert "numba.core" not in sys.modules
import numba
assert numba.njit(lambda x: x + 1)(2) == 3          # the real numba, in the same module object
assert numba.cuda is cuda and sys.modules["numba"] is numba
from numba import cuda as again
assert again is cuda
""",
    "after numba and its own numba.cuda": """
import numba, numba.cuda.compiler
"""
    + INSTALL
    + """
from numba import cuda
import numba.cuda.compiler
assert cuda is numba.cuda is numba_ptxplus
assert numba.cuda.compiler is sys.modules["numba.cuda.compiler"]
assert not hasattr(numba.cuda.compiler, "compile_cuda")
""",
    "a submodule of numba first": INSTALL
    + """
import numba.core.types as types
assert types.int32 is sys.modules["numba"].int32
assert types.__spec__.origin.endswith("__init__.py")
import numba.np.unsafe.ndarray                       # one that numba does not import by itself
import numba
assert numba.cuda is numba_ptxplus
import importlib
importlib.reload(numba.core.consts)
""",
    "submodules of numba.cuda": INSTALL
    + """
from numba.cuda.cudadrv.devicearray import DeviceNDArray, is_cuda_ndarray
from numba.cuda.args import In
from numba import cuda
assert isinstance(cuda.to_device([1, 2]), DeviceNDArray) and is_cuda_ndarray(cuda.device_array(3))
assert cuda.In is In and cuda.cudadrv.devicearray.DeviceNDArray is DeviceNDArray
assert "numba.core" not in sys.modules
from numba.cuda.core.errors import TypingError       # NVIDIA's copies of Numba's modules are Numba's own
from numba.cuda import types
from numba.core import errors, types as numba_types
assert TypingError is errors.TypingError and types.int32 is numba_types.int32
from numba.cuda.extending import overload, core_models
import numba.extending
assert overload.func is numba.extending.overload      # for target "cuda" by default
from numba.cuda.cudadrv import drvapi, enums             # nothing in them, yet programs import them
""",
    "all names of a submodule": INSTALL
    + """
from numba.cuda.random import *
from numba.cuda.libdevice import *
from numba.cuda.types import *
from numba import cuda
assert create_xoroshiro128p_states is cuda.random.create_xoroshiro128p_states
assert sinf is cuda.libdevice.sinf and int32 is cuda.types.int32 and "__name__" not in cuda.random.__all__
""",
    "all names of numba": INSTALL
    + """
from numba import cuda
from numba import *
assert cuda is numba_ptxplus and vectorize is sys.modules["numba"].vectorize and float32 is sys.modules["numba"].float32
""",
    "types of device arrays": INSTALL
    + """
import numba, numpy
array = numba_ptxplus.to_device(numpy.zeros((2, 3), numpy.float32).T)
assert numba.typeof(array) == numba.types.Array(numba.float32, 2, "F")
""",
    "a submodule that there is not": INSTALL
    + """
try:
    import numba.cuda.driver                         # numba_ptxplus has a package of that name, numba.cuda has not
except ModuleNotFoundError as error:
    assert error.name == "numba.cuda.driver" and "numba_ptxplus offers no module" in str(error)
else:
    raise AssertionError
""",
    "another package later": INSTALL
    + """
import numba.cuda.types
import numba_metal
numba_metal.install_as_cuda()
from numba import cuda
import numba.cuda.types
assert cuda is numba_metal and numba.cuda is numba_metal
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_imports(run_python: Runner, program: str) -> None:
    run_python("-c", program, NUMBA_PTXPLUS_DEVICE="cpu")
