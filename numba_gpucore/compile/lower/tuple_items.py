"""Lowering of `tuple[i]` with an index that is known only when the kernel runs, and of loops over tuples.

Before: DeviceLower. After: bounds. Numba's own lowering throws IndexError without index and size. Here they are told,
and what is left cannot fail. It also makes one LLVM phi of items that are tuples, complex numbers or arrays themselves,
which no pass of LLVM takes apart and MSL cannot express; here each number of them has its own.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator

from llvmlite import ir

from numba_gpucore.compile.bounds import check_bounds
from numba_gpucore.compile.lower.registry import replace
from numba_gpucore.compile.numba_api import imputils, types


def check_tuple_index(lowerer, signature, index):
    """Throw unless `index` (of the type in the signature) lies in the tuple; negative ones count from its end.

    Returns the index from the start, of the same type.
    """
    tuple_type, index_type = signature.args
    context, builder = lowerer.context, lowerer.builder
    wide = context.cast(builder, index, index_type, types.intp)
    count = wide.type(len(tuple_type))
    if index_type.signed:
        wide = builder.select(builder.icmp_signed("<", wide, wide.type(0)), builder.add(wide, count), wide)
    check_bounds(context, builder, wide, count, 0, index_type.signed)
    return context.cast(builder, wide, types.intp, index_type)


def is_tuple_index(signature) -> bool:
    """True for `tuple[i]` with an integer `i`."""
    tuple_type, index_type = signature.args
    return isinstance(tuple_type, types.BaseTuple) and isinstance(index_type, types.Integer)


def _numbers_in(builder, value) -> Iterator[ir.Value]:
    """The scalars of an LLVM value, in order."""
    if not isinstance(value.type, ir.Aggregate):
        yield value
        return
    for place in range(len(value.type)):
        yield from _numbers_in(builder, builder.extract_value(value, place))


def _assemble(builder, type_, numbers: Iterator[ir.Value]):
    """The inverse of `_numbers_in`."""
    if not isinstance(type_, ir.Aggregate):
        return next(numbers)
    value = type_(ir.Undefined)
    for place, item_type in enumerate(type_.elements):
        value = builder.insert_value(value, _assemble(builder, item_type, numbers), place)
    return value


def select_item(builder, values, position):
    """The LLVM value at a position within a tuple of values of one type."""
    starts = [builder.append_basic_block(f"item.{i}") for i in range(len(values.type))]
    end = builder.append_basic_block("item.end")
    beyond = builder.append_basic_block("item.beyond")
    switch = builder.switch(position, beyond)
    with builder.goto_block(beyond):
        builder.unreachable()
    choices = []
    for i, start in enumerate(starts):
        switch.add_case(position.type(i), start)
        with builder.goto_block(start):
            choices.append(list(_numbers_in(builder, builder.extract_value(values, i))))
            builder.branch(end)
    builder.position_at_end(end)
    phis = [builder.phi(number.type) for number in choices[0]]
    for start, numbers in zip(starts, choices, strict=True):
        for phi, number in zip(phis, numbers, strict=True):
            phi.add_incoming(number, start)
    return _assemble(builder, values.type.elements[0], iter(phis))


def lower_tuple_item(context, builder, sig, args):
    """`check_tuple_index` stands before it."""
    values, position = args
    if len(sig.args[0]) == 0:
        return context.get_constant_null(sig.return_type)
    return select_item(builder, values, position)


@replace("iternext", types.UniTupleIter)
@imputils.iternext_impl(imputils.RefType.BORROWED)
def lower_next_item(context, builder, sig, args, result):
    (iterator_type,) = sig.args
    iterator = context.make_helper(builder, iterator_type, value=args[0])
    place = iterator.index
    position = builder.load(place)
    count = position.type(len(iterator_type.container))
    is_valid = builder.icmp_unsigned("<", position, count)
    result.set_valid(is_valid)
    with builder.if_then(is_valid):
        result.yield_(select_item(builder, iterator.tuple, position))
        builder.store(builder.add(position, position.type(1)), place)


for _tuple in (types.UniTuple, types.NamedUniTuple):
    for _index in (types.intp, types.uintp):
        replace(operator.getitem, _tuple, _index)(lower_tuple_item)
