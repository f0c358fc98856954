"""Logic, shifts and bit fields. PTX ISA, "Logic and Shift Instructions", "Integer Arithmetic Instructions"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..types import TYPES, PtxType
from .operation import BITS, Modifiers, Operation, Select

U32, B32 = TYPES["u32"], TYPES["b32"]
ONE = np.ones(1, np.uint64)


def unsigned(a: np.ndarray) -> np.ndarray:
    return a.view(f"u{a.itemsize}")


def shift_left(a: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Amounts over the width give 0 (PTX ISA, "shl")."""
    width = 8 * a.itemsize
    return np.where(amount < width, a << np.minimum(amount, width - 1).astype(a.dtype), a.dtype.type(0))


def shift_right(a: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Amounts over the width are clamped: 0, or copies of the sign for signed types (PTX ISA, "shr")."""
    width = 8 * a.itemsize
    shifted = a >> np.minimum(amount, width - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(amount < width, shifted, a.dtype.type(0))


def funnel_shift(a: np.ndarray, b: np.ndarray, c: np.ndarray, is_left: bool, wraps: bool) -> np.ndarray:
    """The upper (left) or lower (right) 32 bits of {b, a} shifted by c (PTX ISA, "shf")."""
    amount = (c & np.uint32(31) if wraps else np.minimum(c, np.uint32(32))).astype(np.uint64)
    both = b.astype(np.uint64) << np.uint64(32) | a.astype(np.uint64)
    if is_left:
        return (both << amount >> np.uint64(32)).astype(np.uint32)
    return (both >> amount).astype(np.uint32)


def count_leading_zeros(a: np.ndarray) -> np.ndarray:
    return (8 * a.itemsize - 1 - find_top_bit(a).view(np.int32)).astype(np.uint32)


def find_top_bit(a: np.ndarray) -> np.ndarray:
    """Position of the highest 1, or 0xFFFFFFFF if there is none."""
    result = np.full(a.shape, 0xFFFFFFFF, np.uint32)
    rest, offset = unsigned(a).astype(np.uint64), np.zeros(a.shape, np.uint64)
    is_zero = rest == 0
    for width in (32, 16, 8, 4, 2, 1):
        is_upper = rest >= np.uint64(1) << np.uint64(width)
        offset = offset + np.where(is_upper, np.uint64(width), np.uint64(0))
        rest = np.where(is_upper, rest >> np.uint64(width), rest)
    return np.where(is_zero, result, offset.astype(np.uint32))


def find_top_nonsign_bit(a: np.ndarray) -> np.ndarray:
    """bfind of a signed type: the highest bit that differs from the sign."""
    return find_top_bit(np.where(a < 0, ~a, a))


def reverse_bits(a: np.ndarray) -> np.ndarray:
    octets = np.ascontiguousarray(a).view(np.uint8).reshape(-1, a.itemsize)
    reversed_bits = np.packbits(np.unpackbits(octets, axis=1)[:, ::-1], axis=1)
    return np.ascontiguousarray(reversed_bits).view(a.dtype).reshape(-1)


def extract_field(a: np.ndarray, position: np.ndarray, length: np.ndarray) -> np.ndarray:
    """bfe: zero- or sign-extended; the sign bit is the field's top bit, at most the word's (PTX ISA, "bfe")."""
    width = 8 * a.itemsize
    position, length = position & np.uint32(0xFF), length & np.uint32(0xFF)
    word = unsigned(a).astype(np.uint64)
    field = shift_right(word, position) & (shift_left(ONE, length) - np.uint64(1))
    if a.dtype.kind == "u":
        return field.astype(a.dtype)
    top = np.minimum(position.astype(np.int64) + length - 1, width - 1)
    sign = (shift_right(word, np.maximum(top, 0)) & np.uint64(1)).astype(bool) & (length != 0)
    in_field = np.minimum(length.astype(np.int64), np.maximum(width - position.astype(np.int64), 0))
    extended = np.where(sign, field | shift_left(~(ONE - ONE), in_field), field)
    return extended.astype(np.uint64).astype(f"u{a.itemsize}").view(a.dtype)


def insert_field(a: np.ndarray, b: np.ndarray, position: np.ndarray, length: np.ndarray) -> np.ndarray:
    """bfi: b with the low `length` bits of a at `position`."""
    position, length = position & np.uint32(0xFF), length & np.uint32(0xFF)
    mask64 = shift_left(ONE, length) - np.uint64(1)
    mask = shift_left(mask64, position)
    return ((b.astype(np.uint64) & ~mask) | (shift_left(a.astype(np.uint64), position) & mask)).astype(a.dtype)


def make_mask(position: np.ndarray, length: np.ndarray, wraps: bool) -> np.ndarray:
    """bmsk: `length` ones at `position`."""
    if wraps:
        position, length = position & np.uint32(31), length & np.uint32(31)
    ones = shift_left(ONE, length) - np.uint64(1)
    return shift_left(ones, position).astype(np.uint32)


def logic3(a: np.ndarray, b: np.ndarray, c: np.ndarray, table: np.ndarray) -> np.ndarray:
    """lop3: bit k of the immediate is the result for (a, b, c) = the bits of k (PTX ISA, "lop3")."""
    result = np.zeros(np.broadcast(a, b, c).shape, a.dtype)
    lut = int(table.flat[0])
    for k in range(8):
        if lut >> k & 1:
            result |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
    return result


#: Bytes that each special mode of prmt selects, by c[1:0] (PTX ISA, "prmt").
PRMT_MODES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


def permute_bytes(a: np.ndarray, b: np.ndarray, c: np.ndarray, mode: str) -> np.ndarray:
    a, b, c = (np.ascontiguousarray(x) for x in np.broadcast_arrays(a, b, c))
    octets = np.concatenate([a.view(np.uint8).reshape(-1, 4), b.view(np.uint8).reshape(-1, 4)], axis=1)
    if mode:
        selector = np.array(PRMT_MODES[mode])[c & np.uint32(3)]
        replicates = np.zeros(selector.shape, bool)
    else:
        nibbles = c[:, None] >> (np.uint32(4) * np.arange(4, dtype=np.uint32)) & np.uint32(15)
        selector, replicates = nibbles & np.uint32(7), nibbles & np.uint32(8) != 0
    chosen = np.take_along_axis(octets, selector.astype(np.int64), axis=1)
    signs = np.where(chosen >= 0x80, np.uint8(0xFF), np.uint8(0))
    return np.ascontiguousarray(np.where(replicates, signs, chosen)).view(np.uint32).reshape(-1)


def select_logic(function: Callable, arity: int) -> Select:
    def select(mods: Modifiers) -> Operation:
        type_ = mods.type("pred", *BITS)
        mods.finish()
        return Operation(function, (type_,), (type_,) * arity)

    return select


def select_shift(function: Callable, *types: str) -> Select:
    def select(mods: Modifiers) -> Operation:
        type_ = mods.type(*types)
        mods.finish()
        return Operation(function, (type_,), (type_, U32))

    return select


def select_shf(mods: Modifiers) -> Operation:
    is_left, wraps = mods.choose("l", "r") == "l", mods.choose("clamp", "wrap") == "wrap"
    mods.type("b32")
    mods.finish()
    return Operation(lambda a, b, c: funnel_shift(a, b, c, is_left, wraps), (B32,), (B32, B32, U32))


def select_count(function: Callable) -> Select:
    def select(mods: Modifiers) -> Operation:
        type_ = mods.type("b32", "b64")
        mods.finish()
        return Operation(function, (U32,), (type_,))

    return select


def select_bfind(mods: Modifiers) -> Operation:
    gives_shift = mods.flag("shiftamt")
    type_ = mods.type("u32", "s32", "u64", "s64")
    mods.finish()
    find = find_top_nonsign_bit if type_.kind == "signed" else find_top_bit

    def shift_amount(a: np.ndarray) -> np.ndarray:
        found = find(a)
        return np.where(found == 0xFFFFFFFF, found, np.uint32(type_.nbits - 1) - found)

    return Operation(shift_amount if gives_shift else find, (U32,), (type_,))


def select_bfe(mods: Modifiers) -> Operation:
    type_ = mods.type("u32", "s32", "u64", "s64")
    mods.finish()
    return Operation(extract_field, (type_,), (type_, U32, U32))


def select_bfi(mods: Modifiers) -> Operation:
    type_ = mods.type("b32", "b64")
    mods.finish()
    return Operation(insert_field, (type_,), (type_, type_, U32, U32))


def select_bmsk(mods: Modifiers) -> Operation:
    wraps = mods.choose("clamp", "wrap") == "wrap"
    mods.type("b32")
    mods.finish()
    return Operation(lambda a, b: make_mask(a, b, wraps), (B32,), (U32, U32))


def select_szext(mods: Modifiers) -> Operation:
    """Sign- or zero-extension of the low n bits."""
    wraps = mods.choose("clamp", "wrap") == "wrap"
    type_: PtxType = mods.type("u32", "s32")
    mods.finish()

    def extend(a: np.ndarray, length: np.ndarray) -> np.ndarray:
        n = length & np.uint32(31) if wraps else np.minimum(length, np.uint32(32))
        return extract_field(a, np.zeros_like(n), n)

    return Operation(extend, (type_,), (type_, U32))


def select_lop3(mods: Modifiers) -> Operation:
    mods.type("b32")
    mods.finish()
    return Operation(logic3, (B32,), (B32, B32, B32, U32))


def select_prmt(mods: Modifiers) -> Operation:
    mods.type("b32")
    mode = mods.choose(*PRMT_MODES, default="")
    mods.finish()
    return Operation(lambda a, b, c: permute_bytes(a, b, c, mode), (B32,), (B32, B32, U32))


def select_same(function: Callable, *types: str) -> Select:
    def select(mods: Modifiers) -> Operation:
        type_ = mods.type(*types)
        mods.finish()
        return Operation(function, (type_,), (type_,))

    return select


OPERATIONS: dict[str, Select] = {
    "and": select_logic(np.bitwise_and, 2),
    "or": select_logic(np.bitwise_or, 2),
    "xor": select_logic(np.bitwise_xor, 2),
    "not": select_logic(np.invert, 1),
    "cnot": select_same(lambda a: (a == 0).astype(a.dtype), *BITS),
    "lop3": select_lop3,
    "shl": select_shift(shift_left, *BITS),
    "shr": select_shift(shift_right, *BITS, "u16", "u32", "u64", "s16", "s32", "s64"),
    "shf": select_shf,
    "popc": select_count(lambda a: np.bitwise_count(a).astype(np.uint32)),
    "clz": select_count(count_leading_zeros),
    "brev": select_same(reverse_bits, "b32", "b64"),
    "bfind": select_bfind,
    "bfe": select_bfe,
    "bfi": select_bfi,
    "bmsk": select_bmsk,
    "szext": select_szext,
    "prmt": select_prmt,
}
