"""Measure how exact the functions of reals are, and write docs/math.md.

    python docs/generate_math.py                all of it; `make docs-math`
    python docs/generate_math.py measure LEVEL  one level (cpu, ptx or msl) into out/math/LEVEL.json
    python docs/generate_math.py write          docs/math.md from those files

Functions, bounds and samples are those of tests/accuracy; `make test` holds smaller samples to the bounds.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs import math_page  # noqa: E402  the project is not installed where documentation is built
from tests.accuracy.complex_functions import COMPLEX_FUNCTIONS, COMPLEX_TYPES, measure_complex  # noqa: E402
from tests.accuracy.functions import F32, FUNCTIONS  # noqa: E402
from tests.accuracy.levels import TYPES, Level, open_level  # noqa: E402
from tests.accuracy.measure import Sample, measure  # noqa: E402
from tests.accuracy.samples import arguments  # noqa: E402
from tests.accuracy.specials import SHOWN, special_answers, special_arguments, wrong_answers  # noqa: E402

FOLDER = ROOT / "out" / "math"
PAGE = ROOT / "docs" / "math.md"


def main(arguments: list[str]) -> int:
    match arguments:
        case ["measure", level]:
            measure_level(level)
        case ["write"]:
            write_page()
        case []:
            command = [sys.executable, __file__, "measure"]
            # The PTX machine takes as long as both others together.
            children = [subprocess.Popen([*command, "ptx"]), subprocess.Popen([*command, "cpu"])]
            failed = children[1].wait() or subprocess.call([*command, "msl"]) or children[0].wait()
            if failed:
                return failed
            write_page()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def measure_level(name: str) -> None:
    start = time.monotonic()
    with open_level(name) as level:
        report: dict[str, Any] = {"machine": f"{platform.machine()}, {' '.join(platform.libc_ver())}"}
        report["reals"] = {function.name: measure_function(level, function) for function in FUNCTIONS}
        report["complexes"] = {
            function.__name__: {
                dtype.name: measure_complex(level, function, dtype)
                for dtype in COMPLEX_TYPES
                if level.name != "msl" or dtype == np.complex64
            }
            for function in COMPLEX_FUNCTIONS
        }
    report["seconds"] = round(time.monotonic() - start)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")


def measure_function(level: Level, function: Any) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for dtype in TYPES[level.name]:
        sample = Sample.of(function, arguments(dtype, function.arity, function.busy))
        measured = measure(level, sample)
        report[dtype.name] = {"error": measured.error, "near_zeros": measured.near_zeros, "at": measured.arguments}
        if level.name == "cpu" and dtype == F32:
            report["fastmath"] = measure_fastmath(level, sample)
        x = special_arguments(function, dtype)
        answers = special_answers(level, function, x)
        report[dtype.name]["wrong"] = wrong_answers(function, x, answers)
        if dtype == F32 and function.arity == 1:
            report["special"] = special_answers(level, function, (np.array(SHOWN, dtype),)).tolist()
    return report


def measure_fastmath(level: Level, sample: Sample) -> float:
    """Of finite results that are no poles; fastmath promises that there are no others."""
    is_finite = np.isfinite(sample.exact.rounded(F32))
    for column in sample.arguments:
        is_finite &= np.isfinite(column)
    finite = Sample.of(sample.function, tuple(column[is_finite] for column in sample.arguments))
    return measure(level, finite, fastmath=True).error


def write_page() -> None:
    reports = {name: json.loads((FOLDER / f"{name}.json").read_text()) for name in TYPES}
    PAGE.write_text(math_page.render(reports))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
