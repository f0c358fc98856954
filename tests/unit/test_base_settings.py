"""Where the cache is when nobody says so. Source: XDG Base Directory Specification; Apple, Known Folders."""

from __future__ import annotations

import os
import sys

import pytest

from numba_gpucore.base.settings import Settings


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, "/home/ada/.cache/numba-metal"),
        ("linux", {"XDG_CACHE_HOME": "/fast"}, "/fast/numba-metal"),
        ("linux", {"XDG_CACHE_HOME": "/fast", "NUMBA_CACHE_DIR": "/named"}, "/named"),
        ("darwin", {"XDG_CACHE_HOME": "/fast"}, "/home/ada/Library/Caches/numba-metal"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    platform: str, environ: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/ada")
    settings = Settings.from_environment(environ)
    assert settings.cache_folder == folder
    assert settings.caches_by_default == ("NUMBA_CACHE_DIR" in environ)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users are numbers on POSIX")
def test_a_user_without_a_home_has_a_folder_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a container's with a number for a user: Python leaves "~" as it is, which would be a folder's name."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    own = f"numba-metal-{os.getuid()}"
    assert Settings.from_environment({}).cache_folder == f"/tmp/{own}"
    assert Settings.from_environment({"TMPDIR": "/scratch"}).cache_folder == f"/scratch/{own}"
    assert Settings.from_environment({"XDG_CACHE_HOME": "/fast"}).cache_folder == "/fast/numba-metal"
