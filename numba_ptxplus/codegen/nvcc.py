"""CUDA C++ to PTX, by NVIDIA's compiler where it is installed. Before: linked code. After: linked_code merges it."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.base.linked_code import LinkedCode
from numba_ptxplus.toolchain import PTXAS_PACKAGE, find_tools

_TIMEOUT_S = 300


@functools.cache
def compile_cuda(code: LinkedCode, arch: str) -> LinkedCode:
    """The PTX of device functions in CUDA C++ (`extern "C" __device__`). Raises ToolchainError with nvcc's output."""
    tools = find_tools("nvcc")
    if not tools:
        raise ToolchainError(
            f"linking {code.name} needs NVIDIA's compiler for CUDA C++, nvcc: pip install {PTXAS_PACKAGE}, or link PTX"
        )
    with tempfile.TemporaryDirectory(prefix="numba_nvcc_") as folder:
        source, target = Path(folder, "linked.cu"), Path(folder, "linked.ptx")
        source.write_bytes(code.data)
        command: list[str | Path] = [tools[0], "-ptx", "-rdc=true", f"-arch={arch}", "-o", target, source]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S)
        if done.returncode == 0:
            return LinkedCode(code.name, "ptx", target.read_bytes())
    raise ToolchainError(
        f"{tools[0]} ended with code {done.returncode} on {code.name}:\n{(done.stderr + done.stdout).strip()}"
    )
