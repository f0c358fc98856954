"""Programs in numba.cuda's style run unmodified, on the CPU device by one command and on the other levels in process.

Each compares its result with NumPy's and raises where they differ.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numba
import pytest

from numba_gpucore.cuda_api.submodules import make_submodule
from tests.levels import opened_level

PORTED = Path(__file__).resolve().parent.parent / "examples" / "ported"
#: Sizes that leave the last block partly empty and are small enough for an interpreter of PTX.
SIZES = {
    "bitonic_sort": 200,
    "game_of_life": 21,
    "kmeans": 150,
    "laplace": 21,
    "mandelbrot": 25,
    "monte_carlo_pi": 100,
    "nbody": 70,
    "scan": 400,
    "tiled_matmul": 19,
    "wave": 21,
}


def test_every_program_is_listed() -> None:
    assert sorted(SIZES) == sorted(path.stem for path in PORTED.glob("[a-z]*.py"))


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_run_command(package: str, run_python) -> None:
    """The folder is a program too: it runs the others, in full size."""
    devices = {"NUMBA_METAL_DEVICE": "cpu", "NUMBA_PTXPLUS_DEVICE": "cpu"}
    lines = run_python("-m", package, "run", PORTED, **devices).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [name.replace("kmeans", "k-means").split("_")[0] for name in SIZES]


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("level", ["ptx machine", "metal double"])
def test_level(level: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened_level(level) as gpu:
        cuda = ModuleType("numba.cuda")
        cuda.__dict__.update(vars(gpu))
        monkeypatch.setattr(numba, "cuda", cuda, raising=False)
        monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
        monkeypatch.setitem(sys.modules, "numba.cuda.random", make_submodule("random", cuda))
        spec = importlib.util.spec_from_file_location(f"ported_{name}", PORTED / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        module.main(SIZES[name])
