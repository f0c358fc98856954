"""Lowering of atomic updates to `atomicrmw` and `cmpxchg` with monotonic ordering. Source: LLVM Language Reference.

CUDA's `atomic.max` and `min` leave memory alone where either value is NaN, which `atomicrmw fmax` does not: those are
compare-and-swap loops. `nanmax` and `nanmin` are `fmax` and `fmin`.
"""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore import language
from numba_gpucore.compile.intrinsics import NARROW_BFLOAT, WIDEN_BFLOAT
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.float_math import layout_of
from numba_gpucore.compile.lower.indexing import place_index, unpack_index
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types
from numba_gpucore.compile.typing.bfloat16 import BFloat16

ORDERING = "monotonic"

#: `atomicrmw` operations for (signed integers, unsigned integers, floats); None: not typed or not so simple.
OPERATIONS = {
    language.atomic.add: ("add", "add", "fadd"),
    language.atomic.sub: ("sub", "sub", "fsub"),
    language.atomic.and_: ("and", "and", None),
    language.atomic.or_: ("or", "or", None),
    language.atomic.xor: ("xor", "xor", None),
    language.atomic.inc: (None, "uinc_wrap", None),
    language.atomic.dec: (None, "udec_wrap", None),
    language.atomic.exch: ("xchg", "xchg", "xchg"),
    language.atomic.max: ("max", "umax", None),
    language.atomic.min: ("min", "umin", None),
    language.atomic.nanmax: ("max", "umax", "fmax"),
    language.atomic.nanmin: ("min", "umin", "fmin"),
}
#: Memory is replaced while it compares so to the operand.
FLOAT_EXTREMES = {language.atomic.max: "<", language.atomic.min: ">"}


def item_pointer(context, builder, array_type, array, index_type, index):
    """Address of the item, after wraparound of negative indices and, where asked for, a bounds check."""
    # Floats are taken too, see typing.atomics.
    types_, values = unpack_index(context, builder, index_type, index)
    index_types = [type_ if isinstance(type_, types.Integer) else types.intp for type_ in types_]
    indices = [context.cast(builder, *pair) for pair in zip(values, types_, index_types, strict=True)]
    structure = context.make_array(array_type)(context, builder, array)
    return place_index(context, builder, array_type, structure, index_types, indices)[0]


def _operation(function, type_: types.Type) -> str | None:
    signed, unsigned, real = OPERATIONS[function]
    if isinstance(type_, types.Float):
        return real
    return signed if type_.signed else unsigned


def _lower_update(function) -> None:
    @lower(function, types.Array, types.Any, types.Any)
    def implement(context, builder, sig, args):
        array_type, index_type, value_type = sig.args
        array, index, value = args
        pointer = item_pointer(context, builder, array_type, array, index_type, index)
        if isinstance(value_type, BFloat16):
            return _update_bfloat16(function, builder, pointer, value)
        operation = _operation(function, value_type)
        if operation is None:
            return _update_float_extreme(builder, pointer, value, FLOAT_EXTREMES[function])
        return builder.atomic_rmw(operation, pointer, value, ordering=ORDERING)


for _function in OPERATIONS:
    _lower_update(_function)


def _update_float_extreme(builder, pointer, value, replaces_while: str):
    """Replace what memory holds while it compares `replaces_while` (ordered) to `value`."""
    int_type = layout_of(value.type).int_type
    new_bits = builder.bitcast(value, int_type)

    def next_bits(old_bits):
        return new_bits, builder.fcmp_ordered(replaces_while, builder.bitcast(old_bits, value.type), value)

    old_bits = _replace_bits(builder, builder.bitcast(pointer, int_type.as_pointer()), next_bits)
    return builder.bitcast(old_bits, value.type)


def _update_bfloat16(function, builder, pointer, bits):
    """An update of a bfloat16, computed as float32 and rounded once; both are their 16 bits."""
    value = call_intrinsic(builder, WIDEN_BFLOAT, bits)
    always = ir.Constant(ir.IntType(1), 1)

    def next_bits(old_bits):
        if function is language.atomic.exch:
            return bits, always
        old = call_intrinsic(builder, WIDEN_BFLOAT, old_bits)
        if function in FLOAT_EXTREMES:
            return bits, builder.fcmp_ordered(FLOAT_EXTREMES[function], old, value)
        new = builder.fadd(old, value) if function is language.atomic.add else builder.fsub(old, value)
        return call_intrinsic(builder, NARROW_BFLOAT, new), always

    return _replace_bits(builder, pointer, next_bits)


def _replace_bits(builder, pointer, next_bits):
    """`cmpxchg` until it succeeds or is not wanted any more; what memory held before.

    next_bits: of what memory holds, a pair of what it is to hold and whether it is to be replaced.
    """
    int_type = pointer.type.pointee
    start = builder.load_atomic(pointer, ORDERING, align=int_type.width // 8)
    start_block = builder.block
    check = builder.append_basic_block("replace.check")
    swap = builder.append_basic_block("replace.swap")
    done = builder.append_basic_block("replace.done")
    builder.branch(check)
    builder.position_at_end(check)
    old_bits = builder.phi(int_type, "old")
    old_bits.add_incoming(start, start_block)
    new_bits, is_wanted = next_bits(old_bits)
    builder.cbranch(is_wanted, swap, done)
    builder.position_at_end(swap)
    result = builder.cmpxchg(pointer, old_bits, new_bits, ORDERING, ORDERING)
    old_bits.add_incoming(builder.extract_value(result, 0), swap)
    builder.cbranch(builder.extract_value(result, 1), done, check)
    builder.position_at_end(done)
    return old_bits


def _compare_and_swap(builder, pointer, old, value):
    """`cmpxchg` on the bits of integers or floats; the value that memory held."""
    value_type = value.type
    if not isinstance(value_type, ir.IntType):
        int_type = layout_of(value_type).int_type
        pointer = builder.bitcast(pointer, int_type.as_pointer())
        old, value = builder.bitcast(old, int_type), builder.bitcast(value, int_type)
    seen = builder.extract_value(builder.cmpxchg(pointer, old, value, ORDERING, ORDERING), 0)
    return builder.bitcast(seen, value_type)


@lower(language.atomic.cas, types.Array, types.Any, types.Any, types.Any)
def lower_cas(context, builder, sig, args):
    array, index, old, value = args
    pointer = item_pointer(context, builder, sig.args[0], array, sig.args[1], index)
    return _compare_and_swap(builder, pointer, old, value)


@lower(language.atomic.compare_and_swap, types.Array, types.Any, types.Any)
def lower_compare_and_swap(context, builder, sig, args):
    array, old, value = args
    first = context.get_constant(types.intp, 0)
    pointer = item_pointer(context, builder, sig.args[0], array, types.intp, first)
    return _compare_and_swap(builder, pointer, old, value)
