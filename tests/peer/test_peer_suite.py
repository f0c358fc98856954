"""A chosen part of numba-cuda's own tests, on the device of this machine: what ought to pass does.

Tests that compare NVIDIA's texts or use its driver are left out: `portable.txt` lists the rest of the suite. Those of
them that do not pass are listed with their reasons in docs/porting_data.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.porting_data import TESTS_THAT_DO_NOT_PASS
from tests.peer.wheel import NoWheel, suite_folder

#: Quick modules, one for each part of the interface.
MODULES = (
    "test_array_args",
    "test_cooperative_groups",
    "test_cuda_array_interface",
    "test_device_array_capture",
    "test_enums",
    "test_forall",
    "test_overload",
    "test_random",
    "test_record_dtype",
    "test_retrieve_autoconverted_arrays",
    "test_serialize",
    "test_sm",
    "test_sync",
)
ROOT = Path(__file__).parents[2]
PORTABLE = (Path(__file__).parent / "portable.txt").read_text(encoding="utf-8").split()


@pytest.fixture(scope="module")
def suite() -> Path:
    try:
        return suite_folder()
    except NoWheel as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("module", MODULES)
def test_module(suite: Path, tmp_path: Path, module: str) -> None:
    result = tmp_path / "result.json"
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "tests.peer.child", "numba_ptxplus", module, str(result)]
    child = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=240)
    assert child.returncode == 0, child.stderr
    outcomes = json.loads(result.read_text(encoding="utf-8"))
    wanted = {test for test in PORTABLE if test.startswith(f"cudapy.{module}.")}
    failed = {test: outcomes.get(test, "absent") for test in wanted if outcomes.get(test, ["absent"])[0] != "pass"}
    listed = {test for test in TESTS_THAT_DO_NOT_PASS if test in wanted}
    assert set(failed) == listed, {test: failed.get(test, "passes, but is listed") for test in set(failed) ^ listed}
