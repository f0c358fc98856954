"""Logic, shifts and bit fields of the PTX machine, bit by bit. PTX ISA, "Logic and Shift Instructions"."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ptx.instructions import InstructionCase, check_case, module_text
from tests.ptx.toolchain import check_with_ptxas

BITS = ("b16", "b32", "b64")
ONES32 = 0xFFFFFFFF


def top_bit(value: int, width: int, is_signed: bool) -> int:
    """bfind: the highest 1, for signed types the highest bit unlike the sign."""
    if is_signed and value < 0:
        value = ~value
    return (value & ((1 << width) - 1)).bit_length() - 1


def field(a: int, position: int, length: int, width: int, is_signed: bool) -> int:
    """bfe, after the pseudocode in PTX ISA."""
    position, length = position & 0xFF, length & 0xFF
    bits = [a >> i & 1 for i in range(width)]
    sign = 0 if not is_signed or length == 0 else bits[min(position + length - 1, width - 1)]
    result = [bits[position + i] if i < length and position + i < width else sign for i in range(width)]
    return sum(bit << i for i, bit in enumerate(result))


def insertion(a: int, b: int, position: int, length: int, width: int) -> int:
    """bfi, after the pseudocode in PTX ISA."""
    position, length = position & 0xFF, length & 0xFF
    for i in range(length):
        if position + i < width:
            bit = 1 << (position + i)
            b = b & ~bit | (a >> i & 1) * bit
    return b


def permutation(a: int, b: int, c: int) -> int:
    """prmt without a mode: each nibble of c names a byte, its top bit replicates that byte's sign."""
    octets = (a | b << 32).to_bytes(8, "little")
    chosen = []
    for i in range(4):
        nibble = c >> 4 * i & 15
        octet = octets[nibble & 7]
        chosen.append((0xFF if octet >> 7 else 0) if nibble & 8 else octet)
    return int.from_bytes(bytes(chosen), "little")


def rotating_permutation(mode: str, a: int, b: int, c: int) -> int:
    """prmt with a mode, from the table in PTX ISA (bytes b7…b0 are b, a; the lowest byte is the last column)."""
    k = c & 3
    columns = {
        "f4e": [k, k + 1, k + 2, k + 3],
        "b4e": [k, (k - 1) % 8, (k - 2) % 8, (k - 3) % 8],
        "rc8": [k] * 4,
        "ecl": [max(i, k) for i in range(4)],
        "ecr": [min(i, k) for i in range(4)],
        "rc16": [(k & 1) * 2, (k & 1) * 2 + 1] * 2,
    }[mode]
    octets = (a | b << 32).to_bytes(8, "little")
    return int.from_bytes(bytes(octets[i] for i in columns), "little")


def logic(table: int, a: int, b: int, c: int) -> int:
    return sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32))


def funnel(a: int, b: int, c: int, is_left: bool, wraps: bool) -> int:
    amount = c & 31 if wraps else min(c, 32)
    both = b << 32 | a
    return (both << amount >> 32 if is_left else both >> amount) & ONES32


AMOUNTS = [*range(80), 255, 256, ONES32]
WORDS = [0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFF, 0x8000000080008000, 1, 0, 0x7FFF7FFF7FFF7FFF]


def shift(name: str, type_: str, oracle) -> InstructionCase:
    words = [w & ((1 << int(type_[1:])) - 1) for w in WORDS]
    return InstructionCase(f"{name}.{type_} {{d}}, {{a}}, {{b}};", type_, (type_, "u32"), oracle, (words, AMOUNTS))


def fields(nbits: int) -> tuple:
    words = [w & ((1 << nbits) - 1) for w in WORDS]
    return words, [0, 3, 8, 31, 33, 63, 100, 256], [0, 1, 5, 8, 32, 40, 64, 200, 255]


CASES = [
    *(InstructionCase(f"and.{t} {{d}}, {{a}}, {{b}};", t, (t, t), lambda a, b: a & b) for t in (*BITS, "pred")),
    *(InstructionCase(f"or.{t} {{d}}, {{a}}, {{b}};", t, (t, t), lambda a, b: a | b) for t in (*BITS, "pred")),
    *(InstructionCase(f"xor.{t} {{d}}, {{a}}, {{b}};", t, (t, t), lambda a, b: a ^ b) for t in (*BITS, "pred")),
    *(InstructionCase(f"not.{t} {{d}}, {{a}};", t, (t,), lambda a: ~a) for t in BITS),
    InstructionCase("not.pred {d}, {a};", "pred", ("pred",), lambda a: not a),
    *(InstructionCase(f"cnot.{t} {{d}}, {{a}};", t, (t,), lambda a: a == 0) for t in BITS),
    # Python would make a number of 2**32 bits; modulo the width all long shifts are the same.
    *(shift("shl", t, lambda a, b: a << min(b, 64)) for t in BITS),
    *(shift("shr", t, lambda a, b: a >> b) for t in (*BITS, "u16", "u32", "u64", "s16", "s32", "s64")),
    *(
        InstructionCase(
            f"shf.{side}.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}};", "b32", ("b32", "b32", "u32"),
            lambda a, b, c, left=side == "l", wraps=mode == "wrap": funnel(a, b, c, left, wraps),
            ([0x12345678, ONES32, 0], [0x9ABCDEF0, 1], AMOUNTS),
        )
        for side in "lr"
        for mode in ("clamp", "wrap")
    ),
    *(
        InstructionCase(f"popc.{t} {{d}}, {{a}};", "u32", (t,), lambda a: bin(a).count("1")) for t in ("b32", "b64")
    ),
    *(
        InstructionCase(f"clz.{t} {{d}}, {{a}};", "u32", (t,), lambda a, n=int(t[1:]): n - a.bit_length())
        for t in ("b32", "b64")
    ),
    *(
        InstructionCase(f"brev.{t} {{d}}, {{a}};", t, (t,), lambda a, n=int(t[1:]): int(f"{a:0{n}b}"[::-1], 2))
        for t in ("b32", "b64")
    ),
    *(
        InstructionCase(
            f"bfind.{t} {{d}}, {{a}};", "u32", (t,), lambda a, n=int(t[1:]), s=t[0] == "s": top_bit(a, n, s)
        )
        for t in ("u32", "s32", "u64", "s64")
    ),
    *(
        InstructionCase(
            f"bfind.shiftamt.{t} {{d}}, {{a}};", "u32", (t,),
            lambda a, n=int(t[1:]), s=t[0] == "s": -1 if top_bit(a, n, s) < 0 else n - 1 - top_bit(a, n, s),
        )
        for t in ("u32", "s32", "u64", "s64")
    ),
    *(
        InstructionCase(
            f"bfe.{t} {{d}}, {{a}}, {{b}}, {{c}};", t, (t, "u32", "u32"),
            lambda a, b, c, n=int(t[1:]), s=t[0] == "s": field(a, b, c, n, s), fields(int(t[1:])),
        )
        for t in ("u32", "s32", "u64", "s64")
    ),
    *(
        InstructionCase(
            f"bfi.{t} {{d}}, {{a}}, {{a}}, {{b}}, {{c}};", t, (t, "u32", "u32"),
            lambda a, b, c, n=int(t[1:]): insertion(a, a, b, c, n), fields(int(t[1:])),
        )
        for t in ("b32", "b64")
    ),
    *(
        InstructionCase(
            f"bfi.{t} {{d}}, {{a}}, {{b}}, 5, 9;", t, (t, t), lambda a, b, n=int(t[1:]): insertion(a, b, 5, 9, n)
        )
        for t in ("b32", "b64")
    ),
    InstructionCase("prmt.b32 {d}, {a}, {b}, {c};", "b32", ("b32",) * 3, permutation),
    *(
        InstructionCase(
            f"prmt.b32.{mode} {{d}}, {{a}}, {{b}}, {{c}};", "b32", ("b32",) * 3,
            lambda a, b, c, m=mode: rotating_permutation(m, a, b, c),
        )
        for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    ),
    *(
        InstructionCase(
            f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table:#x};", "b32", ("b32",) * 3,
            lambda a, b, c, k=table: logic(k, a, b, c),
        )
        for table in (0x80, 0xFE, 0x96, 0xCA, 0x1D)
    ),
    InstructionCase(
        "bmsk.clamp.b32 {d}, {a}, {b};", "b32", ("u32", "u32"),
        lambda a, b: (1 << min(b, 32)) - 1 << min(a, 32), ([0, 3, 31, 32, 40], [0, 1, 7, 32, 50, 31]),
    ),
    InstructionCase(
        "szext.clamp.s32 {d}, {a}, {b};", "s32", ("s32", "u32"), lambda a, b: field(a, 0, min(b, 32), 32, True),
        ([-5, 5, 0x7FFFFFFF, -(2**31)], [1, 3, 8, 31, 32, 0, 40]),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bit_instruction(case: InstructionCase) -> None:
    """Oracles follow PTX ISA's pseudocode on Python's integers."""
    check_case(case)


def test_ptxas_accepts_the_table(tmp_path: Path) -> None:
    check_with_ptxas(module_text(CASES), "sm_90", tmp_path)
