"""benchmarks/first_kernel.py runs every case and writes what it measured."""

from __future__ import annotations

import json
import math
from pathlib import Path

BENCHMARK = Path(__file__).resolve().parent.parent / "benchmarks" / "first_kernel.py"


def test_first_kernel_runs_and_writes_rows(run_python, tmp_path):
    """The cases check their own results."""
    rows_path, picture = tmp_path / "rows.json", tmp_path / "stages.png"
    output = run_python(BENCHMARK, "--quick", "--json", rows_path, "--picture", picture, timeout_s=290).stdout
    assert "goals met" in output and "(g) first kernel to PTX" in output
    rows = json.loads(rows_path.read_text())["rows"]
    assert {frozenset(row) for row in rows} == {frozenset({"name", "ours_s", "peer", "peer_s", "ratio", "goal"})}
    # Some are differences, which on a busy machine may come out below zero.
    assert len(rows) == 5 and all(math.isfinite(row["ours_s"]) and row["peer_s"] != 0 for row in rows)
    assert picture.read_bytes().startswith(b"\x89PNG")
