"""The disk cache's size limit: least recently used goes first, and looking for it costs little."""

import os
from dataclasses import replace

import pytest

from numba_gpucore.base.errors import CacheWarning
from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.overload_files import OverloadFiles
from tests.unit.test_launch_cache import ARG_TYPES, ARTIFACT, GOOD, KEY


def test_least_recently_used_entry_goes_first(tmp_path):
    cache = DiskCache(str(tmp_path), max_nbytes=7 * len(GOOD) // 2)
    keys = [replace(KEY, fingerprint=str(number) * 40) for number in range(4)]
    for age, key in enumerate(keys[:3]):
        cache.store(key, ARTIFACT)
        os.utime(cache.path_of(key), (1000 + age, 1000 + age))
    cache.find(keys[0], ARG_TYPES)
    cache.store(keys[3], ARTIFACT)
    assert [cache.find(key, ARG_TYPES).artifact is not None for key in keys] == [True, False, True, True]


def test_what_was_used_in_a_time_to_come_goes_first(tmp_path):
    """After a clock that was wrong has been set back, it would outlive all that is used now."""
    cache = DiskCache(str(tmp_path), max_nbytes=7 * len(GOOD) // 2)
    keys = [replace(KEY, fingerprint=str(number) * 40) for number in range(4)]
    for key in keys[:3]:
        cache.store(key, ARTIFACT)
        os.utime(cache.path_of(key), (1 << 32, 1 << 32))
    left_over = tmp_path / "0123.gputemporary"
    left_over.touch()
    os.utime(left_over, (1 << 32, 1 << 32))
    assert cache.find(keys[1], ARG_TYPES).artifact is not None
    DiskCache(str(tmp_path), max_nbytes=cache.max_nbytes).store(keys[3], ARTIFACT)
    found = [cache.find(key, ARG_TYPES).artifact is not None for key in keys]
    assert found[1] and found[3] and found.count(True) == 3
    assert not left_over.exists()


def test_an_entry_above_the_limit_is_not_kept(tmp_path):
    """It would be the first to go, with all that was there before it."""
    roomy, small = DiskCache(str(tmp_path)), DiskCache(str(tmp_path), max_nbytes=len(GOOD))
    roomy.note("a.gputext", "text")
    with pytest.warns(CacheWarning, match=rf"{len(GOOD)} bytes are more than the folder's limit of {len(GOOD)} allows"):
        assert small.store(KEY, ARTIFACT)
    assert [path.name for path in tmp_path.iterdir()] == ["a.gputext"]


def test_the_folder_is_not_listed_for_each_file(tmp_path, monkeypatch):
    """600 files took 1.7 s when it was."""
    listings = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: listings.append(folder) or scandir(folder))
    monkeypatch.setattr(os, "listdir", None)
    cache = DiskCache(str(tmp_path))
    for number in range(600):
        cache.note(f"{number}.gputext", "x" * 100)
    assert len(listings) == 1


def test_twenty_processes_keep_the_limit_together(tmp_path):
    """Each knows what it has written itself, and what it found when it last listed the folder."""
    limit, text = 200_000, "x" * 50
    caches = [DiskCache(str(tmp_path), max_nbytes=limit) for _ in range(20)]
    for number in range(20):
        caches[number].note(f"old_{number}.gputext", "x" * (limit // 21))
        os.utime(tmp_path / f"old_{number}.gputext", (number, number))
    for number in range(50):
        for process, cache in enumerate(caches):
            cache.note(f"{process}_{number}.gputext", text)
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= limit
    new = {f"{process}_{number}.gputext" for process in range(20) for number in range(50)}
    old = {path.name for path in tmp_path.iterdir()} - new
    assert old == {f"old_{number}.gputext" for number in range(20 - len(old), 20)}
    n_that_fit = (limit - len(new) * (len(text) + 41)) // (limit // 21)
    assert n_that_fit - 1 <= len(old) <= n_that_fit


def test_implementations_count_and_go_as_kernels_do(tmp_path):
    """Those of other versions are never found, so they grow old and go first."""
    cache = DiskCache(str(tmp_path), max_nbytes=3 * len(GOOD))
    store = OverloadFiles((cache,), own_source=lambda: "source", keeps=True)
    older = OverloadFiles((cache,), own_source=lambda: "source of last year", keeps=True)
    text = "x" * (len(GOOD) * 9 // 10)
    older.keep("sum", text)
    store.keep("sum", text)
    cache.store(KEY, ARTIFACT)
    for age, path in enumerate((*cache.overloads(), *cache.entries())):
        os.utime(path, (1000 + age, 1000 + age))
    assert store.find("sum") == text
    store.keep("max", text)
    assert older.find("sum") is None
    assert cache.find(KEY, ARG_TYPES).artifact == ARTIFACT
    assert (store.find("sum"), store.find("max")) == (text, text)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= cache.max_nbytes
