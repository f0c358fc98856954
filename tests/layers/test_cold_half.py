"""A new kernel loads what it needs and no more: read from the state of a child process after its first launch."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from numba_gpucore.compile.late_features import LATE_FEATURES


def modules_of(feature: str) -> tuple[str, ...]:
    return LATE_FEATURES[feature].modules


NEEDED = ("array functions", "ufuncs", "dates")
#: Loading each takes milliseconds of every first launch, and none can be in a kernel that compiles.
NEEDLESS = (
    "cffi",  # Numba asks it about every function that a kernel mentions
    "numba.typed.typeddict",  # and this about every class
    "numba.experimental.jitclass.base",  # part of Numba's CPU target
    "numba_gpucore.compile.explain",  # for errors
    "numba_gpucore.compile.libdevice_counterparts",
    "numba_gpucore.runtime.checked_math",  # for debug=True
    "numba.misc.quicksort",
    "numba_gpucore.compile.promises",  # for static_assert
    "numba_gpucore.launch.raising",
    "numba_gpucore.cpu.coroutine_program",  # for kernels with barriers
    "numba_gpucore.cpu.frame_size",
    "numba_gpucore.cpu.resume_together",
    "numba_gpucore.cpu.debug_lines",  # for kernels with lines
    "numba_gpucore.cpu.choose_row_axis",  # for kernels of several axes
    "numba_gpucore.cpu.replay",  # for exceptions that depend on memory
    "numba_gpucore.cpu.replay_text",
    "concurrent.futures",  # for streams
    # The kernel calls np.max, whose implementation calls a ufunc, and those have loops over dates.
    *(module for name in LATE_FEATURES if name not in NEEDED for module in modules_of(name)),
)

FIRST_LAUNCH = """
import gc, math, sys
import numba
import numpy as np
import {package} as gpu
from numba.core.registry import cpu_target
from numba_gpucore.compile import contexts, dispatcher

refreshes, made = [], []
refresh, make = contexts.BaseContext.refresh, contexts.DeviceTargetContext.__init__

def count_refresh(self):
    refreshes.append(self)
    refresh(self)

def count_made(self, *args):
    made.append(self)
    make(self, *args)

contexts.BaseContext.refresh = count_refresh
contexts.DeviceTargetContext.__init__ = count_made

@gpu.jit(cache=False)
def kernel(x, out):
    i = gpu.grid(1)
    if i >= out.size:
        raise ValueError("outside")
    out[i] = math.sin(x[i]) + np.max(x[i : i + 2]) + np.float32(slice(0, i).stop) + bool(i)

x = np.arange(8, dtype=np.float32)
out = np.zeros(7, np.float32)
kernel[1, 7](x, out)
assert np.allclose(out, np.sin(x[:7]) + x[1:] + np.arange(7) + (np.arange(7) > 0))
print("CONTEXTS", len(made), "REFRESHES", len(refreshes), "FROZEN", gc.get_freeze_count() > 50_000)
print("CPU TARGET", "_toplevel_target_context" in vars(cpu_target))
print("LOADED", *sorted(sys.modules))
"""

Runner = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_a_first_launch_loads_what_it_needs(run_python: Runner, tmp_path: Path, package: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(FIRST_LAUNCH.format(package=package), encoding="utf-8")
    lines = run_python(script).stdout.splitlines()
    loaded = set(lines[-1].split()[1:])
    assert "numba_gpucore.compile.contexts" in loaded  # the check can fail
    assert not loaded.intersection(NEEDLESS)
    assert lines[-2] == "CPU TARGET False"
    # Each pipeline of Numba asks for one or two; each of its 160 templates of methods asked for one more.
    _, n_contexts, _, n_refreshes, _, is_frozen = lines[-3].split()
    assert (int(n_contexts), is_frozen) == (1, "True")
    assert int(n_refreshes) < 60


SAXPY = """
import sys
import numpy as np
import {package} as gpu
from numba_gpucore.compile.late_features import loaded_features

@gpu.jit(cache=False)
def saxpy(a, x, y):
    i = gpu.grid(1)
    if i < y.size:
        y[i] += a * x[i]

y = np.ones(8, np.float32)
saxpy[1, 8](np.float32(2), np.arange(8, dtype=np.float32), y)
assert (y == 1 + 2 * np.arange(8)).all()
print(loaded_features(), "numba_gpucore.compile.contexts" in sys.modules)

@gpu.jit(cache=False)
def largest(x):
    x[0] = np.maximum(x[0], x[1])

largest[1, 1](y)
print(loaded_features())
"""


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_a_plain_kernel_loads_no_late_feature(run_python: Runner, tmp_path: Path, package: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SAXPY.format(package=package), encoding="utf-8")
    first, second = run_python(script).stdout.splitlines()
    assert first == "frozenset() True"
    assert second == "frozenset({'ufuncs'})"
