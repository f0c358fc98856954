"""Sizes of LLVM types under the data layout of device IR. Before: none. After: contexts, which lowering asks.

llvmlite has LLVM read a module for each question: 0.1 ms, ten times in a small kernel.
"""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore.base.params import POINTER_NBYTES, round_up

_FLOATS = {ir.HalfType: 2, ir.FloatType: 4, ir.DoubleType: 8}


def size_and_alignment(type_: ir.Type) -> tuple[int, int] | None:
    """In bytes, the size with the padding between items of an array; None for types that are left to LLVM.

    Source: LLVM Language Reference, "Data Layout", for code_library.DATA_LAYOUT.
    """
    if isinstance(type_, ir.IntType):
        nbytes = 1 << max(0, (type_.width - 1).bit_length() - 3)
        return (nbytes, nbytes) if type_.width <= 64 else None
    if isinstance(type_, ir.PointerType):
        return POINTER_NBYTES, POINTER_NBYTES
    if type(type_) in _FLOATS:
        return _FLOATS[type(type_)], _FLOATS[type(type_)]
    if isinstance(type_, ir.ArrayType):
        item = size_and_alignment(type_.element)
        return item and (item[0] * type_.count, item[1])
    if isinstance(type_, ir.LiteralStructType) and not type_.packed:
        return _lay_out(type_.elements)
    return None


def _lay_out(fields: tuple[ir.Type, ...]) -> tuple[int, int] | None:
    end, widest = 0, 1
    for field in map(size_and_alignment, fields):
        if field is None:
            return None
        nbytes, alignment = field
        end = round_up(end, alignment) + nbytes
        widest = max(widest, alignment)
    return round_up(end, widest), widest
