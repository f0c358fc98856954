"""Known ufuncs and reductions launch without the compiler."""

from __future__ import annotations

from pathlib import Path

from tests.layers.test_hot_half import Runner, cold_modules

UFUNCS = """
import numpy as np
import numba_ptxplus as gpu

@gpu.vectorize(["float32(float32, float32)"])
def add(a, b):
    return a + b

@gpu.guvectorize(["void(float32[:], float32[:])"], "(n)->()")
def last(a, b):
    b[0] = a[a.shape[0] - 1]

total = gpu.reduce(lambda a, b: a + b)
x = np.arange(12, dtype=np.float32).reshape(3, 4)
np.testing.assert_array_equal(add(x, x[0]), x + x[0])
np.testing.assert_array_equal(last(gpu.to_device(x)).copy_to_host(), [3, 7, 11])
assert total(np.arange(2000)) == 1999000 and add.reduce(x[2]) == 38
"""


def test_known_ufuncs_load_no_compiler(run_python: Runner, tmp_path: Path) -> None:
    assert "numba" in cold_modules(run_python, tmp_path, UFUNCS), "the check can fail"
    assert cold_modules(run_python, tmp_path, UFUNCS) == set()


def test_importing_a_package_loads_no_ufuncs(run_python: Runner, tmp_path: Path) -> None:
    program = "import sys, numba_metal\nassert not any(m.startswith('numba_gpucore.ufuncs') for m in sys.modules)\n"
    assert cold_modules(run_python, tmp_path, program) == set()
