"""memcpy, memmove and memset, which optimisation makes of copies of records and of zeroed arrays. Before: `addresses`.
After: `print_body`. Printed as assignments, or as a loop where there are many; MSL has no such functions."""

from __future__ import annotations

from numba_metal.codegen.addresses import cast_pointer, pointer
from numba_metal.codegen.expressions import Expr
from numba_metal.codegen.ir_types import ConstInt, Instr
from numba_metal.codegen.values import CannotPrint, Values

MAX_ASSIGNMENTS = 4
_WORDS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}


def print_memory_call(values: Values, instr: Instr) -> list[str]:
    """The statements. Raises CannotPrint."""
    target, source, length = instr.operands[:3]
    if not isinstance(length, ConstInt):
        return _print_variable_length(values, instr)
    nbytes = length.value
    if nbytes == 0:
        return []
    word_nbytes = next(n for n in (8, 4, 2, 1) if nbytes % n == 0 and _alignment(values, instr) % n == 0)
    word, count = _WORDS[word_nbytes], nbytes // word_nbytes
    places = _words(values, target, word)
    if instr.detail.startswith("llvm.memset"):
        sources = f"{_fill(values, instr, word)}"
        if count <= MAX_ASSIGNMENTS:
            return [f"{places.within(16)}[{i}] = {sources};" for i in range(count)]
        return [f"for (uint k = 0u; k < {count}u; k += 1u)", f"    {places.within(16)}[k] = {sources};"]
    read = _words(values, source, word)
    if count <= MAX_ASSIGNMENTS:
        return [f"{places.within(16)}[{i}] = {read.within(16)}[{i}];" for i in range(count)]
    if instr.detail.startswith("llvm.memmove"):
        raise CannotPrint("a copy between arrays that may overlap")
    return [f"for (uint k = 0u; k < {count}u; k += 1u)", f"    {places.within(16)}[k] = {read.within(16)}[k];"]


def _print_variable_length(values: Values, instr: Instr) -> list[str]:
    if instr.detail.startswith("llvm.memmove"):
        raise CannotPrint("a copy between arrays that may overlap")
    target, source, length = instr.operands[:3]
    places = _words(values, target, "uchar")
    count = values.unsigned(length)
    read = _fill(values, instr, "uchar")
    if not instr.detail.startswith("llvm.memset"):
        read = f"{_words(values, source, 'uchar').within(16)}[k]"
    bound = count.within(10)
    return [f"for (ulong k = 0UL; k < {bound}; k += 1UL)", f"    {places.within(16)}[k] = {read};"]


def _alignment(values: Values, instr: Instr) -> int:
    """LLVM writes alignments on the arguments, which the reader drops; element types tell as much."""
    from_types = []
    for operand in instr.operands[: 1 if instr.detail.startswith("llvm.memset") else 2]:
        element = values.types.element(operand)
        from_types.append({"char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "bfloat": 2,
                           "long": 8, "ulong": 8}.get(element, 4))  # fmt: skip
    return min(from_types)


def _words(values: Values, operand, word: str) -> Expr:
    space = values.selection.origins.space(operand)
    cast = cast_pointer(pointer(values, operand), space, word)
    return Expr(cast.within(16), cast.type)


def _fill(values: Values, instr: Instr, word: str) -> str:
    byte = instr.operands[1]
    if not isinstance(byte, ConstInt):
        if word != "uchar":
            factor = {"ushort": "0x0101", "uint": "0x01010101u", "ulong": "0x0101010101010101UL"}[word]
            return f"{word}({word}({values.unsigned(byte).text}) * {factor})"
        return values.unsigned(byte).text
    pattern = int.from_bytes(bytes([byte.value & 0xFF]) * {"uchar": 1, "ushort": 2, "uint": 4, "ulong": 8}[word])
    suffix = {"uint": "u", "ulong": "UL"}.get(word, "")
    return f"{pattern}{suffix}"
