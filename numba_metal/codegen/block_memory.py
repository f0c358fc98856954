"""memcpy, memmove and memset, which optimisation makes of copies of records and of loops over arrays. Before:
`addresses`. After: `print_body`. MSL has no such functions: they are assignments, or a loop where there are many.

Memory is touched as what it holds, and as bytes where the two places hold different types (`addresses.memory_type`).
"""

from __future__ import annotations

from collections.abc import Callable

from numba_metal.codegen.addresses import cast_pointer, pointer
from numba_metal.codegen.expressions import (
    ADD,
    PRIMARY,
    Expr,
    convert,
    element_nbytes,
    int_literal,
    int_type,
    reinterpret,
)
from numba_metal.codegen.ir_types import ConstInt, Instr, Value
from numba_metal.codegen.values import Values
from numba_metal.codegen.variables import unique_name

MAX_ASSIGNMENTS = 4


def print_memory_call(values: Values, instr: Instr) -> list[str]:
    """The statements. Raises CannotPrint."""
    target, source, length = instr.operands[:3]
    is_fill = instr.detail.startswith("llvm.memset")
    word = _word(values, (target,) if is_fill else (target, source), length)
    count = _count(values, length, word)
    places = _words(values, target, word)
    if is_fill:
        filling = _fill(values, source, word).text
        return _statements(values, places, count, lambda _k: filling)
    read = _words(values, source, word)
    space = values.selection.origins.space(target)
    if instr.detail.startswith("llvm.memmove") and space == values.selection.origins.space(source):
        length_text = int_literal(count, "ulong").text if isinstance(count, int) else count.text
        return [f"{values.helper(f'move_{word}_{space}')}({places.text}, {read.text}, {length_text});"]
    return _statements(values, places, count, lambda k: f"{read.within(PRIMARY)}[{k}]")


def _word(values: Values, pointers: tuple[Value, ...], length: Value) -> str:
    """The type that is copied at a time."""
    elements = {values.types.element(pointer_) for pointer_ in pointers}
    if len(elements) > 1 or not isinstance(length, ConstInt):
        return "uchar"
    (element,) = elements
    return "uchar" if length.value % element_nbytes(element) else element


def _count(values: Values, length: Value, word: str) -> int | Expr:
    if isinstance(length, ConstInt):
        return length.value // element_nbytes(word)
    return convert(values.unsigned(length), "ulong")


def _statements(values: Values, places: Expr, count: int | Expr, read: Callable[[int | str], str]) -> list[str]:
    if isinstance(count, int) and count <= MAX_ASSIGNMENTS:
        return [f"{places.within(PRIMARY)}[{k}] = {read(k)};" for k in range(count)]
    # the addresses may use variables of the user's, so the loop has one of its own
    k = unique_name("k", {*values.variables.names.values(), *values.object_names.values()})
    bound = int_literal(count, "uint") if isinstance(count, int) else count
    zero, one = (int_literal(number, bound.type).text for number in (0, 1))
    head = f"for ({bound.type} {k} = {zero}; {k} < {bound.within(ADD)}; {k} += {one})"
    return [head, f"    {places.within(PRIMARY)}[{k}] = {read(k)};"]


def _words(values: Values, pointer_: Value, word: str) -> Expr:
    return cast_pointer(pointer(values, pointer_), values.selection.origins.space(pointer_), word)


def _fill(values: Values, byte: Value, word: str) -> Expr:
    """A word of which each byte is `byte`."""
    nbytes = element_nbytes(word)
    unsigned = int_type(8 * nbytes, signed=False)
    if isinstance(byte, ConstInt):
        number = int.from_bytes(bytes([byte.value & 0xFF]) * nbytes, "little")
        if number == 0 and Expr("", word).bits == 0:
            return Expr({"half": "0.0h", "float": "0.0f"}[word], word)
        return reinterpret(int_literal(number, unsigned), word)
    if nbytes == 1:
        return convert(values.unsigned(byte), word)
    factor = int_literal(int.from_bytes(bytes([1]) * nbytes, "little"), unsigned)
    spread = Expr(f"{unsigned}({convert(values.unsigned(byte), unsigned).text} * {factor.text})", unsigned)
    return reinterpret(spread, word)
