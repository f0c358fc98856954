"""Hand-written device IR for tests of the PTX code generator, which so need neither Numba's typing nor lowering."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import llvmlite.binding as llvm

from numba_gpucore.base.argtypes import ArgType, ArrayType, ScalarType
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.params import lay_out_params
from numba_gpucore.base.site import Site
from numba_gpucore.base.target import Target
from numba_gpucore.compile.intrinsics import INTRINSICS, parse_shared_symbol
from numba_gpucore.compile.job import Job
from numba_ptxplus.codegen import CODEGEN
from numba_ptxplus.driver.abi import LAUNCH_ABI

TARGET = Target("ptxplus", "numba_ptxplus", ("cuda", "cpu"), "NUMBA_PTXPLUS_DEVICE")
INT32 = ScalarType("int32", 4)
INT64 = ScalarType("int64", 8)
FLOAT16 = ScalarType("float16", 2)
FLOAT32 = ScalarType("float32", 4)
FLOAT64 = ScalarType("float64", 8)


def vector(dtype: ScalarType, readonly: bool = False) -> ArrayType:
    return ArrayType(dtype, 1, "C", readonly)


def some_kernel(x):
    """Stands for the Python function that a hand-written module would come from."""


def make_job(
    arg_types: Sequence[ArgType],
    intrinsics: Iterable[str],
    *,
    arch: str = "sm_90",
    shared: Iterable[str] = (),
    sites: tuple[Site, ...] = (),
    has_recursion: bool = False,
    **options: object,
) -> Job:
    request = CompileRequest(
        py_func=some_kernel,
        target=TARGET,
        backend="cuda",
        codegen="numba_ptxplus.codegen:CODEGEN",
        launch_abi=LAUNCH_ABI,
        arch=arch,
        arg_types=tuple(arg_types),
        options=KernelOptions.from_keywords(options),
    )
    arrays = tuple(array for symbol in shared if (array := parse_shared_symbol(symbol)))
    slots = lay_out_params(request.arg_types)
    return Job(request, "kernel", slots, frozenset(intrinsics), arrays, sites, has_recursion=has_recursion)


def parse_device_ir(body: str, job: Job) -> llvm.ModuleRef:
    """The module of LLVM assembly `body`, with the job's neutral functions declared."""
    declarations = [INTRINSICS[name].declaration() for name in sorted(job.intrinsics)]
    declarations += [f'declare ptr @"{array.symbol}"(ptr)' for array in job.shared_arrays]
    return llvm.parse_assembly("\n".join([*declarations, body]))


def compile_device_ir(body: str, job: Job) -> str:
    """PTX of a hand-written module."""
    module = parse_device_ir(body, job)
    CODEGEN.legalize(module, job)
    return CODEGEN.emit(module, job)
