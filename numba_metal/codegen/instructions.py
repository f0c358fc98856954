"""LLVM instructions as C++ expressions, without undefined behaviour. Before: each kind's printers. After: `print_body`.

`int_instructions`, `float_instructions`, `conversions`, `addresses` and `calls` print what the table here names.
"""

from __future__ import annotations

from collections.abc import Callable

from numba_metal.codegen.addresses import load, pointer
from numba_metal.codegen.calls import print_call
from numba_metal.codegen.conversions import (
    convert_float,
    extend_sign,
    extend_zero,
    float_to_int,
    int_to_float,
    int_to_pointer,
    pointer_to_int,
    print_bitcast,
    truncate,
)
from numba_metal.codegen.expressions import Expr, binary, conditional, logical_not
from numba_metal.codegen.float_instructions import (
    FLOAT_ARITHMETIC,
    compare_floats,
    print_float_arithmetic,
    print_float_remainder,
    print_negation,
)
from numba_metal.codegen.int_instructions import (
    ARITHMETIC,
    BITWISE,
    compare_ints,
    print_arithmetic,
    print_bitwise,
    print_division,
    print_shift,
)
from numba_metal.codegen.ir_types import ConstInt, Instr, IntType, Local, PointerType
from numba_metal.codegen.values import CannotPrint, Values
from numba_metal.codegen.vectors import is_vector, print_vector
from numba_metal.codegen.wide_integers import is_wide, print_wide


def print_instr(values: Values, instr: Instr) -> Expr:
    """The result of an instruction as an expression. Raises CannotPrint."""
    if is_wide(instr) or (instr.opcode == "trunc" and is_wide(instr.operands[0])):
        return print_wide(values, instr)
    if is_vector(instr):
        return print_vector(values, instr)
    printer = _PRINTERS.get(instr.opcode)
    if printer is None:
        raise CannotPrint(f"the LLVM instruction '{instr.opcode}'")
    return printer(values, instr)


def _select(values: Values, instr: Instr) -> Expr:
    test, then, orelse = instr.operands
    condition = values.expr(test)
    if instr.type == IntType(1):
        if isinstance(then, ConstInt):
            other = values.expr(orelse)
            if then.value:
                return binary("||", condition, other, "bool")
            return binary("&&", logical_not(condition), other, "bool")
        if isinstance(orelse, ConstInt):
            other = values.expr(then)
            if orelse.value:
                return binary("||", logical_not(condition), other, "bool")
            return binary("&&", condition, other, "bool")
        return conditional(condition, values.expr(then), values.expr(orelse), "bool")
    if isinstance(instr.type, PointerType):
        type_ = values.types.of_pointer(instr.result)
        return conditional(condition, pointer(values, then), pointer(values, orelse), type_)
    if isinstance(instr.type, IntType):
        a, b = values.natural(then, orelse)
        return conditional(condition, a, b, a.type)
    return conditional(condition, values.expr(then), values.expr(orelse), values.result_type(instr.type))


def _freeze(values: Values, instr: Instr) -> Expr:
    return values.expr(instr.operands[0])


def _extract(values: Values, instr: Instr) -> Expr:
    """Of a compare-and-swap: the old value, or whether it was the expected one."""
    source = instr.operands[0]
    if not isinstance(source, Local) or source.name not in values.selection.definitions:
        raise CannotPrint("a struct as a value")
    definition = values.selection.definitions[source.name]
    if definition.opcode == "cmpxchg":
        old = Expr(values.variables.name(source.name), values.types.of_variable(source.name))
        if instr.indices == (0,):
            return old
        return binary("==", old, values.as_type(definition.operands[1], old.type), "bool")
    if definition.opcode == "call" and ".with.overflow." in definition.detail:
        return print_call(values, definition, instr.indices[0])
    raise CannotPrint("a struct as a value")


def _print_load(values: Values, instr: Instr) -> Expr:
    return load(values, instr)


def _print_pointer(values: Values, instr: Instr) -> Expr:
    return pointer(values, instr.result)


def _print_plain_call(values: Values, instr: Instr) -> Expr:
    return print_call(values, instr)


_PRINTERS: dict[str, Callable[[Values, Instr], Expr]] = {
    **dict.fromkeys(ARITHMETIC, print_arithmetic),
    **dict.fromkeys(BITWISE, print_bitwise),
    **dict.fromkeys(FLOAT_ARITHMETIC, print_float_arithmetic),
    **dict.fromkeys(("shl", "lshr", "ashr"), print_shift),
    **dict.fromkeys(("sdiv", "udiv", "srem", "urem"), print_division),
    "frem": print_float_remainder,
    "fneg": print_negation,
    "icmp": compare_ints,
    "fcmp": compare_floats,
    "sext": extend_sign,
    "zext": extend_zero,
    "trunc": truncate,
    **dict.fromkeys(("sitofp", "uitofp"), int_to_float),
    **dict.fromkeys(("fptosi", "fptoui"), float_to_int),
    **dict.fromkeys(("fpext", "fptrunc"), convert_float),
    "bitcast": print_bitcast,
    **dict.fromkeys(("ptrtoint", "ptrtoaddr"), pointer_to_int),
    "inttoptr": int_to_pointer,
    "select": _select,
    "freeze": _freeze,
    "extractvalue": _extract,
    "load": _print_load,
    "getelementptr": _print_pointer,
    "addrspacecast": _print_pointer,
    "alloca": _print_pointer,
    "call": _print_plain_call,
}
