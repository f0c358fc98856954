"""Every example runs, agrees with NumPy, and writes the picture that NumPy's result gives."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Sizes that leave the last block of each axis partly empty.
SIZES = {
    "black_scholes": 1000,
    "edges": 203,
    "heat": 101,
    "histogram": 203,
    "mandelbrot": 101,
    "matmul": 83,
    "nbody": 301,
    "reduction": 203,
}


@pytest.fixture
def load_example(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module


def test_every_example_is_listed():
    assert sorted(SIZES) == sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "common")


@pytest.mark.parametrize("name", sorted(SIZES))
def test_example_agrees_with_numpy(name, run_python, tmp_path):
    output = run_python(EXAMPLES / f"{name}.py", "--size", SIZES[name], "--out", tmp_path).stdout
    assert re.search(r"^  device +(cpu|metal|cuda) \(.+\)$", output, re.MULTILINE), output
    assert re.search(r"^  against NumPy  .* right \(", output, re.MULTILINE), output
    assert "WRONG" not in output
    assert re.search(r"^  first launch +[0-9.]+ ms\n  second launch +[0-9.]+ ms$", output, re.MULTILINE), output


def test_check_reports_a_wrong_value(load_example):
    common = load_example("common")
    right, wrong = np.zeros(3), np.array([0, 0, np.nan])
    assert common.Check("values", right, right).holds
    assert not common.Check("values", wrong, right, 1.0).holds
    assert not common.Check("values", right[:2], right, 1.0).holds
    with pytest.raises(SystemExit):
        common.report("name", _NoDevice, (0.0, 0.0), [common.Check("values", wrong, right, 1.0)])


class _NoDevice:
    kind, name = "none", "none"


def draw_edges(common, edges, size):
    photograph = common.load_photograph(size)
    blurred = edges.blur_with_numpy(photograph)
    return edges.make_picture(photograph, blurred, edges.find_edges_with_numpy(blurred))


def draw_mandelbrot(common, mandelbrot, size):
    return mandelbrot.make_picture(mandelbrot.count_steps_with_numpy(size))


def draw_heat(common, heat, size):
    return heat.make_picture(heat.run_with_numpy(heat.make_plate(size)))


@pytest.mark.parametrize("draw", [draw_edges, draw_mandelbrot, draw_heat])
def test_picture_is_numpys(draw, load_example, run_python, tmp_path):
    """Rounding may move a pixel by one level of its colours; a fused multiply-add may move one point in a hundred."""
    name = draw.__name__.removeprefix("draw_")
    run_python(EXAMPLES / f"{name}.py", "--size", SIZES[name], "--out", tmp_path)
    with Image.open(tmp_path / f"{name}.png") as picture:
        got = np.asarray(picture).astype(int)
    expected = draw(load_example("common"), load_example(name), SIZES[name]).astype(int)
    assert got.shape == expected.shape
    assert expected.std() > 10, "the picture shows something"
    assert np.mean(np.abs(got - expected) > 4) <= 0.01
