"""Rows of a benchmark as a table and as JSON. Before: benchmarks/measure. After: a reader."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import SMOKE_TEST, Comparison, Plan


@dataclass(frozen=True)
class Row:
    """`ratio` is ours over the peer's, so less is better; `goal` is its upper limit, None where there is none."""

    name: str
    ours_s: float
    peer: str
    peer_s: float
    ratio: float
    goal: float | None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return "met" if self.ratio <= self.goal else "MISSED"


@dataclass(frozen=True)
class Options:
    plan: Plan
    is_smoke_test: bool
    json_path: Path | None


def parse_options(description: str) -> Options:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to FILE")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one run each: shows only that all works")
    arguments = parser.parse_args()
    return Options(SMOKE_TEST if arguments.quick else Plan(), arguments.quick, arguments.json)


def make_row(name: str, peer: str, comparison: Comparison, goal: float | None) -> Row:
    note = ""
    if comparison.n_disturbed:
        note = f"{comparison.n_disturbed} blocks disturbed, others used up to {comparison.foreign_share:.0%}"
    return Row(name, comparison.ours_s, peer, comparison.peer_s, comparison.ratio, goal, note)


def print_row(row: Row) -> None:
    goal = "" if row.goal is None else f"{row.goal:g}"
    print(
        f"{row.name:40} {_seconds(row.ours_s):>10}  {row.peer:30} {_seconds(row.peer_s):>10} "
        f"{row.ratio:>9.3g} {goal:>7} {row.verdict:7}{row.note}",
        flush=True,
    )


def print_heading() -> None:
    print(f"{'':40} {'ours':>10}  {'peer':30} {'peer':>10} {'ratio':>9} {'goal':>7}")


def print_summary(rows: Sequence[Row]) -> None:
    missed = [row for row in rows if row.verdict == "MISSED"]
    goals = [row for row in rows if row.goal is not None]
    print(f"{len(goals) - len(missed)} of {len(goals)} goals met")


def write_json(rows: Sequence[Row], path: Path) -> None:
    fields = ("name", "ours_s", "peer", "peer_s", "ratio", "goal")
    document = {"rows": [{field: getattr(row, field) for field in fields} for row in rows]}
    path.write_text(json.dumps(document, indent=1) + "\n")


def _seconds(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
