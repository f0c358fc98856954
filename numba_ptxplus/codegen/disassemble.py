"""What the GPU executes, in words: NVIDIA's nvdisasm. Before: assemble. After: `kernel.inspect_sass`."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from numba_gpucore.base.errors import ToolchainError
from numba_ptxplus.toolchain import NVDISASM_PACKAGE, PTXAS_PACKAGE, find_tools

_TIMEOUT_S = 120


def disassemble_cubin(cubin: bytes) -> str:
    """SASS with control flow labels. Raises ToolchainError without machine code or without nvdisasm."""
    if not cubin:
        raise ToolchainError(f"no machine code to show: ptxas was not found; pip install {PTXAS_PACKAGE}")
    tools = find_tools("nvdisasm")
    if not tools:
        raise ToolchainError(f"nvdisasm was not found; pip install {NVDISASM_PACKAGE}")
    with tempfile.TemporaryDirectory(prefix="numba_sass_") as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        done = subprocess.run([tools[0], "-c", path], capture_output=True, text=True, timeout=_TIMEOUT_S)
    if done.returncode:
        raise ToolchainError(f"{tools[0]} ended with code {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout
