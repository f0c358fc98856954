"""Lowering of `print_line`: a record in the print ring. Before: passes.rewrite_texts. After: launch.printing."""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir

from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.print_ring import MAX_PRINT_NUMBERS, RECORD_HEAD_WORDS
from numba_gpucore.compile.intrinsics import line_symbol
from numba_gpucore.compile.llvm_calls import call_intrinsic, call_placeholder
from numba_gpucore.compile.lower.registry import lower, lower_constant
from numba_gpucore.compile.lower.text_pieces import Piece, formatted_piece, value_pieces
from numba_gpucore.compile.numba_api import errors, types
from numba_gpucore.compile.passes.rewrite_texts import print_line
from numba_gpucore.compile.texts import Format, Spread, TextStart, join_texts
from numba_gpucore.compile.typing.printing import MarkerType

I32 = ir.IntType(32)
NO_ROOM = I32(0xFFFFFFFF)


@lower_constant(MarkerType)
def lower_marker(context, builder, type_, marker):
    return context.get_dummy_value()


@lower(print_line, types.VarArg(types.Any))
def lower_print_line(context, builder, sig, args):
    pieces = list(_LineWriter(context, builder).line(list(zip(sig.args, args, strict=True))))
    numbers = [pattern for _part, bits in pieces for pattern in bits]
    if len(numbers) > MAX_PRINT_NUMBERS:
        raise errors.UnsupportedError(f"print in a kernel can write {MAX_PRINT_NUMBERS} numbers, not {len(numbers)}")
    line = PrintLine(tuple(join_texts([part for part, _bits in pieces])))
    index = call_placeholder(builder, line_symbol(context.active_code_library.add_print_line(line)), I32)
    words = I32(RECORD_HEAD_WORDS + 2 * len(numbers))
    place = call_intrinsic(builder, "gpu.print.begin", index, words)
    with builder.if_then(builder.icmp_unsigned("!=", place, NO_ROOM)):
        for position, bits in enumerate(numbers):
            call_intrinsic(builder, "gpu.print.number", place, I32(position), bits)
        call_intrinsic(builder, "gpu.print.end", place, words)
    return context.get_dummy_value()


#: A type and a value of it.
Typed = tuple[types.Type, ir.Value]


class _LineWriter:
    """Cuts the arguments of a `print_line` into pieces."""

    def __init__(self, context, builder):
        self._context = context
        self._builder = builder

    def line(self, arguments: list[Typed]) -> Iterator[Piece]:
        """Pieces of the whole line. The first two arguments are separator and end."""
        separator, end = (type_.literal_value for type_, _value in arguments[:2])
        for position, pieces in enumerate(self._arguments(arguments[2:])):
            if position:
                yield separator, ()
            yield from pieces
        yield end, ()

    def _arguments(self, arguments: list[Typed]) -> Iterator[list[Piece]]:
        """The pieces of each argument that the user wrote."""
        remaining = iter(arguments)
        for type_, value in remaining:
            marker = type_.marker if isinstance(type_, MarkerType) else None
            if isinstance(marker, TextStart):
                yield list(self._text([next(remaining) for _ in range(marker.count)]))
            elif isinstance(marker, Spread):
                tuple_type, tuple_value = next(remaining)
                for item, item_type in enumerate(tuple_type):
                    yield list(self._value(item_type, self._builder.extract_value(tuple_value, item)))
            else:
                yield list(self._value(type_, value))

    def _text(self, parts: list[Typed]) -> Iterator[Piece]:
        remaining = iter(parts)
        for type_, value in remaining:
            if isinstance(type_, MarkerType) and isinstance(type_.marker, Format):
                yield formatted_piece(self._context, self._builder, type_.marker.text, *next(remaining))
            else:
                yield from self._value(type_, value, "")

    def _value(self, type_: types.Type, value: ir.Value, conversion: str = "!s") -> Iterator[Piece]:
        return value_pieces(self._context, self._builder, type_, value, conversion)
