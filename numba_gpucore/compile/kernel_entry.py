"""The function a device starts: from parameter slots to Numba's values. Before: lowering. After: linking."""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir

from numba_gpucore.base.argtypes import (
    ArgType,
    ArrayType,
    EnumType,
    NamedTupleType,
    NoneArgType,
    OptionalType,
    PointerType,
    RecordType,
    ScalarType,
    TupleType,
)
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.params import ParamSlot, is_by_address
from numba_gpucore.compile.entry_lines import mark_lines
from numba_gpucore.compile.llvm_calls import POINTER
from numba_gpucore.compile.lower.array_items import make_array_value
from numba_gpucore.compile.numba_api import cgutils, types
from numba_gpucore.compile.numba_types import to_numba
from numba_gpucore.compile.weak_numbers import strengthen

I64 = ir.IntType(64)
NULL = ir.Constant(POINTER, None)
#: With it LLVM proves of most indices that they neither overflow nor are negative. No memory holds 2**62 items.
#: llvmlite has no such attribute; it writes any name out as it is. Source: LLVM Language Reference, "range".
_EXTENT_RANGE = f"range(i64 0, {1 << 62})"
_FLOATS = {2: ir.HalfType(), 4: ir.FloatType(), 8: ir.DoubleType()}


def slot_type(slot: ParamSlot) -> ir.Type:
    """The LLVM type of the entry's parameter for one slot."""
    if slot.kind == "address":
        return POINTER
    return _FLOATS[slot.nbytes] if slot.kind == "float" else ir.IntType(8 * slot.nbytes)


def build_entry(result, request: CompileRequest, slots: tuple[ParamSlot, ...], entry: str) -> ir.Module:
    """A module that defines `void entry(ptr ctx, slots...)`, which calls the function of a CompileResult."""
    context = result.target_context
    module = context.create_module(entry)
    callee_type = context.call_conv.get_function_type(result.signature.return_type, result.fndesc.argtypes)
    callee = ir.Function(module, callee_type, result.fndesc.llvm_func_name)
    function_type = ir.FunctionType(ir.VoidType(), [POINTER, *map(slot_type, slots)])
    function = ir.Function(module, function_type, entry)
    function.args[0].name = "ctx"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    mark_lines(context, builder, request)
    values = _ValueReader(context, builder, function.args[1:], result.fndesc.args, slots)
    arguments = [values.read(type_) for type_ in request.arg_types]
    numba_types = [to_numba(type_) for type_ in request.arg_types]
    _call(context, builder, callee, numba_types, arguments)
    builder.ret_void()
    return module


def _call(context, builder, callee, numba_types, arguments) -> None:
    """Like ContextCallConv.call_function, for a caller whose context comes first and that ignores the status."""
    return_type = callee.args[0].type.pointee
    slot = cgutils.alloca_once(builder, return_type)
    builder.store(cgutils.get_null_value(return_type), slot)
    packed = context.get_arg_packer(numba_types).as_arguments(builder, arguments)
    builder.call(callee, [slot, builder.function.args[0], *packed])


class _ValueReader:
    """Takes slots in order and makes Numba values of them."""

    def __init__(self, context, builder, params, names: tuple[str, ...], slots: tuple[ParamSlot, ...]):
        self._context = context
        self._builder = builder
        self._params: Iterator[ir.Argument] = iter(params)
        for param, slot in zip(params, slots, strict=True):
            param.name = f"{names[slot.argument]}.{slot.kind}"
            if slot.kind == "extent":
                set.add(param.attributes, _EXTENT_RANGE)

    def read(self, type_: ArgType) -> ir.Value:
        context, builder = self._context, self._builder
        match type_:
            case ScalarType() | RecordType():
                return self._read_scalar(type_)
            case ArrayType():
                return self._read_array(type_)
            case TupleType(items=items) | NamedTupleType(items=items):
                values = [self.read(item) for item in items]
                return context.make_tuple(builder, to_numba(type_), values)
            case EnumType(dtype=dtype):
                return self.read(dtype)
            case PointerType():
                return builder.bitcast(next(self._params), context.get_value_type(to_numba(type_)))
            case NoneArgType():
                return context.get_dummy_value()
            case OptionalType(item=item):
                value = self.read(item)
                return self._make_optional(to_numba(type_), value, next(self._params))
        raise TypeError(f"no such argument type: {type_!r}")

    def _read_scalar(self, type_: ScalarType | RecordType) -> ir.Value:
        context, builder, numba_type = self._context, self._builder, strengthen(to_numba(type_))
        if is_by_address(type_):
            bytes_pointer = next(self._params)
            if isinstance(numba_type, types.Record):
                return builder.bitcast(bytes_pointer, context.get_value_type(numba_type))
            data_pointer = builder.bitcast(bytes_pointer, context.get_data_type(numba_type).as_pointer())
            return context.unpack_value(builder, numba_type, data_pointer)
        if isinstance(numba_type, types.Complex):
            value = context.make_complex(builder, numba_type)
            value.real, value.imag = next(self._params), next(self._params)
            return value._getvalue()
        param = next(self._params)
        if isinstance(numba_type, types.Boolean):
            return builder.icmp_unsigned("!=", param, param.type(0))
        return param

    def _read_array(self, type_: ArrayType) -> ir.Value:
        context, builder, numba_type = self._context, self._builder, to_numba(type_)
        item_nbytes = context.get_abi_sizeof(context.get_data_type(numba_type.dtype))
        address = next(self._params)
        shape = [next(self._params) for _ in range(type_.ndim)]
        if type_.layout == "A":
            strides = [next(self._params) for _ in range(type_.ndim)]
        else:
            strides = self._contiguous_strides(shape, item_nbytes, type_.layout)
        data = builder.bitcast(address, context.get_data_type(numba_type.dtype).as_pointer())
        return make_array_value(context, builder, numba_type, data, shape, strides, I64(item_nbytes), NULL, NULL)

    def _contiguous_strides(self, shape: list[ir.Value], item_nbytes: int, layout: str) -> list[ir.Value]:
        order = range(len(shape)) if layout == "F" else reversed(range(len(shape)))
        strides: list[ir.Value] = [I64(0)] * len(shape)
        stride: ir.Value = I64(item_nbytes)
        for axis in order:
            strides[axis] = stride
            stride = self._builder.mul(stride, shape[axis], flags=["nsw"])
        return strides

    def _make_optional(self, numba_type: types.Optional, value: ir.Value, valid: ir.Value) -> ir.Value:
        optional = self._context.make_helper(self._builder, numba_type)
        optional.data = value
        optional.valid = self._builder.icmp_unsigned("!=", valid, valid.type(0))
        return optional._getvalue()
