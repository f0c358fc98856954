"""What README.md prints is what comes out."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import numba_metal

TEXT = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = [(match[1], match[2]) for match in re.finditer(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)]
FIRST_KERNEL, PAIRS = [code for language, code in BLOCKS if language == "python"]
(METAL_TEXT,) = [code for language, code in BLOCKS if language == "cpp"]


@pytest.fixture
def run_block(tmp_path: Path):
    """The names that a block of code makes; kernels need a file with their source."""

    def run(code: str, **names: object) -> dict[str, object]:
        path = tmp_path / "block.py"
        path.write_text(code, encoding="utf-8")
        return runpy.run_path(str(path), init_globals=names)

    return run


def test_first_kernel(run_block, capsys: pytest.CaptureFixture[str]) -> None:
    names = run_block(FIRST_KERNEL)
    np.testing.assert_array_equal(names["out"], 2 * np.arange(1000, dtype=np.float32) + 1)
    assert capsys.readouterr().out.startswith("[1. 3. 5.] <")
    text = numba_metal.compile_msl(names["saxpy"], "void(float32, float32[::1], float32[::1], float32[::1])")
    assert text.strip() == METAL_TEXT.strip()


def test_pairs_of_halves(run_block) -> None:
    x = np.arange(8, dtype=np.float16)
    run_block(PAIRS, gpu=numba_metal)["double_pairs"][1, 4](x)
    np.testing.assert_array_equal(x, 2 * np.arange(8))
