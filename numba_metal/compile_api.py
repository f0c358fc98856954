"""MSL for other tools, without a GPU. Before: a Python function and its types. After: files, Xcode, a reader's eyes.

Loaded when `compile_msl` is first asked for: it imports the compiler.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.number_types import passed_type
from numba_gpucore.compile.driver import inspect_stage
from numba_gpucore.launch.eager import kernel_arg_types
from numba_gpucore.launch.jit import python_function_of
from numba_metal.architectures import DEFAULT_MSL_VERSION
from numba_metal.driver import BACKEND
from numba_metal.target import TARGET


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
    each group of statements, if the source can be found. options: those of `jit`. Compile the text with
    `-fno-fast-math`, unless the option fastmath was given. Raises OptionError, Numba's typing errors,
    UnsupportedKernelError.
    """
    function = python_function_of(pyfunc)
    keywords = {"boundscheck": False, **options, "lineinfo": lineinfo and _has_source(function)}
    parsed = TARGET.options_class.from_keywords(keywords)
    arch = BACKEND.parse_arch(".".join(map(str, msl_version)))
    arg_types = tuple(passed_type(type_, TARGET, parsed) for type_ in kernel_arg_types(sig))
    request = CompileRequest(
        function, TARGET, BACKEND.kind, BACKEND.codegen, BACKEND.launch_abi, arch, arg_types, parsed
    )
    return inspect_stage(request, "asm")


def _has_source(function: Callable[..., Any]) -> bool:
    try:
        inspect.getsourcelines(function)
    except (OSError, TypeError):
        return False
    return True
