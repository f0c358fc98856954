"""The benchmarks run, and their measuring tells the truth about what it is given."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def load_module(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


def test_cpu_device_runs_and_writes_rows(run_python, tmp_path):
    path = tmp_path / "rows.json"
    output = run_python(BENCHMARKS / "cpu_device.py", "--quick", "--json", path, timeout_s=290).stdout
    assert "goals met" in output
    rows = json.loads(path.read_text())["rows"]
    assert {frozenset(row) for row in rows} == {frozenset({"name", "ours_s", "peer", "peer_s", "ratio", "goal"})}
    names = {row["name"] for row in rows}
    for workload in ("saxpy", "Mandelbrot", "5-point stencil", "Black-Scholes", "block reduction", "tiled matmul"):
        assert {workload, f"{workload}, checks on"} <= names
    assert all(row["ours_s"] > 0 and row["peer_s"] > 0 and row["ratio"] > 0 for row in rows)


class _Clock:
    """A stand-in for time.perf_counter that only moves when a timed function moves it."""

    now_s = 0.0

    def perf_counter(self) -> float:
        return self.now_s

    def process_time(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def takes(self, seconds: float):
        def function() -> None:
            self.now_s += seconds

        return function


def test_ratio_is_ours_over_peer(load_module, monkeypatch):
    measure, clock = load_module("measure"), _Clock()
    monkeypatch.setattr(measure, "time", clock)
    monkeypatch.setattr(measure.ForeignClock, "foreign_share", lambda self: 0.0)
    comparison = measure.compare(clock.takes(0.003), clock.takes(0.002), measure.Plan())
    assert comparison.ours_s == pytest.approx(0.003)
    assert comparison.peer_s == pytest.approx(0.002)
    assert comparison.ratio == pytest.approx(1.5)
    assert comparison.n_disturbed == 0


def test_calls_while_the_other_function_settles_do_not_count(load_module, monkeypatch):
    """Each sample starts 5 ms after the other function's last call with calls that take 9 ms instead of 3."""
    measure, clock = load_module("measure"), _Clock()
    monkeypatch.setattr(measure, "time", clock)
    monkeypatch.setattr(measure.ForeignClock, "foreign_share", lambda self: 0.0)
    disturbed_until_s = 0.0

    def ours():
        clock.takes(0.009 if clock.now_s < disturbed_until_s else 0.003)()

    def peer():
        nonlocal disturbed_until_s
        clock.takes(0.002)()
        disturbed_until_s = clock.now_s + 0.005

    assert measure.compare(ours, peer, measure.Plan()).ratio == pytest.approx(1.5)


def test_disturbed_blocks_are_measured_again_and_counted(load_module, monkeypatch):
    """Shares of others, block by block: 50 % and then 2 % (kept); then 4 tries above 8 %, of which 9 % is kept."""
    measure, clock = load_module("measure"), _Clock()
    shares = iter([0.5, 0.02, 0.3, 0.09, 0.4, 0.2])
    monkeypatch.setattr(measure, "time", clock)
    monkeypatch.setattr(measure.ForeignClock, "foreign_share", lambda self: next(shares))
    comparison = measure.compare(
        clock.takes(0.003), clock.takes(0.002), measure.Plan(n_blocks=2, max_tries=4, max_wait_s=0.0)
    )
    assert comparison.n_disturbed == 1
    assert comparison.foreign_share == 0.09


def test_a_disturbed_block_waits_until_others_are_quiet(load_module, monkeypatch):
    """Shares of others: block 50 %, while waiting 30 % and 1 %, block 2 %. Then blocks have no wait left: 9 %, 5 %."""
    measure, clock = load_module("measure"), _Clock()
    shares = iter([0.5, 0.3, 0.01, 0.02, 0.09, 0.05])
    monkeypatch.setattr(measure, "time", clock)
    monkeypatch.setattr(measure.ForeignClock, "foreign_share", lambda self: next(shares))
    plan = measure.Plan(n_blocks=2, n_pairs=1, min_sample_s=0.0, settle_s=0.0, max_tries=2, max_wait_s=1.0)
    comparison = measure.compare(clock.takes(0.0), clock.takes(1e-9), plan)
    assert comparison.n_disturbed == 0
    assert clock.now_s == pytest.approx(1.0), "two waits of half a second"
    assert next(shares, None) is None


def test_a_missed_goal_is_said(load_module, capsys):
    report = load_module("report")
    rows = [report.Row("slow", 3.0, "peer", 2.0, 1.5, 1.2), report.Row("fast", 2.0, "peer", 2.0, 1.0, 1.2)]
    for row in rows:
        report.print_row(row)
    report.print_summary(rows)
    slow, fast, summary = capsys.readouterr().out.splitlines()
    assert "MISSED" in slow
    assert "met" in fast
    assert summary == "1 of 2 goals met"
