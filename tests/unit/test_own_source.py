"""The digest of our own source: a change to a code generator is another key, whatever the version says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from numba_gpucore.base import own_source


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two source files."""
    for name in ("numba_gpucore/base", "numba_metal/codegen"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text(name)
    monkeypatch.setattr(own_source, "_PACKAGE_FOLDER", str(tmp_path / "numba_gpucore"))
    return tmp_path


def describe() -> tuple[str, str]:
    return own_source.digest_own_source(), own_source.state_of_own_source()


def test_a_changed_file_changes_both_digests(checkout: Path) -> None:
    before = describe()
    assert describe() == before
    (checkout / "numba_metal/codegen/__init__.py").write_text("other text")
    after = describe()
    assert after[0] != before[0] and after[1] != before[1]


def test_time_changes_the_state_only(checkout: Path) -> None:
    before = describe()
    os.utime(checkout / "numba_metal/codegen/__init__.py", ns=(1, 1))
    after = describe()
    assert after[0] == before[0] and after[1] != before[1]


def test_a_new_file_counts_and_bytecode_does_not(checkout: Path) -> None:
    before = describe()
    (checkout / "numba_gpucore/base/__pycache__").mkdir()
    (checkout / "numba_gpucore/base/__pycache__/a.py").write_text("x")
    assert describe() == before
    (checkout / "numba_gpucore/base/new.ll").write_text("x")
    assert describe()[0] != before[0]


def test_a_wheel_carries_its_digest(checkout: Path) -> None:
    assert own_source.read_shipped_digest() is None
    (checkout / "numba_gpucore" / own_source.DIGEST_FILE).write_text("abc\n")
    assert own_source.read_shipped_digest() == "abc"
