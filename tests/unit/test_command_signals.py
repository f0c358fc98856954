"""The command line is told to end: by Ctrl-C, or by who reads what it writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.overload_files import OverloadFiles
from numba_gpucore.warm.compile_modules import NOTHING_TO_COMPILE

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")

ROOT = Path(__file__).resolve().parents[2]

STARTS_AND_WAITS = """
import pathlib, time
pathlib.Path("started").touch()
time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals are of POSIX")
@pytest.mark.parametrize(
    ("number", "to_all", "status", "message"),
    [
        (signal.SIGINT, True, 128 + signal.SIGINT, "numba_metal: interrupted\n"),
        (signal.SIGINT, False, 128 + signal.SIGINT, "numba_metal: interrupted\n"),
        (signal.SIGKILL, False, -signal.SIGKILL, ""),
    ],
)
def test_signals_end_all_processes_of_warm(
    tmp_path: Path, number: int, to_all: bool, status: int, message: str
) -> None:
    """A terminal sends Ctrl-C to all processes, `kill` to one."""
    (tmp_path / "waits.py").write_text(STARTS_AND_WAITS)
    variables = {"PYTHONPATH": str(ROOT), "NUMBA_METAL_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    line = [sys.executable, "-m", "numba_metal", "warm", "waits", "--jobs", "2"]
    warm = subprocess.Popen(
        line, cwd=tmp_path, env={**os.environ, **variables}, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (tmp_path / "started").exists():
        assert warm.poll() is None
        time.sleep(0.01)
    (os.killpg if to_all else os.kill)(warm.pid, number)
    told = warm.communicate(timeout=120)[1]
    assert told == message or number == signal.SIGKILL  # of which multiprocessing's helper tells
    assert warm.returncode == status
    with pytest.raises(ProcessLookupError):  # none of them is left; multiprocessing's own helper needs a moment
        for _ in range(6000):
            os.killpg(warm.pid, 0)
            time.sleep(0.01)


WAITS_FOR_WORD = """
import pathlib, time
pathlib.Path("started").touch()
while not pathlib.Path("word").exists():
    time.sleep(0.01)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals are of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_that_warm_was_started_to_ignore_end_none_of_its_processes(tmp_path: Path, number: int) -> None:
    """As a shell does for what a script runs in the background (POSIX, 2.11 Signals and Error Handling)."""
    (tmp_path / "waits.py").write_text(WAITS_FOR_WORD)
    variables = {"PYTHONPATH": str(ROOT), "NUMBA_METAL_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    ignoring = f"import signal, sys; signal.signal({number}, signal.SIG_IGN); from os import execv; execv(*{{}})"
    line = [sys.executable, "-m", "numba_metal", "warm", "waits"]
    warm = subprocess.Popen(
        [sys.executable, "-c", ignoring.format((sys.executable, line))],
        cwd=tmp_path,
        env={**os.environ, **variables},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "started").exists():
        assert warm.poll() is None
        time.sleep(0.01)
    os.killpg(warm.pid, number)
    time.sleep(0.1)
    (tmp_path / "word").touch()
    told = warm.communicate(timeout=120)[1]
    assert (warm.returncode, told) == (1, f"[1/1] waits: {NOTHING_TO_COMPILE}\n")


def test_what_a_reader_has_enough_of_ends_quietly(tmp_path: Path) -> None:
    """As in `cache list | head`."""
    OverloadFiles((DiskCache(str(tmp_path / "cache")),), own_source=lambda: "source", keeps=True).keep("sum", "text")
    reading, writing = os.pipe()
    os.close(reading)
    variables = {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    line = [sys.executable, "-m", "numba_metal", "cache", "list"]
    child = subprocess.run(
        line, env={**os.environ, **variables}, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (child.returncode, child.stderr) == (1, "")
