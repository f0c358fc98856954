"""Where numba-cuda's tests are: a pinned wheel, unpacked in the user's cache folder. Before: PyPI. After: child."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

VERSION = "0.30.4"
FOLDER = Path.home() / ".cache" / "numba-cuda-suite"
_TIMEOUT_S = 120


class NoWheel(Exception):
    """The wheel is not in the cache, and could not be downloaded."""


def suite_folder() -> Path:
    """The folder numba/cuda/tests of the wheel, downloaded where it is not there yet. Raises NoWheel."""
    tests = FOLDER / "numba_cuda" / "numba" / "cuda" / "tests"
    if not tests.is_dir():
        _download()
    if not tests.is_dir():
        raise NoWheel(f"numba-cuda {VERSION} has no folder {tests}")
    return tests


def _download() -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(FOLDER)]
    try:
        subprocess.run([*pip, f"numba-cuda=={VERSION}"], check=True, capture_output=True, text=True, timeout=_TIMEOUT_S)
    except (subprocess.SubprocessError, OSError) as error:
        reason = str(getattr(error, "stderr", "") or error).strip().splitlines()[-1:]
        raise NoWheel(
            f"offline? numba-cuda {VERSION} is not in {FOLDER} and could not be downloaded: {reason}"
        ) from error
