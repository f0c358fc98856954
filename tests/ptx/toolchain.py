"""What the tests of PTX need of NVIDIA's tools. Before: numba_ptxplus.toolchain. After: test_machine_*.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

from numba_ptxplus.codegen.assemble import newest_ptxas
from numba_ptxplus.toolchain import PTXAS_PACKAGE


def check_with_ptxas(text: str, arch: str, folder: Path) -> None:
    """Fail unless ptxas takes the text for the architecture."""
    ptxas = newest_ptxas()
    assert ptxas is not None, f"no ptxas found; pip install {PTXAS_PACKAGE}"
    source = folder / "module.ptx"
    source.write_text(text)
    done = subprocess.run(
        [ptxas, f"--gpu-name={arch}", f"--output-file={folder / 'module.cubin'}", source],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{source}:\n{done.stderr[:4000]}"
