"""Code of NVIDIA's compilers in a kernel's program. Before: job. After: legalize, emit, assemble.

PTX, and what nvcc makes of CUDA C++, is merged into the kernel's own text, so that neither linker nor driver has to
link; other code goes to nvJitLink.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import llvmlite.binding as llvm

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.linked_code import LinkedCode
from numba_gpucore.compile.intrinsics import parse_foreign_symbol
from numba_gpucore.compile.job import Job
from numba_ptxplus.codegen.nvcc import compile_cuda

_VERSION = late_pattern(r"^\.version\s+(\d+)\.(\d+)\s*$", re.MULTILINE)
_HEADER = late_pattern(r"^\.(?:version|target|address_size)\b.*$", re.MULTILINE)
_END_OF_HEADER = late_pattern(r"^\.address_size .*$", re.MULTILINE)
_DECLARATION = late_pattern(r"^\.extern \.func\b[^;{]*?\b([\w$]+)\s*\(?[^;{()]*(?:\([^;{]*?\))?\s*;\n", re.MULTILINE)
_DEFINITION = late_pattern(r"^(?:\.visible|\.weak)\s+\.func\b(?:\s*\([^)]*\))?\s*([\w$]+)", re.MULTILINE)


def define_foreign_functions(module: llvm.ModuleRef, job: Job) -> list[str]:
    """LLVM assembly that defines each `gpu.foreign.<name>` of a module as a call of `name`, without the context."""
    texts = []
    for symbol in sorted(job.intrinsics):
        name = parse_foreign_symbol(symbol)
        if name is None:
            continue
        function = module.get_function(symbol)
        result = str(function.global_value_type).partition(" (")[0]
        params = [str(argument.type) for argument in function.arguments]
        operands = ", ".join(f"{type_} %p{i}" for i, type_ in enumerate(params) if i)
        assign, give = ("", "void") if result == "void" else ("%r = ", f"{result} %r")
        texts.append(
            f"declare {result} @{name}({', '.join(params[1:])})\n"
            f"define {result} @{symbol}({', '.join(filter(None, ('ptr %context', operands)))}) alwaysinline {{\n"
            f" {assign}call {result} @{name}({operands})\n ret {give}\n}}"
        )
    return texts


def foreign_functions(job: Job) -> frozenset[str]:
    """The functions of other compilers that a program calls."""
    return frozenset(name for symbol in job.intrinsics if (name := parse_foreign_symbol(symbol)))


def merge_ptx(ptx: str, codes: Iterable[LinkedCode], arch: str) -> str:
    """A kernel's PTX with that of `codes`, whose versions and targets give way to the newest version and the kernel's
    target. CUDA C++ is compiled. Raises ToolchainError."""
    compiled = [compile_cuda(code, arch) if code.kind == "cuda" else code for code in codes]
    texts = [code.data.decode().rstrip("\0") for code in compiled if code.kind == "ptx"]
    if not texts:
        return ptx
    newest = max((int(major), int(minor)) for text in (ptx, *texts) for major, minor in _VERSION.findall(text))
    defined = {name for text in texts for name in _DEFINITION.findall(text)}
    ptx = _DECLARATION.sub(lambda found: "" if found[1] in defined else found[0], ptx)
    ptx = _VERSION.sub(f".version {newest[0]}.{newest[1]}", ptx, count=1)
    added = "\n".join(_HEADER.sub("", text).strip() for text in texts)
    return _END_OF_HEADER.sub(lambda found: f"{found[0]}\n\n{added}\n", ptx, count=1)
