"""The launch half stays light: what a warm program loads, read from `sys.modules` of a child process."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from numba_gpucore.cuda_api.submodules import SELDOM_NAMES

Runner = Callable[..., subprocess.CompletedProcess[str]]

#: Packages of the cold half. llvmlite.binding loads objects on the CPU device and is allowed.
COLD = ("numba", "numba_gpucore.compile", "numba_gpucore.runtime")

REPORT = """
import sys
cold = {cold!r}
print("LOADED", *sorted(m for m in sys.modules if m in cold or m.startswith(tuple(c + "." for c in cold))))
"""

DECORATE = """
import numba_metal, numba_ptxplus

@numba_metal.jit
def kernel(x, n):
    x[numba_metal.grid(1)] = n

@numba_ptxplus.jit(device=True)
def helper(x):
    return x + 1

numba_ptxplus.to_device([1, 2, 3]).copy_to_host()
numba_metal.synchronize()
numba_metal.stream().synchronize()
print(numba_metal.current_device())
"""

DECLARE = """
import numba_metal

@numba_metal.jit("void(float32[::1], int64)")
def kernel(x, n):
    x[numba_metal.grid(1)] = n
"""

STAND_IN = """
import numba_ptxplus
numba_ptxplus.install_as_cuda()
from numba import cuda
import numba.cuda, numba.cuda.cudadrv.devicearray, numba.cuda.types
assert cuda is numba.cuda is numba_ptxplus
print(cuda.gpus, cuda.is_available())

@cuda.jit
def kernel(x):
    x[cuda.grid(1)] += 1
"""

SCRIPT = """
import numba_ptxplus
numba_ptxplus.install_as_cuda()
import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

@cuda.jit("void(float32[::1], Array(float32, 1, 'C'))")
def scale(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = cuda.float32(2) * x[i]

@cuda.jit
def draw(states, out):
    out[cuda.grid(1)] = xoroshiro128p_uniform_float32(states, cuda.grid(1))

stream = cuda.stream()
x = cuda.to_device(np.arange(64, dtype=np.float32), stream)
out = cuda.device_array_like(x)
scale[2, 32, stream](x, out)
stream.synchronize()
draw[2, 32](create_xoroshiro128p_states(64, seed=1), out)
assert 0 <= out.copy_to_host().min() and cuda.current_context().device.name and cuda.gpus[0]._device.name
"""

LAUNCH = """
import numpy as np
import numba_ptxplus as gpu

@gpu.jit
def scale(x, factor):
    i = gpu.grid(1)
    if i < x.size:
        x[i] *= factor

x = np.arange(10.0)
scale[1, 32](x, 2.0)
assert (x == 2 * np.arange(10.0)).all()
"""


def cold_modules(run_python: Runner, folder: Path, program: str) -> set[str]:
    """Run a program on the CPU device, its cache in `folder`; what it loaded of the cold half."""
    script = folder / "program.py"
    script.write_text(program + REPORT.format(cold=COLD))
    variables = {"NUMBA_METAL_DEVICE": "cpu", "NUMBA_PTXPLUS_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(folder / "cache")}
    child = run_python(script, **variables)
    (line,) = (line for line in child.stdout.splitlines() if line.startswith("LOADED"))
    return set(line.split()[1:])


def test_decorating_loads_no_compiler(run_python: Runner, tmp_path: Path) -> None:
    assert cold_modules(run_python, tmp_path, DECORATE) == set()


def test_declaring_a_known_signature_loads_no_compiler(run_python: Runner, tmp_path: Path) -> None:
    """A declared signature is compiled by the decorator, and found by it the next time."""
    assert "numba" in cold_modules(run_python, tmp_path, DECLARE), "the check can fail"
    assert cold_modules(run_python, tmp_path, DECLARE) == set()


def test_standing_in_for_numba_cuda_loads_no_compiler(run_python: Runner, tmp_path: Path) -> None:
    """The stand-in for the module `numba` itself is there, and nothing of Numba below it."""
    loaded = cold_modules(run_python, tmp_path, STAND_IN)
    assert {module for module in loaded if not module.startswith("numba.cuda")} == {"numba"}


def test_a_script_for_numba_cuda_with_known_kernels_loads_no_compiler(run_python: Runner, tmp_path: Path) -> None:
    """What it imports is our stand-in, for `numba` too; asking that for anything else would load the real one."""
    assert "numba_gpucore.compile.driver" in cold_modules(run_python, tmp_path, SCRIPT), "the check can fail"
    loaded = cold_modules(run_python, tmp_path, SCRIPT)
    assert {module for module in loaded if not module.startswith("numba.cuda")} == {"numba"}


def test_launching_a_known_kernel_loads_no_compiler(run_python: Runner, tmp_path: Path) -> None:
    cold = cold_modules(run_python, tmp_path, LAUNCH)
    assert {"numba", "numba_gpucore.compile.driver"} <= cold, "the check can fail"
    assert cold_modules(run_python, tmp_path, LAUNCH) == set()


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_importing_loads_no_slow_modules(run_python: Runner, tmp_path: Path, package: str) -> None:
    """asyncio and importlib.metadata would take more time than all of ours; the others are dear, too.

    Some of ours are for few programs only.
    """
    seldom = {path.partition(":")[0] for path in SELDOM_NAMES.values()} | {
        "numba_gpucore.cuda_api.install",
        "numba_gpucore.launch.extensions",
        "numba_gpucore.launch.pickling",
        "numba_gpucore.launch.printing",
        "numba_gpucore.launch.raising",
        "numba_gpucore.launch.signature_text",
    }
    program = f"""
import sys, {package}
dear = {{"asyncio", "importlib.metadata", "_hashlib", "tempfile", "importlib.abc", "pathlib", "numpy.ma", "queue"}}
loaded = (dear | {seldom}) & sys.modules.keys()
assert not loaded, loaded
"""
    assert cold_modules(run_python, tmp_path, program) == set()


def test_launching_a_known_kernel_loads_nothing_for_streams(run_python: Runner, tmp_path: Path) -> None:
    """A tenth of the time to the first launch."""
    cold_modules(run_python, tmp_path, LAUNCH)
    program = LAUNCH + "import sys\nassert not {'asyncio', 'concurrent.futures', 'queue'} & sys.modules.keys()\n"
    assert cold_modules(run_python, tmp_path, program) == set()


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_looking_for_a_gpu_loads_nothing_that_only_gpus_need(run_python: Runner, tmp_path: Path, package: str) -> None:
    """Most programs look for one: 5 ms of a session's first launch."""
    program = f"""
import sys
from {package}.driver import BACKEND
BACKEND.count_devices()
needed = {{"{package}.driver.device", "numba_ptxplus.toolchain", "shutil", "tempfile", "pathlib"}}
assert not needed & sys.modules.keys()
"""
    assert cold_modules(run_python, tmp_path, program) == set()


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_importing_opens_no_device(run_python: Runner, tmp_path: Path, package: str) -> None:
    program = f"""
import {package}
from numba_gpucore.launch import session
assert session._default is None
import sys
assert "{package}.driver" not in sys.modules and "numba_gpucore.cpu" not in sys.modules
"""
    assert cold_modules(run_python, tmp_path, program) == set()
