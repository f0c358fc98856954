"""Lowering of libdevice's functions to calls of `gpu.libdevice.*`. Before: typing.libdevice. After: a back-end's own
libdevice, or compile.libdevice_counterparts."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore import libdevice
from numba_gpucore.compile.intrinsics import libdevice_symbol
from numba_gpucore.compile.llvm_calls import call_placeholder, context_pointer
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types
from numba_gpucore.libdevice import LibdeviceFunction


def result_types(sig) -> tuple[types.Type, ...]:
    """What a function gives, one by one."""
    return tuple(sig.return_type) if isinstance(sig.return_type, types.BaseTuple) else (sig.return_type,)


def _lower_function(function: LibdeviceFunction) -> None:
    def implement(context, builder, sig, args):
        llvm_types = [context.get_value_type(type_) for type_ in result_types(sig)]
        is_tuple = len(llvm_types) > 1
        result_type = ir.LiteralStructType(llvm_types) if is_tuple else llvm_types[0]
        symbol = libdevice_symbol(function.name)
        result = call_placeholder(builder, symbol, result_type, context_pointer(builder), *args)
        if not is_tuple:
            return result
        items = [builder.extract_value(result, i) for i in range(len(llvm_types))]
        return context.make_tuple(builder, sig.return_type, items)

    lower(function, *(getattr(types, name) for name in function.params))(implement)


for _function in libdevice.functions().values():
    _lower_function(_function)
