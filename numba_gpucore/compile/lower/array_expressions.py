"""Lowering of `array[index] = a + b * c` over whole arrays. Before: Numba joins such expressions. After: a loop.

Numba evaluates the expression into a new array, for which a device has no heap. Here operands are noted where the
expression stands and evaluated item by item where the result is assigned to part of an existing array.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm_ir

from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.lower.array_assignment import (
    View,
    broadcast_onto,
    has_same_places,
    memory_overlaps,
    throw_overlap,
    view_of_array,
    view_of_index,
)
from numba_gpucore.compile.numba_api import arrayobj, cgutils, errors, ir, types

I64 = llvm_ir.IntType(64)
_ATTRIBUTE = "_gpucore_pending_expressions"
#: Statements that may stand between an expression and its assignment: they make the index and change no array.
_INDEX_OPS = ("build_tuple", "getattr", "static_getitem", "binop", "unary", "cast", "call")


@dataclass(frozen=True)
class PendingExpression:
    """`tree` is Numba's: (operator or ufunc, [trees, variables, constants]); `operands` hold (type, value) by name."""

    tree: Any
    operands: dict[str, tuple[types.Type, Any]]


def lower_array_expression(lowerer, expr):
    """Numba's "arrayexpr" operation. Raises UnsupportedError where the result would need memory of its own."""
    target = _assigned_variable(lowerer.func_ir, expr)
    if target is None:
        raise errors.UnsupportedError(
            "a kernel cannot make a new array: assign the expression to part of an existing one (out[:] = a + b), "
            "or loop over the items",
            expr.loc,
        )
    operands = {var.name: (lowerer.typeof(var.name), lowerer.loadvar(var.name)) for var in expr.list_vars()}
    pending = lowerer.__dict__.setdefault(_ATTRIBUTE, {})
    pending[target] = PendingExpression(expr.expr, operands)
    return lowerer.context.get_constant_null(expr.ty)


def lower_pending_assignment(lowerer, statement) -> bool:
    """If `statement` assigns a pending expression to part of an array, lower it and return True."""
    if not isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
        return False
    pending = getattr(lowerer, _ATTRIBUTE, {}).pop(statement.value.name, None)
    if pending is None:
        return False
    index = statement.index if isinstance(statement, ir.SetItem) else statement.index_var
    array_type = lowerer.typeof(statement.target.name)
    destination = view_of_index(
        lowerer.context,
        lowerer.builder,
        array_type,
        lowerer.loadvar(statement.target.name),
        lowerer.typeof(index.name),
        lowerer.loadvar(index.name),
    )
    _evaluate_into(lowerer.context, lowerer.builder, destination, pending)
    return True


def _assigned_variable(func_ir, expr) -> str | None:
    """The variable that `expr` is assigned to, if all that happens to it is one later assignment to part of an array,
    with nothing between that could change an operand."""
    for block in func_ir.blocks.values():
        for position, statement in enumerate(block.body):
            if isinstance(statement, ir.Assign) and statement.value is expr:
                target = statement.target.name
                return target if _is_only_stored(block.body[position + 1 :], target) else None
    return None


def _is_only_stored(statements, target: str) -> bool:
    for statement in statements:
        if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
            names_target = [var.name for var in statement.list_vars()].count(target)
            return statement.value.name == target and names_target == 1
        if isinstance(statement, ir.Del):
            continue
        is_index_part = isinstance(statement, ir.Assign) and (
            not isinstance(statement.value, ir.Expr) or statement.value.op in _INDEX_OPS
        )
        if not is_index_part or target in [var.name for var in statement.list_vars()]:
            return False
    return False


def _evaluate_into(context, builder, destination: View, pending: PendingExpression) -> None:
    views = {
        name: broadcast_onto(context, builder, view_of_array(context, builder, type_, value), destination.extents)
        for name, (type_, value) in pending.operands.items()
        if isinstance(type_, types.Array)
    }
    for view in views.values():
        overlaps = memory_overlaps(builder, context, destination, view)
        is_unsafe = builder.and_(overlaps, builder.not_(has_same_places(builder, destination, view)))
        with cgutils.if_unlikely(builder, is_unsafe):
            throw_overlap(context, builder)
    with cgutils.loop_nest(builder, destination.extents, I64) as indices:
        items = dict(pending.operands)
        for name, view in views.items():
            pointer = view.item_pointer(builder, indices)
            items[name] = view.type.dtype, arrayobj.load_item(context, builder, view.type, pointer)
        type_, value = _evaluate(context, builder, pending.tree, items)
        value = context.cast(builder, value, type_, destination.type.dtype)
        arrayobj.store_item(context, builder, destination.type, value, destination.item_pointer(builder, indices))


def _evaluate(context, builder, tree, items):
    """(type, value) of an expression over scalars, typed as Numba types scalars."""
    if isinstance(tree, ir.Var):
        return items[tree.name]
    if isinstance(tree, ir.Const):
        type_ = context.typing_context.resolve_value_type(tree.value)
        return type_, context.get_constant_generic(builder, type_, tree.value)
    function, arguments = tree
    evaluated = [_evaluate(context, builder, argument, items) for argument in arguments]
    function_type = context.typing_context.resolve_value_type(function)
    sig = function_type.get_call_type(context.typing_context, tuple(type_ for type_, _value in evaluated), {})
    implementation = context.get_function(function_type, sig)
    converted = [
        context.cast(builder, value, type_, wanted) for (type_, value), wanted in zip(evaluated, sig.args, strict=True)
    ]
    return sig.return_type, implementation(builder, converted)
