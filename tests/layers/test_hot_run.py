"""A numba.cuda program with known kernels, started by the `run` command, stays on the warm path."""

from __future__ import annotations

from pathlib import Path

from tests.layers.test_hot_half import COLD, REPORT, Runner

PROGRAM = """
import numpy as np
from numba import cuda

@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor

x = np.arange(10.0)
scale[1, 32](x, 2.0)
assert (x == 2 * np.arange(10.0)).all()
import sys
print("SLOW", *sorted({"argparse", "tarfile", "multiprocessing", "numba_gpucore.warm.command"} & sys.modules.keys()))
"""


def test_known_kernels_of_a_program_load_no_compiler(run_python: Runner, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM + REPORT.format(cold=COLD))
    variables = {"NUMBA_PTXPLUS_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    cold, warm = (run_python("-m", "numba_ptxplus", "run", script, **variables).stdout.splitlines() for _ in range(2))
    assert "numba_gpucore.compile.driver" in cold[1].split(), "the check can fail"
    assert warm[0] == "SLOW"
    # The stand-in for the module `numba` itself, and modules of ours under numba.cuda's names.
    assert {module for module in warm[1].split()[1:] if not module.startswith("numba.cuda")} == {"numba"}
