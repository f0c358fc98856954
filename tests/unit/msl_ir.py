"""Emits and runs kernels that are written as LLVM assembly, so that a test can choose the instructions itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numba_gpucore.base.argtypes import ArgType, ArrayType, ScalarType
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.params import lay_out_params
from numba_gpucore.compile.job import Job
from numba_metal.architectures import MslVersion
from numba_metal.codegen.ir_reader import read_module
from numba_metal.codegen.print_kernel import print_kernel
from numba_metal.target import TARGET
from tests.msl import compile_msl_library

ENTRY = "kernel_test"
_ELEMENTS = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "float": "float32", "half": "float16"}


def _stand_in(a, b, c, d):
    """The Python function that faults name; nothing compiles it."""


def array_of(llvm_type: str) -> ArrayType:
    """A one-dimensional array of `i32`, `float` …"""
    name = _ELEMENTS[llvm_type]
    return ArrayType(ScalarType(name, np.dtype(name).itemsize), 1, "C")


def make_job(arg_types: Sequence[ArgType], arch: str = "apple-msl3.2", **options: Any) -> Job:
    request = CompileRequest(
        _stand_in, TARGET, "metal", "numba_metal.codegen:CODEGEN", 1, arch, tuple(arg_types), KernelOptions(**options)
    )
    return Job(request, ENTRY, lay_out_params(arg_types), frozenset(), (), ())


def emit(ir: str, arg_types: Sequence[ArgType], version: tuple[int, int] = (3, 2), **options: Any) -> str:
    """MSL of `define void @kernel_test(ptr %ctx, ...)`, which has a parameter for each slot of `arg_types`."""
    return print_kernel(read_module(ir, {}), make_job(arg_types, **options), MslVersion(*version))


def run(msl: str, arrays: Sequence[np.ndarray], threads: int, *, trap_undefined: bool = True) -> list[np.ndarray]:
    """Run a kernel whose parameters are one-dimensional arrays, in one block. Returns the arrays afterwards."""
    library = compile_msl_library(msl, (3, 2), trap_undefined=trap_undefined)
    buffers = [library.place(array) for array in arrays]
    words = [word for array, buffer in zip(arrays, buffers, strict=True) for word in (buffer.address, array.size)]
    library.run(ENTRY, 1, threads, [np.array(words, np.uint64)], resident=buffers)
    return [
        np.frombuffer(buffer.host.tobytes()[: array.nbytes], array.dtype).copy()
        for array, buffer in zip(arrays, buffers, strict=True)
    ]


#: The start of a kernel of arrays `a` (input) and `out`: %i is the thread's index, i64.
def header(input_type: str, output_type: str) -> str:
    return f"""
declare i32 @msl.global_id.x()
define void @{ENTRY}(ptr %ctx, ptr %a, i64 %a_size, ptr %out, i64 %out_size) {{
entry:
  %position = call i32 @msl.global_id.x()
  %i = zext i32 %position to i64
  %a_place = getelementptr {input_type}, ptr %a, i64 %i
  %out_place = getelementptr {output_type}, ptr %out, i64 %i
"""
