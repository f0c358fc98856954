"""Numba's passes over one Python function. Before: CompileRequest. After: driver, exported_function, counterparts."""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import GpuError
from numba_gpucore.compile.descriptor import DeviceDescriptor
from numba_gpucore.compile.dispatcher import descriptor_for
from numba_gpucore.compile.extension_packages import load_extension_packages
from numba_gpucore.compile.flags import kernel_flags
from numba_gpucore.compile.numba_api import compiler, errors, target_override
from numba_gpucore.compile.numba_types import to_numba
from numba_gpucore.compile.pass_pipeline import DeviceCompiler

#: Statements that a kernel cannot have, and our own refusals: nothing that is loaded later changes them.
_FINAL = (errors.UnsupportedError, errors.UnsupportedBytecodeError, GpuError)


def lower_function(request: CompileRequest, return_type: ArgType | None = None) -> Any:
    """Run Numba's passes over a kernel or device function. Raises what `explain_error` makes of their errors."""
    descriptor = descriptor_for(request.target.name)
    try:
        return _run_passes(request, return_type, descriptor)
    except Exception as error:
        failure = error
    # Type inference has loaded what it found missing. What lowering finds missing is loaded here.
    is_final = isinstance(failure, _FINAL)
    if not is_final and (descriptor.typing_context.load_late() or load_extension_packages()):
        return lower_function(request, return_type)
    from numba_gpucore.compile.explain import explain_error  # noqa: PLC0415 - 3 ms, and for errors only

    try:
        raise explain_error(failure, request.py_func)
    finally:
        del failure  # its traceback holds this frame


def _run_passes(request: CompileRequest, return_type: ArgType | None, descriptor: DeviceDescriptor) -> Any:
    with target_override(request.target.name):
        result = compiler.compile_extra(
            typingctx=descriptor.typing_context,
            targetctx=descriptor.target_context,
            func=request.py_func,
            args=tuple(map(to_numba, request.arg_types)),
            return_type=None if return_type is None else to_numba(return_type),
            flags=kernel_flags(request.options, request.target),
            locals={},
            pipeline_class=DeviceCompiler,
        )
    result.library.finalize()
    return result
