"""Fixtures for tests of the commands `cache …` and `warm …`; use: pytest_plugins = ["tests.unit.warm_commands"].

Both work in a folder with MODULE, a kernel of one declared signature, as `kernels.py`.
Where nothing depends on it not in a process of its own, but as if: with a session, modules and settings of its own.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from numba_gpucore.launch import session
from numba_gpucore.warm import command as command_module
from numba_gpucore.warm.command import main
from numba_gpucore.warm.compile_modules import WarmReport, WarmTask, warm_task

ROOT = Path(__file__).resolve().parents[2]

MODULE = """
import numba_metal

@numba_metal.jit("void(float32[::1], float32)")
def scale(x, factor):
    i = numba_metal.grid(1)
    if i < x.size:
        x[i] *= factor
"""

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run `python ARGUMENTS` in a folder that has MODULE as `kernels.py`; `cache` names the cache folder."""
    (tmp_path / "kernels.py").write_text(MODULE)

    def run(*arguments: str, cache: str = "cache") -> subprocess.CompletedProcess[str]:
        variables = {"PYTHONPATH": str(ROOT), "NUMBA_METAL_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        environment = {**os.environ, **variables}
        line = [sys.executable, "-W", "error", *arguments]
        return subprocess.run(
            line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run


Act = Callable[..., tuple[int, str]]


@pytest.fixture
def act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Act]:
    """Exit status and all output of `python -m numba_metal LINE`, in a folder as that of `command`."""
    (tmp_path / "kernels.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def forget_modules() -> None:
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
                del sys.modules[name]

    def start_afresh(cache: str) -> None:
        importlib.invalidate_caches()
        forget_modules()
        variables = {
            "METAL_DEVICE": "cpu",
            "PTXPLUS_DEVICE": "cpu",
            "CACHE_DIR": str(tmp_path / cache) if cache else "",
        }
        for name, value in variables.items():
            monkeypatch.setenv(f"NUMBA_{name}", value)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "default"))
        monkeypatch.setattr(session, "_default", session.Session())

    def run(line: str, cache: str = "cache", package: str = "numba_metal") -> tuple[int, str]:
        def run_tasks(tasks: Sequence[WarmTask], _n_jobs: int) -> Iterator[WarmReport]:
            for task in tasks:
                start_afresh(cache)
                yield warm_task(task)

        monkeypatch.setattr(command_module, "run_tasks", run_tasks)
        start_afresh(cache)
        status = import_kernels() if line == "import kernels" else main(package, line.split())
        output = capsys.readouterr()
        return status, output.out + output.err

    yield run
    forget_modules()


def import_kernels() -> int:
    importlib.import_module("kernels")
    return 0
