"""Texts of programs in colour on terminals, and Pygments imported only for that."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.launch.listing import Listing

ESCAPE = "\x1b["


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def without_colours(text: str) -> str:
    parts = text.split(ESCAPE)
    return parts[0] + "".join(part.partition("m")[2] for part in parts[1:])


@pytest.mark.parametrize("language", ["llvm", "ptx", "cpp", "python", "text"])
def test_colours_on_a_terminal_only(language: str) -> None:
    listing = Listing("\n; int x = 3\nadd i32 %a, 1", language)
    assert listing == "\n; int x = 3\nadd i32 %a, 1" and isinstance(listing, str)
    coloured = listing.coloured(Terminal())
    assert (ESCAPE in coloured) == (language != "text")
    assert without_colours(coloured) == listing
    file, terminal = io.StringIO(), Terminal()
    listing.show(file)
    listing.show(terminal)
    assert file.getvalue() == listing + "\n"
    assert terminal.getvalue() == coloured + "\n"
    assert pickle.loads(pickle.dumps(listing)).language == language


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_users_can_refuse_colours(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    assert ESCAPE not in Listing("add i32 %a, 1", "llvm").coloured(Terminal())


def test_an_interactive_session_shows_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = Listing("a\nb", "text")
    assert repr(listing) == "'a\\nb'"
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert repr(listing) == "a\nb"


def test_kernels_give_listings(monkeypatch: pytest.MonkeyPatch) -> None:
    @numba_ptxplus.jit
    def kernel(x):
        x[0] = 1

    kernel[1, 1](np.zeros(1, np.float32))
    ((types, listing),) = kernel.inspect_asm().items()
    assert (listing.language, kernel.inspect_llvm(types).language) == ("llvm", "llvm")
    assert kernel.inspect_asm(types, cc=(9, 0)).language == "ptx"
    assert numba_metal.jit(kernel.py_func).inspect_msl(types).language == "cpp"
    file, terminal = io.StringIO(), Terminal()
    kernel.inspect_types(file)
    kernel.inspect_types(terminal)
    assert ESCAPE not in file.getvalue() and ESCAPE in terminal.getvalue()
    pretty = io.StringIO()
    kernel.inspect_types(pretty, pretty=True)
    assert pretty.getvalue() == terminal.getvalue()
    monkeypatch.setitem(sys.modules, "pygments", None)
    kernel.inspect_types(Terminal())
    with pytest.raises(ModuleNotFoundError, match="pip install pygments"):
        kernel.inspect_types(io.StringIO(), pretty=True)


def test_pygments_is_imported_for_colours_only(run_python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    program = """
import sys, io, numpy as np, numba_ptxplus as gpu
@gpu.jit
def kernel(x):
    x[0] = 1
kernel[1, 1](np.zeros(1, np.float32))
kernel.inspect_types(io.StringIO())
for listing in kernel.inspect_asm().values():
    listing.show(io.StringIO())
assert "pygments" not in sys.modules
kernel.inspect_types(io.StringIO(), pretty=True)
assert "pygments" in sys.modules
"""
    run_python("-c", program)
