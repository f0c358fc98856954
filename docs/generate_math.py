"""Measure how exact the functions of reals are, and write docs/math.md.

    python docs/generate_math.py              as `make docs-math` does
    python docs/generate_math.py --divide 16  with a sixteenth of the arguments, for a first look

Functions, bounds and samples are those of tests/accuracy; `make test` holds smaller samples to the bounds.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs import math_page  # noqa: E402  the project is not installed where documentation is built
from tests.accuracy.complex_functions import COMPLEX_FUNCTIONS, COMPLEX_TYPES, measure_complex  # noqa: E402
from tests.accuracy.functions import F16, F32, F64, FUNCTIONS, RealFunction  # noqa: E402
from tests.accuracy.levels import TYPES, Level, open_level  # noqa: E402
from tests.accuracy.measure import Sample, measure  # noqa: E402
from tests.accuracy.samples import COUNTS, arguments  # noqa: E402
from tests.accuracy.specials import SHOWN, special_answers, special_arguments, wrong_answers  # noqa: E402

FOLDER = ROOT / "out" / "math"
PAGE = ROOT / "docs" / "math.md"
#: Processes that share the work; the PTX machine keeps one core busy.
N_PARTS = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--divide", type=int, default=1, help="a power of two")
    parser.add_argument("--part", type=int, help="measure one part of the work only")
    options = parser.parse_args()
    if options.part is not None:
        measure_part(options.part, options.divide)
        return 0
    command = [sys.executable, __file__, "--divide", str(options.divide), "--part"]
    children = [subprocess.Popen([*command, str(part)]) for part in range(N_PARTS)]
    if failed := max(child.wait() for child in children):
        return failed
    write_page(options.divide)
    return 0


def measure_part(part: int, divide: int) -> None:
    """Every N_PARTS-th function, into out/math/PART.json."""
    report: dict[str, Any] = {"reals": {}, "complexes": {}}
    for function in FUNCTIONS[part::N_PARTS]:
        report["reals"][function.name] = measure_function(function, divide)
    for function in COMPLEX_FUNCTIONS[part::N_PARTS]:
        report["complexes"][function.__name__] = measure_complex_function(function)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{part}.json").write_text(json.dumps(report, indent=1) + "\n")


def measure_function(function: RealFunction, divide: int) -> dict[str, Any]:
    """{level: {type: what was measured, "fastmath" and "special": see below}}"""
    counts = {F16: COUNTS[F16], F32: COUNTS[F32] // divide, F64: COUNTS[F64] // divide}
    samples = {
        dtype: Sample.of(function, arguments(dtype, function.arity, function.busy, count))
        for dtype, count in counts.items()
    }
    report: dict[str, Any] = {}
    for name, types in TYPES.items():
        with open_level(name) as level:
            report[name] = {dtype.name: measure_sample(level, samples[dtype]) for dtype in types}
            if name == "cpu":
                report[name]["fastmath"] = measure_fastmath(level, samples[F32])
                if function.arity == 1:
                    shown = np.array(SHOWN, F32)
                    report[name]["special"] = special_answers(level, function, (shown,)).tolist()
    return report


def measure_sample(level: Level, sample: Sample) -> dict[str, Any]:
    """error, near_zeros: see Measurement. wrong: special numbers whose answers are wrong in kind."""
    measured = measure(level, sample)
    x = special_arguments(sample.function, sample.arguments[0].dtype)
    wrong = wrong_answers(sample.function, x, special_answers(level, sample.function, x))
    return {"error": measured.error, "near_zeros": measured.near_zeros, "at": measured.arguments, "wrong": wrong}


def measure_fastmath(level: Level, sample: Sample) -> float:
    """Of finite results that are no poles; fastmath promises that there are no others."""
    is_finite = np.isfinite(sample.exact.rounded(F32))
    for column in sample.arguments:
        is_finite &= np.isfinite(column)
    finite = Sample.of(sample.function, tuple(column[is_finite] for column in sample.arguments))
    return measure(level, finite, fastmath=True).error


def measure_complex_function(function: Any) -> dict[str, dict[str, float]]:
    report = {}
    for name in TYPES:
        with open_level(name) as level:
            types = [dtype for dtype in COMPLEX_TYPES if name != "msl" or dtype == np.complex64]
            report[name] = {dtype.name: measure_complex(level, function, dtype) for dtype in types}
    return report


def write_page(divide: int) -> None:
    parts = [json.loads((FOLDER / f"{part}.json").read_text()) for part in range(N_PARTS)]
    reals = {name: found for part in parts for name, found in part["reals"].items()}
    complexes = {name: found for part in parts for name, found in part["complexes"].items()}
    machine = f"{platform.machine()}, {' '.join(platform.libc_ver())}"
    PAGE.write_text(math_page.render(math_page.Results(machine, divide, reals, complexes)))


if __name__ == "__main__":
    raise SystemExit(main())
