"""Workers of every kind load a known kernel from the cache, and none of them loads Numba for it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

KERNELS = """
import sys
import numpy as np
import numba_metal

@numba_metal.jit
def scale(x, factor):
    i = numba_metal.grid(1)
    if i < x.size:
        x[i] *= factor

def work(number):
    '''The sum of 64 threes times `number`, and how the kernel came to be.'''
    x = np.full(64, 3, np.float32)
    scale[2, 32](x, np.float32(number))
    return float(x.sum()), len(scale.stats.misses), "numba.core" in sys.modules

def launch_pickled(kernel, number):
    x = np.full(64, 3, np.float32)
    kernel[2, 32](x, np.float32(number))
    return float(x.sum()), len(kernel.stats.misses), "numba.core" in sys.modules
"""

#: Each prints what `check` found to be right. The kernel of 192 = 64 * 3 a unit is in the cache before.
CHECK = """
import kernels

def check(results, name):
    numbers = range(1, 9)
    assert list(results) == [(192.0 * number, 0, False) for number in numbers], list(results)
    print(name, "ok")
"""

MULTIPROCESSING = """
import functools
import multiprocessing

if __name__ == "__main__":
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(2) as pool:
            check(pool.map(kernels.work, range(1, 9)), method)
            check(pool.map(functools.partial(kernels.launch_pickled, kernels.scale), range(1, 9)), method + " pickled")
"""

#: A fork after the parent has launched: its device does not survive, its threads are gone.
FORK = """
import os
import kernels

assert kernels.work(1) == (192.0, 0, False)
child = os.fork()
if child == 0:
    os._exit(0 if kernels.work(2) == (384.0, 0, False) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert kernels.work(3) == (576.0, 0, False)
print("fork after a launch ok")
"""

THREADS = """
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(8) as pool:
    check(pool.map(kernels.work, range(1, 9)), "threads")
assert len(kernels.scale.stats.hits) == 1
"""

JOBLIB = """
import functools
import joblib

if __name__ == "__main__":
    for backend in ("loky", "threading"):
        parallel = joblib.Parallel(n_jobs=2, backend=backend)
        check(parallel(joblib.delayed(kernels.work)(number) for number in range(1, 9)), backend)
    launch = joblib.delayed(kernels.launch_pickled)
    check(joblib.Parallel(n_jobs=2)(launch(kernels.scale, number) for number in range(1, 9)), "loky pickled")
"""

DASK = """
from dask.distributed import Client, LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            check(client.gather(client.map(kernels.work, range(1, 9), pure=False)), "dask")
            launches = [client.submit(kernels.launch_pickled, kernels.scale, number) for number in range(1, 9)]
            check(client.gather(launches), "dask pickled")
"""

#: A program, and the lines that it prints.
PROGRAMS = {
    "multiprocessing": (
        CHECK + MULTIPROCESSING,
        [f"{method}{how} ok" for method in multiprocessing.get_all_start_methods() for how in ("", " pickled")],
    ),
    "fork": (FORK, ["fork after a launch ok"]),
    "threads": (CHECK + THREADS, ["threads ok"]),
    "joblib": (CHECK + JOBLIB, ["loky ok", "threading ok", "loky pickled ok"]),
    "dask": (CHECK + DASK, ["dask ok", "dask pickled ok"]),
}


def run(folder: Path, program: str) -> str:
    """Standard output of a program in a process of its own, where `kernels` can be imported."""
    path = folder / "program.py"
    path.write_text(program)
    variables = {
        "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT))),
        "NUMBA_METAL_DEVICE": "cpu",
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    child = subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr
    return child.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workers")
    (folder / "kernels.py").write_text(KERNELS)
    assert run(folder, "import kernels; print(kernels.work(1))") == "(192.0, 1, True)\n", "the check can fail"
    return folder


@pytest.mark.parametrize("name", PROGRAMS)
def test_workers_load_from_the_cache(folder: Path, name: str) -> None:
    if name == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    program, lines = PROGRAMS[name]
    assert run(folder, program).splitlines() == lines
