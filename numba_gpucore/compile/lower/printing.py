"""Lowering of `print_line`: a record in the print ring. Before: passes.rewrite_texts. After: launch.printing."""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir

from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.print_ring import MAX_PRINT_NUMBERS, RECORD_HEAD_WORDS
from numba_gpucore.base.site import Hole
from numba_gpucore.compile.intrinsics import line_symbol
from numba_gpucore.compile.llvm_calls import call_intrinsic, call_placeholder
from numba_gpucore.compile.lower.number_bits import narrow_bits
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import errors, types
from numba_gpucore.compile.passes.rewrite_texts import print_line
from numba_gpucore.compile.texts import join_texts
from numba_gpucore.compile.typing.coordinates import VectorType

I32 = ir.IntType(32)
NO_ROOM = I32(0xFFFFFFFF)


@lower(print_line, types.VarArg(types.Any))
def lower_print_line(context, builder, sig, args):
    pieces = [
        piece for type_, value in zip(sig.args, args, strict=True) for piece in _pieces(context, builder, type_, value)
    ]
    numbers = [bits for _part, bits in pieces if bits is not None]
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


Piece = tuple["str | Hole", "ir.Value | None"]


def _pieces(context, builder, type_, value, in_tuple: bool = False) -> Iterator[Piece]:
    """Texts and holes with their values. Inside tuples, texts are quoted as Python does."""
    if isinstance(type_, (types.StringLiteral, types.NoneType)):
        text = None if isinstance(type_, types.NoneType) else type_.literal_value
        yield (repr(text) if in_tuple or text is None else text), None
    elif isinstance(type_, VectorType):
        yield "(", None
        for axis in "xyz":
            yield Hole("int"), builder.zext(call_intrinsic(builder, f"{type_.vector.intrinsic}.{axis}"), ir.IntType(64))
            yield ")" if axis == "z" else ", ", None
    elif isinstance(type_, types.BaseTuple):
        names = [f"{name}=" for name in type_.fields] if isinstance(type_, types.BaseNamedTuple) else [""] * len(type_)
        yield (type_.instance_class.__name__ if isinstance(type_, types.BaseNamedTuple) else "") + "(", None
        for position, (name, item_type) in enumerate(zip(names, type_, strict=True)):
            yield (", " if position else "") + name, None
            yield from _pieces(context, builder, item_type, builder.extract_value(value, position), in_tuple=True)
        yield ",)" if len(type_) == 1 and not names[0] else ")", None
    else:
        kind, bits = narrow_bits(context, builder, value, type_)
        yield Hole(kind), bits
