"""Fixtures for every test."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A developer's own settings would make other programs of the tests' kernels, or take those of an earlier run.
for _name in (
    "NUMBA_BOUNDSCHECK", "NUMBA_CACHE_DIR", "NUMBA_DEBUG_CACHE", "NUMBA_DISABLE_JIT", "NUMBA_GPU_CACHE_NBYTES",
    "NUMBA_GPU_TRUST_CACHE", "NUMBA_METAL_FLOAT64",
):  # fmt: skip
    os.environ.pop(_name, None)
# Tests launch small grids on host arrays everywhere; tests/unit/launch/test_advice.py asks for the warnings.
for _name in ("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY"):
    os.environ.setdefault(_name, "0")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse tests that have another name in each process: `pytest -n` would run none, and only there."""
    unstable = [item.nodeid for item in items if re.search(r"\bat 0x[0-9a-f]{6}", item.nodeid)]
    if unstable:
        raise pytest.UsageError(f"an address is in the name of {', '.join(unstable)} — give the parameters ids")


@pytest.fixture(scope="session")
def run_python(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `python -W error *arguments` at the project's root; fail with its output unless it exits 0.

    Keyword arguments are environment variables; None removes one.
    """

    # matplotlib keeps a list of the system's fonts there, which takes seconds to make.
    matplotlib_folder = str(tmp_path_factory.mktemp("matplotlib"))

    def run(*arguments: object, timeout_s: float = 240, **variables: str | None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLCONFIGDIR": matplotlib_folder}
        for name, value in variables.items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = value
        command = [sys.executable, "-W", "error", *map(str, arguments)]
        child = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        assert child.returncode == 0, f"{command} exited {child.returncode}\n{child.stdout}\n{child.stderr}"
        return child

    return run


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """Python's own way with Ctrl-C, here and in children, also where a script runs the tests in its background.

    Shells make what they start there ignore it (POSIX, 2.11 Signals and Error Handling), and children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
