"""Lowering of short vectors to LLVM's, which back-ends print as their own. Before: typing. After: target context."""

from __future__ import annotations

import operator

from llvmlite import ir

from numba_gpucore import language
from numba_gpucore.compile.intrinsics import HALF2_FMA
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.float_math import call_llvm, call_real
from numba_gpucore.compile.lower.memory import make_c_array
from numba_gpucore.compile.lower.registry import lower, lower_getattr_generic, lower_setattr_generic
from numba_gpucore.compile.numba_api import arrayobj, cgutils, datamodel, errors, types
from numba_gpucore.compile.typing.vectors import COMPONENTS, NUMBER_VECTORS, ArrayView, NumberVector

I32, I64 = ir.IntType(32), ir.IntType(64)
#: No device has instructions for wider ones.
_MAX_NATIVE_NBYTES = 16


@datamodel.register_default(NumberVector)
class NumberVectorModel(datamodel.models.PrimitiveModel):
    """One number is itself, a vector of up to 16 bytes is LLVM's, and a wider one a struct."""

    def __init__(self, dmm, fe_type):
        item = dmm.lookup(fe_type.base_type).get_value_type()
        count = fe_type.num_elements
        if count == 1:
            type_ = item
        elif count * fe_type.base_type.bitwidth // 8 <= _MAX_NATIVE_NBYTES:
            type_ = ir.VectorType(item, count)
        else:
            type_ = ir.LiteralStructType([item] * count)
        super().__init__(dmm, fe_type, type_)


def get_component(builder, vector, index: int):
    if isinstance(vector.type, ir.VectorType):
        return builder.extract_element(vector, I32(index))
    if isinstance(vector.type, ir.LiteralStructType):
        return builder.extract_value(vector, index)
    return vector


def make_vector(builder, type_: ir.Type, components):
    """A vector of LLVM type `type_`, as NumberVectorModel has it."""
    if isinstance(type_, ir.VectorType):
        vector = ir.Constant(type_, ir.Undefined)
        for index, component in enumerate(components):
            vector = builder.insert_element(vector, component, I32(index))
        return vector
    if isinstance(type_, ir.LiteralStructType):
        vector = ir.Constant(type_, ir.Undefined)
        for index, component in enumerate(components):
            vector = builder.insert_value(vector, component, index)
        return vector
    (only,) = components
    return only


def _components(builder, type_: NumberVector, vector):
    return [get_component(builder, vector, index) for index in range(type_.num_elements)]


def lower_constructor(context, builder, sig, args):
    result = sig.return_type
    components = []
    for type_, value in zip(sig.args, args, strict=True):
        parts = _components(builder, type_, value) if isinstance(type_, NumberVector) else [value]
        base = type_.base_type if isinstance(type_, NumberVector) else type_
        components += [context.cast(builder, part, base, result.base_type) for part in parts]
    return make_vector(builder, context.get_value_type(result), components)


for _class in NUMBER_VECTORS:
    lower(_class, types.VarArg(types.Any))(lower_constructor)


@lower_getattr_generic(NumberVector)
def lower_component(_context, builder, _type, value, name):
    return get_component(builder, value, COMPONENTS.index(name))


@lower_setattr_generic(NumberVector)
def refuse_to_change(_context, _builder, sig, _args, name):
    raise errors.UnsupportedError(f"a vector cannot be changed: make a new {sig.args[0]} with another .{name}")


def _spread(context, builder, vector_type: NumberVector, type_, value):
    """The value as a vector: a number fills one."""
    if isinstance(type_, NumberVector):
        return value
    return make_vector(builder, context.get_value_type(vector_type), [value] * vector_type.num_elements)


def _map_components(builder, type_: ir.Type, compute, *vectors):
    """`compute` on whole vectors where LLVM has them, else component by component."""
    if not isinstance(type_, ir.LiteralStructType):
        return compute(*vectors)
    parts = zip(*([builder.extract_value(v, i) for i in range(len(type_))] for v in vectors), strict=True)
    return make_vector(builder, type_, [compute(*components) for components in parts])


#: Names of builder methods for (floats, integers).
_BUILDERS = {
    operator.add: ("fadd", "add"), operator.iadd: ("fadd", "add"), operator.sub: ("fsub", "sub"),
    operator.isub: ("fsub", "sub"), operator.mul: ("fmul", "mul"), operator.imul: ("fmul", "mul"),
    operator.truediv: ("fdiv", ""), operator.itruediv: ("fdiv", ""),
}  # fmt: skip


def _lower_arithmetic(function) -> None:
    of_floats, of_integers = _BUILDERS[function]

    def implement(context, builder, sig, args):
        vector = sig.return_type
        compute = getattr(builder, of_floats if isinstance(vector.base_type, types.Float) else of_integers)
        spread = [_spread(context, builder, vector, type_, arg) for type_, arg in zip(sig.args, args, strict=True)]
        return _map_components(builder, context.get_value_type(vector), compute, *spread)

    for operands in ((NumberVector, NumberVector), (NumberVector, types.Number), (types.Number, NumberVector)):
        lower(function, *operands)(implement)


for _function in _BUILDERS:
    _lower_arithmetic(_function)


@lower(operator.neg, NumberVector)
def lower_negation(context, builder, sig, args):
    compute = builder.fneg if isinstance(sig.return_type.base_type, types.Float) else builder.neg
    return _map_components(builder, context.get_value_type(sig.return_type), compute, *args)


@lower(language.fma, NumberVector, NumberVector, NumberVector)
def lower_fma(context, builder, sig, args):
    vector = sig.return_type
    type_ = context.get_value_type(vector)
    if vector.base_type == types.float16:
        return (
            _fma_of_pairs(builder, vector, type_, args) if vector.num_elements > 1 else call_real(builder, "fma", *args)
        )
    return _map_components(builder, type_, lambda *parts: _call_llvm_fma(builder, *parts), *args)


def _call_llvm_fma(builder, *args):
    type_ = args[0].type
    if not isinstance(type_, ir.VectorType):
        return call_llvm(builder, "llvm.fma", *args)
    name = f"llvm.fma.v{type_.count}{type_.element.intrinsic_name}"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(type_, [type_] * 3), name)
    return builder.call(function, args)


def _fma_of_pairs(builder, vector: NumberVector, type_: ir.VectorType, args):
    """Halves in pairs, for which GPUs have an instruction."""
    pair = ir.VectorType(ir.HalfType(), 2)
    components = [_components(builder, vector, arg) for arg in args]
    results = []
    for start in range(0, vector.num_elements, 2):
        parts = [c[start : start + 2] for c in components]
        pairs = [make_vector(builder, pair, (p * 2)[:2]) for p in parts]
        fused = call_intrinsic(builder, HALF2_FMA, *pairs)
        results += [get_component(builder, fused, index) for index in range(2)]
    return make_vector(builder, type_, results[: vector.num_elements])


@lower(ArrayView.key, types.Array, types.DTypeSpec)
def lower_view_of_numbers(context, builder, sig, args):
    return arrayobj.array_view(context, builder, sig, args)


@lower(ArrayView.key, types.Array, types.Function)
def lower_view_of_vectors(context, builder, sig, args):
    """Throws ValueError where the last axis is no multiple of the components, or the start not aligned to a vector."""
    source_type, result_type = sig.args[0], sig.return_type
    structure = context.make_array(source_type)(context, builder, args[0])
    extents = cgutils.unpack_tuple(builder, structure.shape, source_type.ndim)
    count = I64(result_type.dtype.num_elements)
    is_odd = builder.icmp_unsigned("!=", builder.urem(extents[-1], count), I64(0))
    with cgutils.if_unlikely(builder, is_odd):
        text = f"view({result_type.dtype}): the last axis must be a multiple of {result_type.dtype.num_elements}"
        context.call_conv.return_user_exc(builder, ValueError, (text,))
    align_nbytes = context.get_abi_alignment(context.get_data_type(result_type.dtype))
    address = builder.ptrtoint(structure.data, I64)
    is_misaligned = builder.icmp_unsigned("!=", builder.and_(address, I64(align_nbytes - 1)), I64(0))
    with cgutils.if_unlikely(builder, is_misaligned):
        text = f"view({result_type.dtype}): the array must start at a multiple of {align_nbytes} bytes"
        context.call_conv.return_user_exc(builder, ValueError, (text,))
    groups = [*extents[:-1], builder.udiv(extents[-1], count)]
    return make_c_array(context, builder, result_type, structure.data, groups)
