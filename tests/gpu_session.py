"""What gpu_session.sh runs: the catalogue and the benchmark kernels on a real GPU, each part in its own process.

    python -m tests.gpu_session OUT.json             all parts; the parent touches no GPU
    python -m tests.gpu_session --part NAME FOLDER   one part: catalogue, ours, numba-cuda

A part prints JSON on its last line. Both benchmark parts save what their kernels computed in FOLDER, and the parent
holds ours against NumPy's result and numba-cuda's.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.gpu_workloads import make_workloads

#: Seconds that each part may take; together less than the script's 360.
PARTS = {"catalogue": 150, "ours": 90, "numba-cuda": 90}
N_LAUNCHES = 50
LITERALS = {"plain": float, "float32": np.float32}


def main(arguments: list[str]) -> int:
    if arguments[0] == "--part":
        _flag, part, folder = arguments
        run = {"catalogue": run_catalogue, "ours": run_ours, "numba-cuda": run_numba_cuda}[part]
        print(json.dumps(run(Path(folder))))
        return 0
    with tempfile.TemporaryDirectory(prefix="gpu_session_") as folder:
        report = {part: run_part(part, folder, timeout_s) for part, timeout_s in PARTS.items()}
        report["comparison"] = compare(Path(folder))
    Path(arguments[0]).write_text(json.dumps(report, indent=1) + "\n")
    faults = list(find_faults(report))
    print(*faults, f"wrote {arguments[0]}", sep="\n")
    return 1 if faults else 0


def run_part(part: str, folder: str, timeout_s: int) -> dict[str, Any]:
    """The part's report, or {"error": why there is none}."""
    environment = {**os.environ, "NUMBA_PTXPLUS_DEVICE": "cuda", "NUMBA_CACHE_DIR": folder}
    command = [sys.executable, "-m", "tests.gpu_session", "--part", part, folder]
    try:
        child = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {timeout_s} s"}
    if child.returncode:
        return {"error": f"exited {child.returncode}", "output": child.stdout[-2000:] + child.stderr[-4000:]}
    report: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return report


def run_catalogue(folder: Path) -> dict[str, Any]:
    """Every case of tests/device on the GPU: which pass, and why the others do not."""
    import numba_ptxplus  # noqa: PLC0415  each part loads its own tool
    from tests.device.catalogue import all_cases  # noqa: PLC0415

    device = numba_ptxplus.get_current_device()
    report: dict[str, Any] = {"device": device.name, "arch": device.arch, "passed": [], "failed": {}}
    for case in all_cases():
        arguments = case.make_args(np.random.default_rng(case.seed))
        before = copy.deepcopy(arguments)
        try:
            numba_ptxplus.jit(case.kernel)[case.grid, case.block, None, case.shared_nbytes](*arguments)
            case.check(before, arguments)
        except Exception:
            report["failed"][case.name] = traceback.format_exc(limit=-2)
        else:
            report["passed"].append(case.name)
    return report


def run_ours(folder: Path) -> dict[str, Any]:
    import numba_ptxplus as cuda  # noqa: PLC0415
    from numba_gpucore.launch.session import default_session  # noqa: PLC0415
    from numba_ptxplus.target import PLATFORM  # noqa: PLC0415

    device: Any = default_session().current_device(PLATFORM)

    def time_ms(launch: Callable[[], None]) -> float:
        queue, start, end = device.default_queue(), device.open_event(), device.open_event()
        start.record(queue)
        for _ in range(N_LAUNCHES):
            launch()
        end.record(queue)
        end.synchronize()
        elapsed_ms: float = start.elapsed_ms(end)
        return elapsed_ms / N_LAUNCHES

    return run_benchmark(cuda, time_ms, folder / "ours")


def run_numba_cuda(folder: Path) -> dict[str, Any]:
    from numba import cuda  # noqa: PLC0415

    def time_ms(launch: Callable[[], None]) -> float:
        start, end = cuda.event(), cuda.event()
        start.record()
        for _ in range(N_LAUNCHES):
            launch()
        end.record()
        end.synchronize()
        elapsed_ms: float = cuda.event_elapsed_time(start, end)
        return elapsed_ms / N_LAUNCHES

    return run_benchmark(cuda, time_ms, folder / "numba-cuda")


def run_benchmark(cuda: Any, time_ms: Callable[[Callable[[], None]], float], folder: Path) -> dict[str, Any]:
    """Kernel and first-launch milliseconds of each workload; results go into `folder`."""
    folder.mkdir()
    report: dict[str, Any] = {}
    for literals, number in LITERALS.items():
        for workload in make_workloads(cuda, number):
            name = f"{workload.name}, {literals}"
            arrays = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in workload.arguments]
            kernel = cuda.jit(workload.kernel)[workload.grid, workload.block]
            start = time.perf_counter()
            kernel(*arrays)
            cuda.synchronize()
            first_ms = 1e3 * (time.perf_counter() - start)
            np.save(folder / f"{name}.npy", arrays[workload.output].copy_to_host())
            kernel_ms = time_ms(lambda kernel=kernel, arrays=arrays: kernel(*arrays))  # type: ignore[misc]
            report[name] = {"first_launch_ms": first_ms, "kernel_ms": kernel_ms}
    return report


def compare(folder: Path) -> dict[str, Any]:
    """For each workload the largest difference from NumPy and from numba-cuda, over the largest value."""
    report = {}
    for literals, number in LITERALS.items():
        for workload in make_workloads(_Named(), number):
            name = f"{workload.name}, {literals}"
            report[name] = {
                "tolerance": workload.tolerance,
                "from_numpy": _difference(folder / "ours" / f"{name}.npy", workload.expected),
                "from_numba_cuda": _difference(folder / "ours" / f"{name}.npy", folder / "numba-cuda" / f"{name}.npy"),
            }
    return report


class _Named:
    """Stands for a cuda module where kernels are named, not compiled."""


def _difference(path: Path, other: np.ndarray | Path) -> float | None:
    """None where one of the two is missing."""
    if not path.exists() or (isinstance(other, Path) and not other.exists()):
        return None
    ours = np.load(path).astype(np.float64)
    theirs = (np.load(other) if isinstance(other, Path) else other).astype(np.float64)
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def find_faults(report: dict[str, Any]) -> list[str]:
    faults = [f"{part}: {report[part]['error']}" for part in PARTS if "error" in report[part]]
    faults += [f"catalogue: {name} failed" for name in report["catalogue"].get("failed", {})]
    for name, row in report["comparison"].items():
        if row["from_numpy"] is not None and row["from_numpy"] > row["tolerance"]:
            faults.append(f"{name}: differs from NumPy by {row['from_numpy']:.3g}, allowed is {row['tolerance']:.3g}")
    return faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
