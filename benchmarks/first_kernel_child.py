"""One process of benchmarks/first_kernel.py: does what its argument names, then prints how long each stage took.

Stages are seconds from one mark to the next; what Python took to start is known to the parent only.
"""

from __future__ import annotations

import json
import sys
import time

START = time.perf_counter()
stages: dict[str, float] = {}
_last = START


def mark(stage: str) -> None:
    global _last
    now = time.perf_counter()
    stages[stage] = now - _last
    _last = now


import numpy as np  # noqa: E402  after START

mark("import numpy")
CASE = sys.argv[1]


def run_known() -> None:
    """A kernel that is in the cache."""
    import numba_metal  # noqa: PLC0415  measured

    mark("import ours")

    @numba_metal.jit(cache=True)
    def scale(x, factor):
        i = numba_metal.grid(1)
        if i < x.size:
            x[i] *= factor

    x = np.ones(1000, np.float32)
    scale[4, 256](x, np.float32(2))
    assert (x == 2).all()
    mark("first launch")


def run_new() -> None:
    """A kernel that is in no cache: a reduction, Float16, two math functions and an exception."""
    import numba  # noqa: F401, PLC0415  measured

    mark("import numba")
    import math  # noqa: PLC0415

    import numba_ptxplus  # noqa: PLC0415  measured

    mark("import ours")

    @numba_ptxplus.jit(cache=False)
    def smooth(x, h, out):
        i = numba_ptxplus.grid(1)
        if i >= out.size:
            raise ValueError("more threads than elements")
        total = x[i : i + 4].sum() + np.max(x[i : i + 3])
        out[i] = math.exp(-total) + math.sin(total) + np.float32(h[i] * h[i])

    x, h = np.linspace(0, 1, 68, dtype=np.float32), np.linspace(0, 1, 64, dtype=np.float16)
    out = np.zeros(64, np.float32)
    smooth[2, 32](x, h, out)
    totals = np.array([x[i : i + 4].sum() + x[i : i + 3].max() for i in range(64)])
    # numpy.testing would import unittest, at 12 ms
    assert np.allclose(out, np.exp(-totals) + np.sin(totals) + (h * h), rtol=1e-3)
    mark("first launch")


def run_njit() -> None:
    """The same kernel as `run_known`, as a loop on the CPU, by Numba itself."""
    import numba  # noqa: PLC0415  measured

    mark("import numba")

    @numba.njit(cache=True)
    def scale(x, factor):
        for i in range(x.size):
            x[i] *= factor

    x = np.ones(1000, np.float32)
    scale(x, np.float32(2))
    assert (x == 2).all()
    mark("first launch")


def to_ptx(package: str) -> None:
    """The first kernel of a session as PTX."""
    from importlib import import_module  # noqa: PLC0415

    import numba  # noqa: PLC0415  measured

    mark("import numba")
    cuda = import_module(package)
    mark("import ours" if package == "numba_ptxplus" else "import numba.cuda")

    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] += a * x[i]

    arrays = numba.float32[::1]
    ptx, _result = cuda.compile_ptx(saxpy, (numba.float32, arrays, arrays), cc=(8, 0))
    assert ".entry" in ptx
    mark("to PTX")


CASES = {
    "a": lambda: None,
    "b": run_known,
    "c": run_new,
    "d": run_new,
    "e": run_njit,
    "f": run_njit,
    "g": lambda: to_ptx("numba_ptxplus"),
    "numba-cuda": lambda: to_ptx("numba.cuda"),
}
if __name__ == "__main__":
    CASES[CASE]()
    print(json.dumps(stages))
