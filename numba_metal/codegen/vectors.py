"""Short vectors: LLVM's `<4 x float>` as Metal's float4. Before: `instructions` asks. After: `print_body`.

Vectors of integers are unsigned, which wraps as LLVM's operations do; a component takes the sign that its use wants.
Vectors of three lie in memory as four. Source: MSL specification 2.2, "Vector Data Types".
"""

from __future__ import annotations

from collections.abc import Callable

from numba_metal.codegen.addresses import cast_pointer, pointer
from numba_metal.codegen.calls import print_call
from numba_metal.codegen.expressions import (
    PRIMARY,
    Expr,
    binary,
    call,
    conditional,
    int_type,
    reinterpret,
    scalar_type,
)
from numba_metal.codegen.float_instructions import print_negation
from numba_metal.codegen.ir_types import (
    BOOL,
    Aggregate,
    ConstInt,
    Instr,
    IntType,
    Local,
    Type,
    Undefined,
    Value,
    VectorType,
    align_of,
)
from numba_metal.codegen.values import CannotPrint, Values

COMPONENTS = "xyzw"
_OPERATORS = {
    "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/", "add": "+", "sub": "-", "mul": "*",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "lshr": ">>",
}  # fmt: skip
#: Conversions that give the same for unsigned numbers.
_CONVERSIONS = frozenset("fpext fptrunc uitofp zext trunc".split())


def is_vector(instr: Instr) -> bool:
    return any(isinstance(type_, VectorType) for type_ in (instr.type, *(value.type for value in instr.operands)))


def print_vector(values: Values, instr: Instr) -> Expr:
    """The result of an instruction that makes or reads a vector. Raises CannotPrint."""
    printer = _PRINTERS.get(instr.opcode)
    if printer is None or (instr.opcode == "select" and instr.operands[0].type != BOOL):
        raise CannotPrint(f"the LLVM instruction '{instr.opcode}' on vectors")
    return printer(values, instr)


def _item_type(type_: Type) -> Type:
    assert isinstance(type_, VectorType)
    return type_.item


def _component(values: Values, vector: Value, index: int) -> Expr:
    """Component `index` of a vector, of an insertion that an expression holds without making the vector."""
    item = scalar_type(_item_type(vector.type), signed=False)
    if isinstance(vector, Aggregate):
        return _scalar(values, vector.items[index])
    if isinstance(vector, Local) and vector.name in values.selection.inline:
        instr = values.selection.definitions[vector.name]
        if instr.opcode == "insertelement" and isinstance(instr.operands[2], ConstInt):
            return _inserted(values, instr, index)
    if isinstance(vector, Undefined):
        return values.expr(Undefined(_item_type(vector.type)))
    return Expr(f"{values.expr(vector).within(PRIMARY)}.{COMPONENTS[index]}", item)


def _scalar(values: Values, value: Value) -> Expr:
    if isinstance(value.type, IntType):
        return values.as_type(value, int_type(value.type.bits, signed=False))
    return values.expr(value)


def _construct(values: Values, type_: Type, parts: list[Expr]) -> Expr:
    name = values.result_type(type_)
    return call(name, *parts, type_=name)


def _insert(values: Values, instr: Instr) -> Expr:
    assert isinstance(instr.type, VectorType)
    if not isinstance(instr.operands[2], ConstInt):
        raise CannotPrint("a change of a vector's component whose number is not constant")
    # the chain of insertions that ends here becomes one construction
    return _construct(values, instr.type, [_inserted(values, instr, index) for index in range(instr.type.count)])


def _inserted(values: Values, instr: Instr, index: int) -> Expr:
    base, value, place = instr.operands
    assert isinstance(place, ConstInt)
    return _scalar(values, value) if place.value == index else _component(values, base, index)


def _extract(values: Values, instr: Instr) -> Expr:
    vector, index = instr.operands
    if isinstance(index, ConstInt):
        return _component(values, vector, index.value)
    item = scalar_type(_item_type(vector.type), signed=False)
    number = values.unsigned(index)
    return Expr(f"{values.expr(vector).within(PRIMARY)}[{number.text}]", item)


def _shuffle(values: Values, instr: Instr) -> Expr:
    first, second = instr.operands
    assert isinstance(first.type, VectorType)
    count = first.type.count
    parts = []
    for index in instr.indices:
        if index < 0:
            parts.append(values.expr(Undefined(first.type.item)))
        else:
            source, place = (first, index) if index < count else (second, index - count)
            parts.append(_component(values, source, place))
    return _construct(values, instr.type, parts)


def _arithmetic(values: Values, instr: Instr) -> Expr:
    left, right = map(values.expr, instr.operands)
    return binary(_OPERATORS[instr.opcode], left, right, values.result_type(instr.type))


def _convert(values: Values, instr: Instr) -> Expr:
    return _construct(values, instr.type, [values.expr(instr.operands[0])])


def _bitcast(values: Values, instr: Instr) -> Expr:
    return reinterpret(values.expr(instr.operands[0]), values.result_type(instr.type, signed=False))


def _select(values: Values, instr: Instr) -> Expr:
    test, then, orelse = map(values.expr, instr.operands)
    return conditional(test, then, orelse, values.result_type(instr.type))


def _load(values: Values, instr: Instr) -> Expr:
    assert isinstance(instr.type, VectorType)
    if instr.flags & {"atomic", "volatile"}:
        raise CannotPrint("an atomic or volatile load of a vector")
    source = instr.operands[0]
    if instr.align_nbytes and instr.align_nbytes < align_of(instr.type):
        items = _items_at(values, source, instr.type)
        return _construct(values, instr.type, [_at(items, index) for index in range(instr.type.count)])
    return _whole(values, source, instr.type)


def _whole(values: Values, source: Value, type_: VectorType) -> Expr:
    name = values.result_type(type_)
    spot = cast_pointer(pointer(values, source), values.selection.origins.space(source), name)
    return Expr(f"*{spot.within(15)}", name, 15)


def _items_at(values: Values, source: Value, type_: VectorType) -> Expr:
    item = scalar_type(type_.item, signed=False)
    return cast_pointer(pointer(values, source), values.selection.origins.space(source), item)


def _at(items: Expr, index: int) -> Expr:
    return Expr(f"{items.within(PRIMARY)}[{index}]", items.type.split()[-1].removesuffix("*"))


def store_vector(values: Values, instr: Instr) -> list[str]:
    """The statements of a store; component by component where the address is not aligned to the whole vector."""
    value, target = instr.operands
    assert isinstance(value.type, VectorType)
    if "volatile" in instr.flags:
        raise CannotPrint("a volatile store of a vector")
    if instr.align_nbytes and instr.align_nbytes < align_of(value.type):
        items = _items_at(values, target, value.type)
        count = value.type.count
        return [f"{_at(items, i).text} = {_component(values, value, i).text};" for i in range(count)]
    return [f"{_whole(values, target, value.type).text} = {values.expr(value).text};"]


_PRINTERS: dict[str, Callable[[Values, Instr], Expr]] = {
    "insertelement": _insert,
    "extractelement": _extract,
    "shufflevector": _shuffle,
    **dict.fromkeys(_OPERATORS, _arithmetic),
    **dict.fromkeys(_CONVERSIONS, _convert),
    "fneg": print_negation,
    "bitcast": _bitcast,
    "select": _select,
    "freeze": lambda values, instr: values.expr(instr.operands[0]),
    "load": _load,
    "call": print_call,
}
