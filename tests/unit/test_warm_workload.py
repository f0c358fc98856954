"""`python -m numba_metal warm` without a module, on a workload of one kernel, with bounds checks and without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.warm_commands import Command

pytest_plugins = ["tests.unit.warm_commands"]

SMALL = """
import sys
from numba_gpucore.warm import command, workload
workload._KERNELS, workload._FLOAT_KERNELS = workload._KERNELS[:1], ()
workload._DTYPES["metal"] = ("float32",)
sys.exit(command.main("numba_metal", ["warm"]))
"""


def test_warming_up_again_does_only_what_is_missing(command: Command, tmp_path: Path) -> None:
    first, second = command("-c", SMALL), command("-c", SMALL)
    assert first.stdout.startswith("kernels of our own: 2 lowered, 0 known, "), first.stderr
    assert second.stdout.startswith("kernels of our own: 0 lowered, 2 known, ")
    files = {path.name: path.read_bytes() for path in (tmp_path / "cache").iterdir()}
    missing = min(path for path in (tmp_path / "cache").glob("*.gpuoverload"))
    missing.unlink()
    assert command("-c", SMALL).stdout.startswith("kernels of our own: 2 lowered, 0 known, ")
    assert {path.name: path.read_bytes() for path in (tmp_path / "cache").iterdir()} == files


def test_a_folder_that_is_too_small_for_the_workload_is_told(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_GPU_CACHE_NBYTES", "20000")
    child = command("-c", SMALL)
    assert (child.returncode, child.stderr) == (
        1,
        "new kernels will be slower than they could be: the cache folder does not take all that they need: "
        "is there room, and is NUMBA_GPU_CACHE_NBYTES large enough?\n",
    )
