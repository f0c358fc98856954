"""From PTX to machine code, where an assembler is installed. Before: emit. After: the Artifact's code.

ptxas is preferred: it compiles in a process of its own, and shows what it did. nvJitLink takes its place where it is
missing, and links code that is not PTX. Without one the driver compiles the PTX when it loads the program.
"""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.base.linked_code import LinkedCode
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.kept_input import keep_input
from numba_ptxplus.codegen.nvjitlink import import_nvjitlink, link_ptx
from numba_ptxplus.toolchain import find_tools

_TIMEOUT_S = 120


@functools.cache
def newest_ptxas() -> Path | None:
    """The ptxas of the newest CUDA release, None if there is none."""
    return max(find_tools("ptxas"), key=_release, default=None)


def _release(path: Path) -> tuple[int, ...]:
    text = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S).stdout
    match = re.search(r"V(\d+)\.(\d+)\.(\d+)", text)
    return tuple(map(int, match.groups())) if match else (0,)


def assemble_ptx(ptx: str, arch: str, options: KernelOptions, codes: Sequence[LinkedCode] = ()) -> bytes:
    """The cubin for `arch`, linked with `codes`; b"" without ptxas and nvJitLink. Raises ToolchainError that names the
    file with the PTX."""
    ptxas = newest_ptxas()
    if codes or (ptxas is None and import_nvjitlink() is not None):
        return link_ptx(ptx, codes, arch, options)
    if ptxas is None:
        return b""
    cubin, _report = run_ptxas(ptxas, ptx, arch, options)
    return cubin


def run_ptxas(ptxas: Path, ptx: str, arch: str, options: KernelOptions) -> tuple[bytes, str]:
    """The cubin and what `ptxas -v` reports: registers, spills, stack."""
    flags = ["-v", f"--gpu-name={arch}"]
    if options.debug:
        flags += ["--device-debug"]
    elif options.lineinfo:
        flags += ["--generate-line-info"]
    if options.opt == 0 and not options.debug:
        flags += ["--opt-level=0"]
    with tempfile.TemporaryDirectory(prefix="numba_ptx_") as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        done = subprocess.run(
            [ptxas, *flags, f"--output-file={target}", source], capture_output=True, text=True, timeout=_TIMEOUT_S
        )
        if done.returncode == 0:
            return target.read_bytes(), done.stderr + done.stdout
    kept = keep_input(ptx, arch, ".ptx")
    raise ToolchainError(f"{ptxas} ended with code {done.returncode} on {kept}:\n{(done.stderr + done.stdout).strip()}")
