"""How long a session takes to its first kernel: whole processes, each case in turn, medians.

    python benchmarks/first_kernel.py [--json FILE] [--picture FILE] [--runs N] [--quick] [--peer-python PYTHON]

(a) Python and NumPy; (b) our kernel from the cache, on the CPU device; (c) a new kernel after `python -m numba_ptxplus
warm`; (d) the same with nothing on disk; (e) `@numba.njit(cache=True)` from its cache; (f) the same with nothing on
disk; (g) the first kernel to PTX. numba-cuda, for (g), is best kept in an environment of its own, whose Python
--peer-python names. Exit status 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from report import Row, print_heading, print_row, print_summary, write_json

ROOT = Path(__file__).resolve().parent.parent
CHILD = Path(__file__).resolve().with_name("first_kernel_child.py")
TITLES = {
    "a": "Python + NumPy",
    "b": "known kernel",
    "c": "new kernel, warmed up",
    "d": "new kernel, cold",
    "e": "njit hit",
    "f": "njit cold",
    "g": "first kernel to PTX",
    "numba-cuda": "numba-cuda's first to PTX",
}
#: Each case that must find nothing has a folder that is emptied before each run.
_EMPTIED = ("d", "f", "g")
MAX_KNOWN_OVER_NUMPY_S = 0.090
MAX_IMPORT_S = 0.025


@dataclass
class Case:
    """A case's runs: seconds of whole processes, and of the stages that each process told."""

    name: str
    python: str
    cache: Path
    wall_s: list[float] = field(default_factory=list)
    stages_s: dict[str, list[float]] = field(default_factory=dict)

    def run(self, environment: dict[str, str], counts: bool = True) -> None:
        if self.name in _EMPTIED:
            shutil.rmtree(self.cache, ignore_errors=True)
        start = time.perf_counter()
        line = [self.python, str(CHILD), self.name]
        variables = {**environment, "NUMBA_CACHE_DIR": str(self.cache)}
        child = subprocess.run(line, env=variables, capture_output=True, text=True, timeout=300, check=False)
        wall_s = time.perf_counter() - start
        if child.returncode:
            raise SystemExit(f"case {self.name} failed:\n{child.stderr}")
        if counts:
            stages = json.loads(child.stdout)
            self.wall_s.append(wall_s)
            for stage, seconds in {"start Python": wall_s - sum(stages.values()), **stages}.items():
                self.stages_s.setdefault(stage, []).append(seconds)

    @property
    def median_s(self) -> float:
        return statistics.median(self.wall_s)

    def without_numba_s(self) -> float:
        """Median of whole processes less what they took to import Numba."""
        return statistics.median(
            wall - numba for wall, numba in zip(self.wall_s, self.stages_s["import numba"], strict=True)
        )


def measure(folder: Path, n_runs: int, is_quick: bool, peer_python: str | None) -> dict[str, Case]:
    """Run every case once to fill what it may find on disk, then `n_runs` times in turn."""
    names = [name for name in TITLES if name != "numba-cuda" or peer_python]
    cases = {
        name: Case(name, peer_python if name == "numba-cuda" and peer_python else sys.executable, folder / name)
        for name in names
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = {**kept, "PYTHONPATH": str(ROOT), "NUMBA_METAL_DEVICE": "cpu", "NUMBA_PTXPLUS_DEVICE": "cpu"}
    if not is_quick:
        # As where a package is installed: modules have been compiled to bytecode before.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        warm = [sys.executable, "-m", "numba_ptxplus", "warm"]
        subprocess.run(warm, env={**environment, "NUMBA_CACHE_DIR": str(folder / "c")}, check=True)
    for case in cases.values():
        if not is_quick or case.name in "be":
            case.run(environment, counts=False)
    for _ in range(n_runs):
        for case in cases.values():
            case.run(environment)
    return cases


def make_rows(cases: dict[str, Case]) -> list[Row]:
    a, b, c, d, e = (cases[name] for name in "abcde")
    over_numpy_s = b.median_s - a.median_s
    import_s = statistics.median(b.stages_s["import ours"])
    rows = [
        Row("(b) known kernel, over (a)", over_numpy_s, "90 ms", MAX_KNOWN_OVER_NUMPY_S,
            over_numpy_s / MAX_KNOWN_OVER_NUMPY_S, 1.0),
        Row("import numba_metal after NumPy", import_s, "25 ms", MAX_IMPORT_S, import_s / MAX_IMPORT_S, 1.0),
        Row("(b) known kernel", b.median_s, "(e) njit hit", e.median_s, b.median_s / e.median_s, 0.45),
        Row("(c) new kernel, warm, less import numba", c.without_numba_s(), "(d) nothing on disk",
            d.without_numba_s(), c.without_numba_s() / d.without_numba_s(), 0.6),
        Row("(d) new kernel, nothing on disk", d.median_s, "(f) njit cold", cases["f"].median_s,
            d.median_s / cases["f"].median_s, None),
    ]  # fmt: skip
    if "numba-cuda" in cases:
        ours_s, peer_s = cases["g"].median_s, cases["numba-cuda"].median_s
        rows.append(Row("(g) first kernel to PTX", ours_s, "numba-cuda", peer_s, ours_s / peer_s, 0.5))
    return rows


def print_cases(cases: Sequence[Case]) -> None:
    for case in cases:
        stages = ", ".join(
            f"{stage} {1e3 * statistics.median(seconds):.0f}" for stage, seconds in case.stages_s.items()
        )
        name = f"({case.name})" if len(case.name) == 1 else ""
        print(f"{name:4}{TITLES[case.name]:28} {1e3 * case.median_s:6.0f} ms: {stages}")


def draw(cases: Sequence[Case], path: Path) -> None:
    """Stacked bars: where the time goes."""
    import matplotlib  # noqa: PLC0415  only where a picture is wanted

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    stages = list(dict.fromkeys(stage for case in cases for stage in case.stages_s))
    labels = [f"({case.name}) {TITLES[case.name]}" for case in cases]
    figure, axes = pyplot.subplots(figsize=(9, 0.5 * len(cases) + 1.5), layout="constrained")
    left = [0.0] * len(cases)
    for stage in stages:
        widths = [1e3 * statistics.median(case.stages_s.get(stage, [0.0])) for case in cases]
        axes.barh(labels, widths, left=left, label=stage)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("ms, medians of whole processes")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to FILE")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw where the time goes")
    parser.add_argument("--runs", type=int, default=9, metavar="N", help="runs of each case (default 9)")
    parser.add_argument("--quick", action="store_true", help="one run each, no warm-up: shows only that all works")
    parser.add_argument("--peer-python", metavar="PYTHON", help="a Python that has numba-cuda")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-kernel-") as folder:
        n_runs = 1 if options.quick else options.runs
        cases = measure(Path(folder), n_runs, options.quick, options.peer_python)
    print_cases(list(cases.values()))
    rows = make_rows(cases)
    print_heading()
    for row in rows:
        print_row(row)
    print_summary(rows)
    if options.json:
        write_json(rows, options.json)
    if options.picture:
        draw(list(cases.values()), options.picture)
    return int(not options.quick and any(row.verdict == "MISSED" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
