"""Integer arithmetic of the PTX machine against Python's integers. PTX ISA, "Integer Arithmetic Instructions"."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ptx.instructions import InstructionCase, check_case, module_text
from tests.ptx.toolchain import check_with_ptxas

ALL = ("u16", "s16", "u32", "s32", "u64", "s64")
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def binary(name: str, type_: str, oracle) -> InstructionCase:
    return InstructionCase(f"{name}.{type_} {{d}}, {{a}}, {{b}};", type_, (type_, type_), oracle)


def truncated_quotient(a: int, b: int) -> int:
    """Rounds towards zero. All ones for division by zero: unspecified in PTX, what NVIDIA's hardware gives."""
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def limit(value: int) -> int:
    return max(-(2**31), min(2**31 - 1, value))


def low24(value: int, is_signed: bool) -> int:
    low = value & 0xFFFFFF
    return low - (1 << 24) if is_signed and low >> 23 else low


def parts(word: int, nbits: int, is_signed: bool) -> list[int]:
    fields = [word >> shift & ((1 << nbits) - 1) for shift in range(0, 32, nbits)]
    return [f - (1 << nbits) if is_signed and f >> (nbits - 1) else f for f in fields]


def dot(a: int, b: int, nbits: int, a_signed: bool, b_signed: bool, first: int = 0) -> int:
    a_parts, b_parts = parts(a & 0xFFFFFFFF, nbits, a_signed), parts(b & 0xFFFFFFFF, 8, b_signed)
    return sum(x * y for x, y in zip(a_parts, b_parts[first:], strict=False))


CASES = [
    *(binary("add", t, lambda a, b: a + b) for t in ALL),
    *(binary("sub", t, lambda a, b: a - b) for t in ALL),
    *(binary("mul.lo", t, lambda a, b: a * b) for t in ALL),
    *(binary("mul.hi", t, lambda a, b, n=int(t[1:]): a * b >> n) for t in ALL),
    *(
        InstructionCase(f"mul.wide.{t} {{d}}, {{a}}, {{b}};", wide, (t, t), lambda a, b: a * b)
        for t, wide in WIDE.items()
    ),
    *(
        InstructionCase(f"mad.lo.{t} {{d}}, {{a}}, {{b}}, {{c}};", t, (t, t, t), lambda a, b, c: a * b + c)
        for t in ALL
    ),
    *(
        InstructionCase(
            f"mad.hi.{t} {{d}}, {{a}}, {{b}}, {{c}};", t, (t, t, t), lambda a, b, c, n=int(t[1:]): (a * b >> n) + c
        )
        for t in ALL
    ),
    *(
        InstructionCase(f"mad.wide.{t} {{d}}, {{a}}, {{b}}, {{c}};", wide, (t, t, wide), lambda a, b, c: a * b + c)
        for t, wide in WIDE.items()
    ),
    *(binary("div", t, truncated_quotient) for t in ALL),
    *(binary("rem", t, lambda a, b: a - truncated_quotient(a, b) * b if b else a) for t in ALL),
    *(binary("min", t, min) for t in ALL),
    *(binary("max", t, max) for t in ALL),
    *(InstructionCase(f"abs.{t} {{d}}, {{a}};", t, (t,), abs) for t in ("s16", "s32", "s64")),
    *(InstructionCase(f"neg.{t} {{d}}, {{a}};", t, (t,), lambda a: -a) for t in ("s16", "s32", "s64")),
    *(
        InstructionCase(f"sad.{t} {{d}}, {{a}}, {{b}}, {{c}};", t, (t, t, t), lambda a, b, c: c + abs(a - b))
        for t in ALL
    ),
    binary("add.sat", "s32", lambda a, b: limit(a + b)),
    binary("sub.sat", "s32", lambda a, b: limit(a - b)),
    InstructionCase(
        "mad.hi.sat.s32 {d}, {a}, {b}, {c};", "s32", ("s32",) * 3, lambda a, b, c: limit((a * b >> 32) + c)
    ),
    *(
        binary(f"mul24.{half}", t, lambda a, b, s=shift, g=t == "s32": low24(a, g) * low24(b, g) >> s)
        for t in ("u32", "s32")
        for half, shift in (("lo", 0), ("hi", 16))
    ),
    *(
        InstructionCase(
            f"mad24.lo.{t} {{d}}, {{a}}, {{b}}, {{c}};", t, (t,) * 3,
            lambda a, b, c, g=t == "s32": low24(a, g) * low24(b, g) + c,
        )
        for t in ("u32", "s32")
    ),
    *(
        InstructionCase(
            f"dp4a.{at}.{bt} {{d}}, {{a}}, {{b}}, {{c}};", "s32" if "s32" in (at, bt) else "u32",
            (at, bt, "s32" if "s32" in (at, bt) else "u32"),
            lambda a, b, c, x=at == "s32", y=bt == "s32": c + dot(a, b, 8, x, y),
        )
        for at in ("u32", "s32")
        for bt in ("u32", "s32")
    ),
    *(
        InstructionCase(
            f"dp2a.{half}.s32.u32 {{d}}, {{a}}, {{b}}, {{c}};", "s32", ("s32", "u32", "s32"),
            lambda a, b, c, f=first: c + dot(a, b, 16, True, False, f),
        )
        for half, first in (("lo", 0), ("hi", 2))
    ),
]  # fmt: skip


#: 128-bit arithmetic on two 64-bit words by the carry chain; the upper word is kept.
CARRIES = [
    InstructionCase(
        "{{ .reg .b64 %low; add.cc.u64 %low, {a}, {b}; addc.u64 {d}, {a}, {b}; }}", "u64", ("u64", "u64"),
        lambda a, b: a + b + (a + b >> 64),
    ),
    InstructionCase(
        "{{ .reg .b64 %low; sub.cc.u64 %low, {a}, {b}; subc.u64 {d}, {a}, {b}; }}", "u64", ("u64", "u64"),
        lambda a, b: a - b - (a < b),
    ),
    InstructionCase(
        "{{ .reg .b32 %low; add.cc.u32 %low, {a}, {b}; addc.cc.u32 %low, {a}, {b}; addc.u32 {d}, 0, 0; }}", "u32",
        ("u32", "u32"), lambda a, b: a + b + (a + b >> 32) >> 32,
    ),
    InstructionCase(
        "{{ .reg .b32 %low; mad.lo.cc.u32 %low, {a}, {b}, {c}; madc.hi.u32 {d}, {a}, {b}, 0; }}", "u32", ("u32",) * 3,
        lambda a, b, c: a * b + c >> 32,
    ),
    InstructionCase(
        "{{ .reg .b32 %low; mad.lo.cc.u32 %low, {a}, {b}, {c}; madc.hi.cc.u32 %low, {a}, {b}, {c};"
        " addc.u32 {d}, 0, 0; }}",
        "u32", ("u32",) * 3, lambda a, b, c: (a * b >> 32) + c + ((a * b & 0xFFFFFFFF) + c >> 32) >> 32,
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES + CARRIES, ids=str)
def test_integer_instruction(case: InstructionCase) -> None:
    """Python's integers do not wrap: results are compared modulo the width."""
    check_case(case)


def test_ptxas_accepts_the_table(tmp_path: Path) -> None:
    """What the machine executes must be PTX."""
    check_with_ptxas(module_text(CASES + CARRIES), "sm_90", tmp_path)
