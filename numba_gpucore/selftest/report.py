"""The self-test's table and its JSON. Before: run. After: the terminal, a bug report."""

from __future__ import annotations

import json
import platform as host
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from numba_gpucore import __version__
from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.versions import version_of
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import default_session
from numba_gpucore.selftest.case import Case
from numba_gpucore.selftest.run import CaseResult, run_cases

DEFAULT_CASES = "numba_gpucore.selftest.kernels"
_PACKAGES = ("numpy", "numba", "llvmlite", "pyobjc_framework_Metal", "cuda_bindings")
_MSL_VERSION = late_pattern(r"-msl([\d.]+)$")
#: Outcomes that end with status 1, and whose texts are shown.
_FAILED = frozenset({"WRONG", "ERROR"})


def run_selftest(program: str, cases_module: str, json_path: Path) -> int:
    """Run the cases of a module on the device of the package `program`, print a table, write JSON.

    cases_module: a module with `all_cases()`. The result is the exit status: 0 if every kernel did what it must.
    Raises OSError where the JSON cannot be written, before anything runs.
    """
    _require_writable(json_path)
    platform: Platform = import_module(f"{program}.target").PLATFORM
    cases: tuple[Case, ...] = import_module(cases_module).all_cases()
    machine = describe_machine(platform)
    for name, value in machine.items():
        print(f"{name:<20} {value}")
    if machine["device kind"] == "cpu":
        print(f"\nThis machine has no GPU for {program}: they run on the CPU device, which tells nothing of GPUs.")
    results = print_table(run_cases(platform, cases))
    report = {"machine": machine, "results": [asdict(result) for result in results]}
    json_path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    counts = Counter(result.outcome for result in results)
    print(f"\n{', '.join(f'{count} {outcome}' for outcome, count in counts.items())}; details are in {json_path}")
    return int(bool(counts.keys() & _FAILED))


def _require_writable(path: Path) -> None:
    """Raise OSError where a file cannot be written; what is in it stays."""
    try:
        path.open("a").close()
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error


def describe_machine(platform: Platform) -> dict[str, str]:
    """Device, system and versions, by name."""
    device = default_session().current_device(platform)
    msl = _MSL_VERSION.search(device.arch)
    found = {
        "device": device.name,
        "device kind": device.kind,
        "architecture": device.arch,
        "MSL version": msl[1] if msl else "",
        "macOS": host.mac_ver()[0],
        "system": host.platform(),
        "Python": host.python_version(),
        "numba-metal": __version__,
        **{package: version_of(package) for package in _PACKAGES},
    }
    return {name: value for name, value in found.items() if value}


def print_table(results: Iterable[CaseResult]) -> list[CaseResult]:
    """Print a line for each result as it comes, and below it what went wrong."""
    print(f"\n{'kernel':<40} {'against NumPy':<14} {'first, ms':>10} {'launch, ms':>11}")
    printed = []
    for result in results:
        launch = "" if result.launch_ms is None else f"{result.launch_ms:.3f}"
        print(f"{result.name:<40} {result.outcome:<14} {result.first_ms:>10.1f} {launch:>11}", flush=True)
        if result.outcome in _FAILED:
            print("\n".join(f"    {line}" for line in result.text.strip().splitlines()[-12:]))
        printed.append(result)
    return printed
