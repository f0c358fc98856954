"""Who compiles an entry of the cache, where several processes need it. Before: store. After: miss.

A lock only saves work: being right does not depend on it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from numba_gpucore.launch.entry_file import delete, open_without_waiting

#: A compilation takes well under a second; a lock this old belongs to a process that died.
LOCK_TIMEOUT_S = 20.0
_POLL_S = 0.02


@contextmanager
def lock_held(path: str, is_there: Callable[[], bool], make_folder: Callable[[], None]) -> Iterator[None]:
    """Hold a lock file while compiling, so that processes that start together do not all compile.

    Waits while another process holds it, until `is_there()`, until that process is no more or its lock is old, or for
    at most LOCK_TIMEOUT_S. make_folder: for the lock; may raise OSError, and then there is none.
    """
    held = _take_lock(path, is_there, make_folder)
    try:
        yield
    finally:
        if held:
            with suppress(OSError):
                os.unlink(path)


def _take_lock(path: str, is_there: Callable[[], bool], make_folder: Callable[[], None]) -> bool:
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            make_folder()
        except OSError:  # FileExistsError too, where a file is in its place
            return False
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            if is_there():
                return False
            if not _is_abandoned(path):
                time.sleep(_POLL_S)
            elif delete(path) is not None:
                return False  # in a shared folder with the sticky bit it may be another user's
        except OSError:
            return False
        else:
            with suppress(OSError), os.fdopen(handle, "w") as file:
                file.write(f"{os.getpid()} {_machine_name()}")
            return True
    return False


def _is_abandoned(path: str) -> bool:
    """Whether a lock is of a process that died: it is old, or that process was on this machine and is no more."""
    try:
        # Or of a time to come, by a clock that was wrong when it was taken.
        if abs(time.time() - os.stat(path).st_mtime) > LOCK_TIMEOUT_S:
            return True
        with open(path, opener=open_without_waiting) as file:
            process, _, machine = file.read().partition(" ")
        if machine and machine == _machine_name():
            os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return False


def _machine_name() -> str:
    """Empty where os.kill cannot ask whether a process is there: on Windows it would end it."""
    return os.uname().nodename if hasattr(os, "uname") else ""
