"""Locks of entries that are being compiled: they save work, and nobody waits for a process that died."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.entry_lock import _machine_name
from tests.unit.test_launch_cache import KEY


@pytest.fixture
def cache(tmp_path):
    return DiskCache(str(tmp_path / "cache"))


@pytest.mark.parametrize("time_s", [1, 1 << 32], ids=["old", "of a wrong clock"])
def test_lock_of_another_time_is_broken(cache, monkeypatch, time_s):
    monkeypatch.setattr(time, "sleep", None)
    Path(cache.folder).mkdir(mode=0o700)
    lock = Path(cache.folder) / (KEY.digest + ".gpulock")
    lock.write_text("1 elsewhere")
    os.utime(lock, (time_s, time_s))
    with cache.being_compiled(KEY, is_there=lambda: False):
        assert lock.exists()
    assert not lock.exists()


@pytest.mark.skipif(not hasattr(os, "uname"), reason="other processes are asked for on POSIX")
def test_lock_of_a_process_that_was_killed_is_broken_at_once(cache, monkeypatch):
    """Else the next start of a program that ran out of memory while it compiled would seem to hang."""
    monkeypatch.setattr(time, "sleep", None)
    program = (
        "import os, sys; sys.path[:0] = {path!r}\n"
        "from tests.unit.test_launch_cache import KEY, DiskCache\n"
        "with DiskCache({folder!r}).being_compiled(KEY, is_there=lambda: False): os._exit(9)"
    )
    line = [sys.executable, "-c", program.format(path=[os.getcwd(), *sys.path], folder=cache.folder)]
    assert subprocess.run(line, check=False).returncode == 9
    (lock,) = Path(cache.folder).iterdir()
    left = lock.read_text()
    with cache.being_compiled(KEY, is_there=lambda: False):
        assert lock.read_text().split() == [str(os.getpid()), os.uname().nodename] != left.split()
    assert not lock.exists()


def test_a_dead_lock_that_cannot_be_deleted_is_neither_held_nor_waited_for(cache, monkeypatch):
    """As another user's in a shared folder with the sticky bit."""
    monkeypatch.setattr(time, "sleep", None)
    lock = Path(cache.folder) / (KEY.digest + ".gpulock")
    lock.mkdir(mode=0o700, parents=True)
    Path(cache.folder).chmod(0o700)
    os.utime(lock, (1, 1))
    looks = []
    with cache.being_compiled(KEY, is_there=lambda: looks.append(1)):
        pass
    assert lock.exists() and len(looks) == 1


def test_a_file_in_place_of_the_folder_is_not_waited_for(cache, monkeypatch):
    """Python says of both, this file and a lock that another process holds, that they exist."""
    monkeypatch.setattr(time, "sleep", None)
    Path(cache.folder).write_text("no folder")
    with cache.being_compiled(KEY, is_there=lambda: False):
        assert Path(cache.folder).read_text() == "no folder"


@pytest.mark.parametrize(
    "text",
    ["", "x", "1 elsewhere", f"{os.getpid()} {_machine_name()}", "9" * 400 + f" {_machine_name()}"],
    ids=["empty", "no number", "another machine", "this process", "no process number"],
)
def test_lock_of_a_process_that_may_be_there_is_waited_for(cache, monkeypatch, text):
    Path(cache.folder).mkdir(mode=0o700)
    lock = Path(cache.folder) / (KEY.digest + ".gpulock")
    lock.write_text(text)
    looks = []
    with cache.being_compiled(KEY, is_there=lambda: looks.append(1) or len(looks) == 3):
        assert lock.read_text() == text
    assert lock.exists() and len(looks) == 3


def test_waiting_ends_when_the_entry_is_there(cache):
    Path(cache.folder).mkdir(mode=0o700)
    (Path(cache.folder) / (KEY.digest + ".gpulock")).touch()
    with cache.being_compiled(KEY, is_there=lambda: True):
        pass
    assert (Path(cache.folder) / (KEY.digest + ".gpulock")).exists()  # it is the other process's
