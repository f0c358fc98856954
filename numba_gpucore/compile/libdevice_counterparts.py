"""libdevice's functions where there is no libdevice. Before: lower.libdevice. After: linking.

`runtime.libdevice` has counterparts in Python for most of them. Each that a kernel uses is compiled like a device
function and given libdevice's name in device IR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from llvmlite import ir

from numba_gpucore import libdevice
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.call_chains import user_place
from numba_gpucore.compile.code_library import DeviceLibrary
from numba_gpucore.compile.intrinsics import libdevice_symbol, parse_libdevice_symbol
from numba_gpucore.compile.llvm_calls import POINTER
from numba_gpucore.compile.lower.libdevice import result_types
from numba_gpucore.compile.numba_api import cgutils
from numba_gpucore.compile.numba_types import from_numba
from numba_gpucore.compile.run_passes import lower_function
from numba_gpucore.compile.typing.libdevice import signature_of
from numba_gpucore.runtime import libdevice as counterparts
from numba_gpucore.runtime.libdevice import COUNTERPARTS


def libdevice_counterparts(library: DeviceLibrary, request: CompileRequest) -> list[str]:
    """Modules that define the `gpu.libdevice.*` which `library` needs; it then holds all that they use.

    Raises UnsupportedKernelError that names every function without a counterpart, at the user's line.
    """
    names = sorted({name for symbol in library.all_symbols() if (name := parse_libdevice_symbol(symbol))})
    faults = [_no_counterpart(name, library, request) for name in names if name not in COUNTERPARTS]
    if faults:
        raise UnsupportedKernelError(request.py_func.__name__, faults)
    return [_define(name, COUNTERPARTS[name], library, request) for name in names]


def _no_counterpart(name: str, library: DeviceLibrary, request: CompileRequest) -> Fault:
    filename, line = user_place(libdevice_symbol(name), library, request)
    what = f"libdevice.{name} exists on NVIDIA GPUs only; the back-end '{request.backend}' has no counterpart"
    return Fault(filename, line, what, "write it with functions of math")


def _define(name: str, counterpart: Callable[..., Any], library: DeviceLibrary, request: CompileRequest) -> str:
    counterpart = _as_python(counterpart, len(libdevice.functions()[name].params))
    signature = signature_of(libdevice.functions()[name])
    # Under debug a division by zero would raise, which no function of libdevice does.
    options = replace(request.options, debug=False, lineinfo=False)
    arg_types = tuple(map(from_numba, signature.args))
    result = lower_function(replace(request, py_func=counterpart, arg_types=arg_types, options=options))
    library.add_linking_library(result.library)
    return str(_build_wrapper(result, signature, libdevice_symbol(name)))


def _as_python(function: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """A Python function that Numba can compile, where `function` is one that it only knows how to call."""
    if getattr(function, "__module__", "") == counterparts.__name__:
        return function
    return _CALLERS[arity](function)


_CALLERS: dict[int, Callable[..., Callable[..., Any]]] = {
    1: lambda function: lambda x: function(x),
    2: lambda function: lambda x, y: function(x, y),
    3: lambda function: lambda x, y, z: function(x, y, z),
}


def _build_wrapper(result: Any, signature: Any, symbol: str) -> ir.Module:
    """`T symbol(ptr ctx, args...)` around a device function whose result is cast to the declared one."""
    context, given = result.target_context, result.signature.return_type
    module = context.create_module(symbol)
    callee_type = context.call_conv.get_function_type(given, signature.args)
    callee = ir.Function(module, callee_type, result.fndesc.llvm_func_name)
    llvm_types = [context.get_value_type(type_) for type_ in result_types(signature)]
    result_type = ir.LiteralStructType(llvm_types) if len(llvm_types) > 1 else llvm_types[0]
    function = ir.Function(module, ir.FunctionType(result_type, [POINTER, *callee_type.args[2:]]), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    slot = cgutils.alloca_once_value(builder, cgutils.get_null_value(callee_type.args[0].pointee))
    builder.call(callee, [slot, *function.args])
    value = context.get_returned_value(builder, given, builder.load(slot))
    value = context.cast(builder, value, given, signature.return_type)
    if len(llvm_types) > 1:
        items = cgutils.unpack_tuple(builder, value, len(llvm_types))
        value = cgutils.pack_struct(builder, items)
    builder.ret(value)
    return module
