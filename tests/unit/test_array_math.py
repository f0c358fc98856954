"""Numba's array functions come without SciPy, and programs on the CPU still find BLAS when they need it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from numba_gpucore.compile.dispatcher import descriptor_for

descriptor_for("ptxplus")
assert "scipy.linalg" not in sys.modules

import numba
import numpy as np

@numba.njit
def products(a, b):
    return np.vdot(a, b), np.correlate(a, b)[0]

a = np.array([1.0, 2.0, 3.0])
assert products(a, a) == (14.0, 14.0)
assert "scipy.linalg" in sys.modules
assert numba.np.arraymath._HAVE_BLAS is True
"""


def test_blas_is_looked_for_when_it_is_needed() -> None:
    child = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert child.returncode == 0, child.stderr
