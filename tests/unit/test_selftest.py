"""`python -m numba_metal selftest`: what it prints, what it writes, and that it can fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import numba_metal
from numba_gpucore.selftest.case import Case
from numba_gpucore.selftest.report import DEFAULT_CASES, run_selftest
from tests.levels import opened_level


def copy_items(x, out):
    i = numba_metal.grid(1)
    out[i] = x[i]


def divide_by_item(x, out):
    i = numba_metal.grid(1)
    if x[i] > 2:
        raise ValueError("too large")
    out[i] = x[i]


def make_args(_rng):
    return np.arange(4, dtype=np.float32), np.zeros(4, np.float32)


def expect_copy(x, out):
    return {1: x}


GOOD = Case(copy_items, make_args, expect_copy, block=4)
WRONG = Case(copy_items, make_args, lambda x, out: {1: x + 1}, block=4, name="wrong")
THROWS = Case(divide_by_item, make_args, expect_copy, block=4)
REFUSED = Case(
    copy_items,
    lambda _rng: (np.zeros(4), np.zeros(4)),
    expect_copy,
    block=4,
    needs=frozenset({"float64"}),
    name="refused",
)


@pytest.fixture
def run_on_double(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def run(*cases: Case) -> tuple[int, dict]:
        module = ModuleType("cases_of_this_test")
        module.all_cases = lambda: cases  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        path = tmp_path / "report.json"
        with opened_level("metal double"):
            status = run_selftest("numba_metal", module.__name__, path)
        return status, json.loads(path.read_text())

    return run


def test_right_and_refused_kernels_pass(run_on_double, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = run_on_double(GOOD, REFUSED)
    assert status == 0
    assert [(r["name"], r["outcome"]) for r in report["results"]] == [("copy_items", "ok"), ("refused", "refused")]
    assert report["results"][0]["launch_ms"] > 0
    assert report["machine"]["device kind"] == "metal"
    assert report["machine"]["MSL version"] == "3.2"
    printed = capsys.readouterr().out
    assert "CPU device" not in printed
    assert "1 ok, 1 refused; details are in" in printed


def test_wrong_numbers_and_errors_fail(run_on_double, capsys: pytest.CaptureFixture[str]) -> None:
    """The report holds the MSL of what went wrong."""
    status, report = run_on_double(WRONG, THROWS)
    assert status == 1
    wrong, throws = report["results"]
    assert wrong["outcome"] == "WRONG" and "Mismatched elements: 4 / 4" in wrong["text"]
    assert throws["outcome"] == "ERROR" and "ValueError: too large" in throws["text"]
    assert "kernel void kernel_copy_items" in wrong["code"]
    assert "kernel void kernel_divide_by_item" in throws["code"]
    assert "Mismatched elements: 4 / 4" in capsys.readouterr().out


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(tmp_path: Path, capsys) -> None:
    missing = tmp_path / "missing" / "report.json"
    for path, problem in ((missing, "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(OSError, match=f"{path} cannot be written: {problem}"):
            run_selftest("numba_metal", DEFAULT_CASES, path)
    assert capsys.readouterr().out == ""


def test_command_says_that_there_is_no_gpu(run_python, tmp_path: Path) -> None:
    """As a Linux user runs it; every kernel of the self-test is right on the CPU device."""
    path = tmp_path / "report.json"
    child = run_python("-m", "numba_metal", "selftest", "--json", path, NUMBA_METAL_DEVICE="cpu")
    assert "This machine has no GPU for numba_metal: they run on the CPU device" in child.stdout
    report = json.loads(path.read_text())
    assert {result["outcome"] for result in report["results"]} == {"ok"}
    assert len(report["results"]) >= 16
