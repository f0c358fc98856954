"""A new kernel loads what it needs and no more: read from the state of a child process after its first launch."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from numba_gpucore.compile.late_features import LATE_FEATURES

#: Loading each takes milliseconds of every first launch, and none can be in a kernel that compiles.
NEEDLESS = (
    "cffi",  # Numba asks it about every function that a kernel mentions
    "numba.typed.typeddict",  # and this about every class
    "numba.experimental.jitclass.base",  # part of Numba's CPU target
    "numba_gpucore.compile.explain",  # for errors
    "numba_gpucore.compile.libdevice_counterparts",
    "numba_gpucore.cpu.coroutine_program",  # for kernels with barriers
    "numba_gpucore.cpu.frame_size",
    "numba_gpucore.cpu.resume_together",
    "numba_gpucore.cpu.debug_lines",  # for kernels with lines
    "numba_gpucore.cpu.replay",  # for exceptions that depend on memory
    "numba_gpucore.cpu.replay_text",
    "concurrent.futures",  # for streams
    *(f"numba_gpucore.compile.{step}.{feature}" for step in ("typing", "lower") for feature in LATE_FEATURES),
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
