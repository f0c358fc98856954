"""Which architectures' Artifacts an architecture runs too: what a package ships for few serves many."""

from __future__ import annotations

import pytest

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.errors import OptionError
from numba_gpucore.cpu import BACKEND as CPU
from numba_metal.driver import BACKEND as METAL
from numba_ptxplus.driver import BACKEND as CUDA
from numba_ptxplus.driver.abi import FACT_PTX_IS_WHOLE


@pytest.mark.parametrize(
    ("backend", "arch", "older"),
    [
        # System V ABI, AMD64 supplement, table 3.1: each level includes those before it.
        (CPU, "x86-64-v3-linux", ("x86-64-v2-linux", "x86-64-linux")),
        (CPU, "x86-64-v4-512bit-linux", ("x86-64-v4-linux", "x86-64-v3-linux", "x86-64-v2-linux", "x86-64-linux")),
        (CPU, "x86-64-win32", ()),
        (CPU, "apple-m1-darwin", ()),
        (METAL, "apple-msl3.2", ("apple-msl3.1", "apple-msl3.0")),
        # CUDA C++ Programming Guide, "PTX Compatibility": all later ones.
        (CUDA, "sm_89", ("sm_88", "sm_87", "sm_86", "sm_80", "sm_75")),
        (CUDA, "sm_90a", ("sm_90", "sm_89", "sm_88", "sm_87", "sm_86", "sm_80", "sm_75")),
        (CUDA, "sm_75", ()),
    ],
)
def test_older_architectures(backend, arch, older):
    assert backend.older_archs(arch) == older


@pytest.mark.parametrize(
    ("backend", "text", "arch"),
    [
        (CPU, "x86-64-v3-darwin", "x86-64-v3-darwin"),
        (CPU, "apple-m1-darwin", "apple-m1-darwin"),
        (METAL, "msl3.1", "apple-msl3.1"),
        (METAL, "3.1", "apple-msl3.1"),
        (METAL, "apple-msl3.1", "apple-msl3.1"),
    ],
)
def test_names_of_architectures(backend, text, arch):
    assert backend.parse_arch(text) == arch


@pytest.mark.parametrize(("backend", "text"), [(CPU, "x86-64-v9"), (CPU, "sm_80"), (METAL, "msl9.9"), (METAL, (8, 0))])
def test_unknown_architectures_are_refused(backend, text):
    with pytest.raises(OptionError, match="unknown"):
        backend.parse_arch(text)


@pytest.mark.parametrize(
    ("arch", "ptx_is_whole", "runs"), [("sm_86", 0, True), ("sm_86", 1, True), ("sm_75", 1, True), ("sm_75", 0, False)]
)
def test_machine_code_runs_on_its_generation_and_ptx_on_later_ones(arch: str, ptx_is_whole: int, runs: bool) -> None:
    """CUDA C++ Programming Guide, "Binary Compatibility": later minor versions, never another major one."""
    artifact = Artifact("k", "k", "cuda", arch, 1, (), b"", 0, (), ((FACT_PTX_IS_WHOLE, ptx_is_whole),))
    assert CUDA.runs_on(artifact, "sm_89") is runs
