"""Compile the kernels of ptx_kernels.py in a fresh process, with ours or numba-cuda. Before: ptx_quality.py.

Prints JSON: a list of {"name", "literals", "ptx", "compile_s"} in the order of compilation, which starts with a kernel
that is not counted: the first of a process loads the compiler.

    python ptx_child.py ours|numba-cuda ARCHITECTURE
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ptx_kernels import Kernel, make_kernels

LITERALS = {"plain": float, "float32": np.float32}


def main() -> None:
    tool, arch = sys.argv[1:]
    cuda, compile_one = ours(arch) if tool == "ours" else numba_cuda(arch)
    results: list[dict[str, Any]] = []
    for literals, number in LITERALS.items():
        kernels = make_kernels(cuda, number)
        if not results:
            compile_one(kernels[0])
        for kernel in kernels:
            start = time.perf_counter()
            ptx = compile_one(kernel)
            seconds = time.perf_counter() - start
            results.append({"name": kernel.name, "literals": literals, "ptx": ptx, "compile_s": seconds})
    json.dump(results, sys.stdout)


def ours(arch: str) -> tuple[Any, Any]:
    import numba_ptxplus  # noqa: PLC0415  one of two tools, each in its own process

    return numba_ptxplus, lambda kernel: numba_ptxplus.compile_ptx(kernel.function, kernel.signature, cc=arch)[0]


def numba_cuda(arch: str) -> tuple[Any, Any]:
    from numba import cuda  # noqa: PLC0415
    from numba.core import sigutils  # noqa: PLC0415

    digits = arch.removeprefix("sm_")

    def compile_one(kernel: Kernel) -> str:
        arguments, _result = sigutils.normalize_signature(kernel.signature)
        ptx: str = cuda.compile_ptx(kernel.function, arguments, cc=(int(digits[:-1]), int(digits[-1])))[0]
        return ptx

    return cuda, compile_one


if __name__ == "__main__":
    main()
