"""The disk cache where the system fails: full disks, quotas, file servers that are gone. All is a miss, no error."""

import errno
import os
import time
from pathlib import Path

import pytest

from numba_gpucore.base.errors import CacheWarning
from numba_gpucore.launch.cache import DiskCache
from tests.unit.test_launch_cache import ARG_TYPES, ARTIFACT, GOOD, KEY


@pytest.fixture
def cache(tmp_path):
    return DiskCache(str(tmp_path / "cache"))


def test_full_disk_leaves_no_temporary_file(cache, monkeypatch):
    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CacheWarning, match="No space left"):
        assert cache.store(KEY, ARTIFACT).endswith(": No space left on device")
    assert list(Path(cache.folder).iterdir()) == []


def test_a_write_that_ends_in_the_middle_leaves_nothing(cache):
    """As on a full disk, or beyond a quota: the system takes a part of the file and refuses the rest."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(GOOD) // 2, before[1]))
    try:
        with pytest.warns(CacheWarning, match="File too large"):
            reason = cache.store(KEY, ARTIFACT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert reason.endswith(": File too large")
    assert list(Path(cache.folder).iterdir()) == []
    assert cache.store(KEY, ARTIFACT) == ""


@pytest.mark.filterwarnings("ignore::numba_gpucore.base.errors.CacheWarning")
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.ESTALE, errno.EACCES, errno.EMFILE], ids=os.strerror)
@pytest.mark.parametrize(
    "call", ["open", "fdopen", "replace", "unlink", "stat", "fstat", "utime", "scandir", "makedirs"]
)
def test_what_the_system_refuses_is_a_miss_and_nobody_waits(tmp_path, monkeypatch, call, code):
    """From the first such call on, from the second and so on, as file servers and full disks do."""
    real = getattr(os, call)
    monkeypatch.setattr(time, "sleep", None)
    for n_that_work in range(6):
        cache = DiskCache(str(tmp_path / str(n_that_work)))
        assert cache.store(KEY, ARTIFACT) == ""
        working = iter(range(n_that_work))
        with monkeypatch.context() as patch:

            def work_or_refuse(*arguments, working=working, **keywords):
                if next(working, None) is None:
                    raise OSError(code, os.strerror(code))
                return real(*arguments, **keywords)

            patch.setattr(os, call, work_or_refuse)
            assert cache.find(KEY, ARG_TYPES).artifact in (None, ARTIFACT)
            with cache.being_compiled(KEY, is_there=lambda: False):
                cache.store(KEY, ARTIFACT)
            cache.note("a.gputext", "text")
            assert cache.recall("a.gputext") in (None, "text")
            cache.clear()
