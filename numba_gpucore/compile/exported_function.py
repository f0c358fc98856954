"""A device function that code of other compilers can call. Before: CompileRequest. After: Codegen, as for kernels.

Two conventions, both with arguments as Numba flattens them (an array is meminfo, parent, item count, item size, data,
extents, strides):

* "c": `R name(args...)`. A throw returns zero.
* "numba": `int32 name(R* result, args...)`, what numba-cuda's own functions look like; non-zero means a throw.
"""

from __future__ import annotations

from typing import Any, Literal

from llvmlite import ir

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.driver import Lowered, link_lowered, plain_symbol
from numba_gpucore.compile.entry_lines import mark_lines
from numba_gpucore.compile.llvm_calls import POINTER
from numba_gpucore.compile.numba_api import cgutils, global_compiler_lock, itanium_mangler, types
from numba_gpucore.compile.run_passes import lower_function

Abi = Literal["c", "numba"]
_SYMBOL = late_pattern(r"[A-Za-z_][A-Za-z0-9_$]*")


@global_compiler_lock
def lower_device_function(
    request: CompileRequest, abi: Abi, name: str | None, return_type: ArgType | None = None
) -> Lowered:
    """Type, lower and link a device function under the symbol `name`.

    The default is the Python name for "c", and that with the argument types mangled in for "numba". What the function
    returns is cast to `return_type`, if that is given.
    """
    if name is not None and not _SYMBOL.fullmatch(name):
        raise OptionError(f"{name!r} cannot be the name of a function in C; abi_info names it as abi_name")
    result = lower_function(request, return_type)
    symbol = name or _default_symbol(result, request, abi)
    wrapper = _build_wrapper(result, request, symbol, abi)
    return link_lowered(result, request, symbol, (), wrapper)


def _default_symbol(result: Any, request: CompileRequest, abi: Abi) -> str:
    if abi == "c":
        return plain_symbol(request.py_func.__name__)
    # Numba's own mangled name also counts compilations, which would make the text depend on what was compiled before.
    return itanium_mangler.mangle(request.py_func.__qualname__, result.fndesc.argtypes)


def _build_wrapper(result: Any, request: CompileRequest, symbol: str, abi: Abi) -> ir.Module:
    context = result.target_context
    module = context.create_module(symbol)
    callee_type = context.call_conv.get_function_type(result.signature.return_type, result.fndesc.argtypes)
    callee = ir.Function(module, callee_type, result.fndesc.llvm_func_name)
    result_pointer, _context, *arguments = callee_type.args
    returns_value = result.signature.return_type not in (types.none, types.void)
    if abi == "numba":
        function_type = ir.FunctionType(callee_type.return_type, [result_pointer, *arguments])
    else:
        function_type = ir.FunctionType(result_pointer.pointee if returns_value else ir.VoidType(), arguments)
    function = ir.Function(module, function_type, symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    mark_lines(context, builder, request)
    no_context = POINTER(None)
    if abi == "numba":
        builder.ret(builder.call(callee, [function.args[0], no_context, *function.args[1:]]))
        return module
    slot = cgutils.alloca_once_value(builder, cgutils.get_null_value(result_pointer.pointee))
    builder.call(callee, [slot, no_context, *function.args])
    if returns_value:
        builder.ret(builder.load(slot))
    else:
        builder.ret_void()
    return module
