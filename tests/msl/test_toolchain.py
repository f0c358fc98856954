"""The folder of what clang makes does not grow without limit."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.msl.toolchain import trim_cache


def test_what_was_not_used_for_longest_goes(tmp_path: Path) -> None:
    """Of five files of 100 bytes 300 bytes may stay; the last two are in use."""
    now = time.time()
    for name, used in (("b", now - 7000), ("a", now - 8000), ("c", now - 6000), ("d", now), ("e", now)):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (used, used))
    trim_cache(tmp_path, 300)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "d", "e"]
    trim_cache(tmp_path, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "e"]
