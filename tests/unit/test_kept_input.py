"""Tools that refuse: the error names the tool and a file that holds what it was given."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.compile import driver, linking
from numba_gpucore.cpu.codegen import CODEGEN as CPU_CODEGEN
from numba_ptxplus.codegen import assemble
from tests.levels import opened_level


def copy(x, y):
    x[0] = y[0]


def refused(jit) -> tuple[str, Path]:
    """The message, and the file that it names."""
    with pytest.raises(ToolchainError) as caught:
        jit(copy)[1, 1](np.zeros(1, np.float32), np.zeros(1, np.float32))
    found = re.search(r"(/\S+\.(?:ll|ptx|metal))", str(caught.value))
    assert found is not None, str(caught.value)
    return str(caught.value), Path(found[1])


@pytest.mark.parametrize("package", [numba_metal, numba_ptxplus], ids=["metal", "ptxplus"])
@pytest.mark.parametrize("step", ["legalize", "emit", "assemble"])
def test_llvm_fails_in_a_code_generator(package, step, monkeypatch):
    def fail(self, *_):
        raise RuntimeError("LLVM says no")

    monkeypatch.setattr(type(CPU_CODEGEN), step, fail)
    message, path = refused(package.jit)
    assert message.startswith(f"LLVM refused kernel 'copy', whose device IR is kept in {path}; ")
    assert message.endswith("kernel's source: LLVM says no")
    llvm.parse_assembly(path.read_text(encoding="utf-8")).verify()
    path.unlink()


def test_llvm_refuses_what_is_linked(monkeypatch):
    monkeypatch.setattr(linking, "link_texts", lambda texts: llvm.parse_assembly("no LLVM assembly"))
    message, path = refused(numba_ptxplus.jit)
    assert "expected top-level entity" in message
    assert 'define void @"kernel_copy"(' in path.read_text(encoding="utf-8")
    path.unlink()


def test_llvm_refuses_a_program_of_the_cpu(monkeypatch):
    monkeypatch.setattr(driver, "emit_text", lambda *_: "no LLVM assembly")
    message, path = refused(numba_ptxplus.jit)
    assert message.startswith(f"LLVM refused the program of kernel 'copy', which is kept in {path}: ")
    assert path.read_text(encoding="utf-8") == "no LLVM assembly"
    path.unlink()


def test_ptxas_fails(tmp_path, monkeypatch):
    """A tool of that name that always fails, as one that is out of memory would."""
    tool = tmp_path / "ptxas"
    tool.write_text("#!/bin/sh\necho 'ptxas fatal : out of memory' >&2\nexit 3\n", encoding="utf-8")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(assemble, "newest_ptxas", lambda: tool)
    with opened_level("ptx machine") as level:
        message, path = refused(level.jit)
    assert message == f"{tool} ended with code 3 on {path}:\nptxas fatal : out of memory"
    assert ".visible .entry kernel_copy(" in path.read_text(encoding="utf-8")
    path.unlink()


def test_apples_compiler_refuses(monkeypatch):
    with opened_level("metal double") as level:
        monkeypatch.setattr(driver, "emit_text", lambda *_: "kernel void kernel_copy( no MSL")
        message, path = refused(level.jit)
    assert message.startswith("Metal's compiler refused kernel 'copy'")
    assert path.read_text(encoding="utf-8") == "kernel void kernel_copy( no MSL"
    path.unlink()
