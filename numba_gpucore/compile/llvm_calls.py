"""Calls to neutral intrinsics and placeholders, for lowering. Before: intrinsics. After: lower/, call_conv."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore.compile.intrinsics import INTRINSICS, IRType
from numba_gpucore.compile.numba_api import cgutils

POINTER = ir.IntType(8).as_pointer()
LLVM_TYPES: dict[IRType, ir.Type] = {
    "void": ir.VoidType(),
    "i1": ir.IntType(1),
    "i8": ir.IntType(8),
    "i16": ir.IntType(16),
    "i32": ir.IntType(32),
    "i64": ir.IntType(64),
    "half": ir.HalfType(),
    "<2 x half>": ir.VectorType(ir.HalfType(), 2),
    "float": ir.FloatType(),
    "double": ir.DoubleType(),
    "ptr": POINTER,
}


def context_pointer(builder: ir.IRBuilder) -> ir.Value:
    """The hidden context pointer of the function that is being built."""
    return builder.function.args[1]


def call_intrinsic(builder: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value:
    """Call the neutral intrinsic `name`; the context pointer is added where the table says so."""
    intrinsic = INTRINSICS[name]
    params = [LLVM_TYPES[param] for param in intrinsic.params]
    if intrinsic.takes_context:
        params.insert(0, POINTER)
        args = (context_pointer(builder), *args)
    type_ = ir.FunctionType(LLVM_TYPES[intrinsic.result], params)
    function = cgutils.get_or_insert_function(builder.module, type_, name)
    if intrinsic.convergent:
        function.attributes.add("convergent")
    return builder.call(function, args)


def call_placeholder(builder: ir.IRBuilder, symbol: str, result: ir.Type, *args: ir.Value) -> ir.Value:
    """Call a `gpu.shared.*` (pass the context pointer) or `gpu.site.*` placeholder."""
    type_ = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, type_, symbol), args)
