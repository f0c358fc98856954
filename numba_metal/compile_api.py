"""MSL for other tools, without a GPU. Before: a Python function and its types. After: files, Xcode, a reader's eyes.

Loaded when `compile_msl` is first asked for: it imports the compiler.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.number_types import passed_type
from numba_gpucore.compile.driver import inspect_stage
from numba_gpucore.launch.eager import kernel_arg_types
from numba_gpucore.launch.jit import python_function_of
from numba_metal.architectures import DEFAULT_MSL_VERSION, MSL_VERSIONS, arch_of
from numba_metal.driver.abi import LAUNCH_ABI
from numba_metal.target import TARGET

CODEGEN_PATH = "numba_metal.codegen:CODEGEN"


def compile_msl(
    pyfunc: Callable[..., Any],
    sig: Any,
    msl_version: tuple[int, int] = DEFAULT_MSL_VERSION,
    *,
    lineinfo: bool = True,
    **options: Any,
) -> str:
    """The Metal Shading Language text of a kernel. No GPU is needed or opened.

    sig: as for `jit`, e.g. "void(float32[::1], int32)". msl_version: (major, minor), one of
    `architectures.MSL_VERSIONS`. lineinfo: a comment with function and line, counted from the function's first, before
    each group of statements, if the source can be found. options: those of `jit`. Raises OptionError, Numba's typing
    errors, UnsupportedKernelError.
    """
    if tuple(msl_version) not in MSL_VERSIONS:
        known = ", ".join(map(str, MSL_VERSIONS))
        raise OptionError(f"msl_version must be one of {known}, not {msl_version!r}")
    function = python_function_of(pyfunc)
    keywords = {"boundscheck": False, **options, "lineinfo": lineinfo and _has_source(function)}
    parsed = TARGET.options_class.from_keywords(keywords)
    arch = arch_of(msl_version)
    arg_types = tuple(passed_type(type_, TARGET, parsed) for type_ in kernel_arg_types(sig))
    request = CompileRequest(function, TARGET, "metal", CODEGEN_PATH, LAUNCH_ABI, arch, arg_types, parsed)
    return inspect_stage(request, "asm")


def _has_source(function: Callable[..., Any]) -> bool:
    try:
        inspect.getsourcelines(function)
    except (OSError, TypeError):
        return False
    return True
