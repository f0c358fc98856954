"""Modules of Numba that are imported without a large one that they take a name from."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from numba_gpucore.compile.numba_modules import _import_without


@pytest.mark.parametrize(("taken", "is_left_out"), [("small", True), ("small, other", False)])
def test_what_is_taken_decides_whether_the_large_module_is_imported(
    taken: str, is_left_out: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "left_out_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "large.py").write_text("small, other = 'whole', 'whole'")
    (folder / "importer.py").write_text(f"from left_out_package.large import {taken}")
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    try:
        importer = _import_without({"left_out_package.large": {"small": "stand-in"}}, "left_out_package.importer")
        assert importer.small == ("stand-in" if is_left_out else "whole")
        assert ("left_out_package.large" in sys.modules) is not is_left_out
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]


ON_THE_CPU = """
import sys
from numba_gpucore.compile import numba_modules

left_out = ("numba.cpython.charseq", "numba.cpython.listobj", "numba.misc.mergesort", "numba.misc.quicksort")
assert not sys.modules.keys() & left_out

import numba
import numpy as np

@numba.njit
def uses_what_is_left_out(x):
    return x.tobytes(), np.argsort(x, kind="mergesort"), [2 * item for item in x]

x = np.array([3, 1, 2], np.int8)
text, order, doubled = uses_what_is_left_out(x)
assert (text, list(order), doubled) == (x.tobytes(), [1, 2, 0], [6, 2, 4])
assert sys.modules.keys() >= {*left_out}
"""


def test_numbas_own_programs_find_what_is_left_out(
    run_python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(ON_THE_CPU)
    run_python(tmp_path / "program.py")
