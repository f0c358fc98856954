"""Versions read from the names of metadata folders are those that importlib.metadata reads from the metadata."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from numba_gpucore.base.versions import NOT_INSTALLED, metadata_folders, version_of


@pytest.fixture(autouse=True)
def _forget_versions() -> None:
    version_of.cache_clear()
    metadata_folders.cache_clear()


@pytest.mark.parametrize("package", ["numpy", "numba", "llvmlite"])
def test_version_is_that_of_the_metadata(package: str) -> None:
    assert version_of(package) == metadata.version(package)


def test_package_that_is_not_there() -> None:
    assert version_of("there_is_no_such_package") == NOT_INSTALLED


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package without metadata, on the path."""
    (tmp_path / "twice").mkdir()
    (tmp_path / "twice" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_package_without_metadata(package: Path) -> None:
    assert version_of("twice") == NOT_INSTALLED


def test_folder_name_tells_the_version(package: Path) -> None:
    (package / "twice-1.2.3rc1+local.dist-info").mkdir()
    assert version_of("twice") == "1.2.3rc1+local"


def test_leftovers_of_another_version_are_left_to_the_metadata(package: Path) -> None:
    for version in ("1.0", "2.0"):
        folder = package / f"twice-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: twice\nVersion: {version}\n")
    assert version_of("twice") == metadata.version("twice")
