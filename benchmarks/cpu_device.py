"""The compiled CPU device against hand-written @numba.njit(parallel=True) loops of the same maths, in one run.

Rows "checks on" compare a kernel with bounds checks to itself without. Every result is checked against NumPy first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ["NUMBA_PTXPLUS_DEVICE"] = "cpu"  # read when the first kernel starts

import numba
import numpy as np

import numba_ptxplus as cuda
from measure import Plan, compare
from report import Row, make_row, parse_options, print_heading, print_row, print_summary, write_json
from workloads import Workload, make_workloads

#: A launch from Python may take this long.
LAUNCH_LIMIT_S = 15e-6
#: A thread may take this share of what it takes in Numba's interpreted simulator.
SIMULATOR_GOAL = 1e-4


def check_result(what: str, got: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Raises SystemExit unless `got` equals `expected` up to `tolerance` times its largest value."""
    error = np.max(np.abs(got.astype(np.float64) - expected))
    limit = tolerance * np.max(np.abs(expected))
    if not error <= limit:
        raise SystemExit(f"{what}: differs from NumPy by {error:g}, allowed is {limit:g}")


def bind_launch(workload: Workload, boundscheck: bool) -> Callable[[], None]:
    """Compile a workload's kernel; the result launches it and waits."""
    configured = cuda.jit(boundscheck=boundscheck)(workload.kernel)[workload.grid, workload.block]

    def launch() -> None:
        configured(*workload.arguments)
        cuda.synchronize()

    return launch


def check_workload(workload: Workload, launches: dict[str, Callable[[], None]]) -> None:
    """Run everything once from cleared outputs."""
    for what, launch in launches.items():
        workload.output.copy_to_device(np.zeros(workload.output.shape, workload.output.dtype))
        launch()
        got = workload.output.copy_to_host()
        check_result(f"{workload.name}, {what}", got, workload.expected, workload.tolerance)
    for peer in workload.peers:
        peer.function(*peer.arguments)
        check_result(f"{workload.name}, {peer.name}", peer.output, workload.expected, workload.tolerance)


def measure_workload(workload: Workload, plan: Plan) -> list[Row]:
    unchecked, checked = bind_launch(workload, False), bind_launch(workload, True)
    check_workload(workload, {"checks off": unchecked, "checks on": checked})
    rows = []
    for peer in workload.peers:
        comparison = compare(unchecked, partial(peer.function, *peer.arguments), plan)
        rows.append(make_row(workload.name, peer.name, comparison, peer.goal))
    comparison = compare(checked, unchecked, plan)
    rows.append(make_row(f"{workload.name}, checks on", "checks off", comparison, workload.checks_goal))
    return rows


@cuda.jit
def do_nothing(a, b, c, d, m, n):
    pass


def measure_empty_launch(plan: Plan) -> list[Row]:
    """A launch from Python with four arrays and two scalars, not waited for one by one."""
    host_arrays = [np.zeros(16, np.float32) for _ in range(4)]
    kinds: dict[str, list[Any]] = {
        "device arrays": [cuda.to_device(array) for array in host_arrays],
        "NumPy arrays": host_arrays,
    }
    rows = []
    for kind, arrays in kinds.items():
        configured = do_nothing[1, 1]
        arguments = (*arrays, np.float32(1), 2)
        configured(*arguments)
        launch = partial(configured, *arguments)
        comparison = compare(launch, launch, plan)
        cuda.synchronize()
        against_limit = replace(comparison, peer_s=LAUNCH_LIMIT_S, ratio=comparison.ours_s / LAUNCH_LIMIT_S)
        rows.append(make_row(f"empty launch, 4 {kind}, 2 scalars", "allowed", against_limit, 1))
    return rows


def measure_simulator(seconds_per_thread: dict[str, float], n_blocks: int) -> list[Row]:
    """Our seconds a thread, from the rows above, against Numba's interpreted simulator in a child process."""
    script = Path(__file__).with_name("simulator.py")
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    child = subprocess.run(
        [sys.executable, script, str(n_blocks)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        timeout=300,
    )
    return [
        Row(f"{name}, one thread", ours_s, "Numba's simulator", peer_s, ours_s / peer_s, SIMULATOR_GOAL)
        for name, peer_s in json.loads(child.stdout).items()
        for ours_s in [seconds_per_thread[name]]
    ]


def main() -> None:
    options = parse_options(__doc__)
    device = cuda.current_device()
    print(f"{device.kind} device ({device.name}), {numba.get_num_threads()} threads, Numba {numba.__version__}")
    print_heading()
    rows: list[Row] = []
    seconds_per_thread = {}

    def add(new_rows: list[Row]) -> None:
        rows.extend(new_rows)
        for row in new_rows:
            print_row(row)

    for make_workload in make_workloads(options.is_smoke_test):
        workload = make_workload()
        workload_rows = measure_workload(workload, options.plan)
        add(workload_rows)
        n_threads = int(np.prod(workload.grid) * np.prod(workload.block))
        seconds_per_thread[workload.name] = workload_rows[0].ours_s / n_threads
    add(measure_empty_launch(options.plan))
    add(measure_simulator(seconds_per_thread, n_blocks=1 if options.is_smoke_test else 8))
    print_summary(rows)
    if options.json_path:
        write_json(rows, options.json_path)


if __name__ == "__main__":
    main()
