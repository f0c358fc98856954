"""Comparisons, selections and moves of the PTX machine. PTX ISA, "Comparison and Selection Instructions", "mov"."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ptx.instructions import InstructionCase, check_case, module_text
from tests.ptx.toolchain import check_with_ptxas

SIGNED_AND_FLOAT: dict[str, Callable] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
FLOATS = ("f16", "bf16", "f32", "f64")


def is_nan(a: float, b: float) -> bool:
    return math.isnan(a) or math.isnan(b)


def setp(name: str, type_: str, oracle: Callable) -> InstructionCase:
    return InstructionCase(f"setp.{name}.{type_} {{d}}, {{a}}, {{b}};", "pred", (type_, type_), oracle)


CASES = [
    *(setp(name, t, f) for t in ("s16", "s32", "s64", "u16", "u32", "u64") for name, f in SIGNED_AND_FLOAT.items()),
    *(setp(name, t, f) for t in ("u16", "u32", "u64") for name, f in UNSIGNED.items()),
    *(setp(name, t, SIGNED_AND_FLOAT[name]) for t in ("b16", "b32", "b64") for name in ("eq", "ne")),
    # ordered comparisons are false for NaN, `ne` too; unordered ones true (PTX ISA, "Floating Point Comparisons")
    *(
        setp(name, t, lambda a, b, f=f: not is_nan(a, b) and f(a, b))
        for t in FLOATS
        for name, f in SIGNED_AND_FLOAT.items()
    ),
    *(
        setp(f"{name}u", t, lambda a, b, f=f: is_nan(a, b) or f(a, b))
        for t in FLOATS
        for name, f in SIGNED_AND_FLOAT.items()
    ),
    *(setp("num", t, lambda a, b: not is_nan(a, b)) for t in FLOATS),
    *(setp("nan", t, is_nan) for t in FLOATS),
    *(
        InstructionCase(
            f"setp.lt.{name}.s32 {{d}}, {{a}}, {{b}}, {{c}};", "pred", ("s32", "s32", "pred"),
            lambda a, b, c, f=f: f(a < b, c),
        )
        for name, f in (("and", operator.and_), ("or", operator.or_), ("xor", operator.xor))
    ),
    InstructionCase(
        "setp.lt.and.s32 {d}, {a}, {b}, !{c};", "pred", ("s32", "s32", "pred"), lambda a, b, c: a < b and not c
    ),
    # the second result is the negated comparison
    InstructionCase("setp.lt.s32 %q|{d}, {a}, {b};", "pred", ("s32", "s32"), lambda a, b: a >= b),
    InstructionCase(
        "setp.lt.and.s32 _|{d}, {a}, {b}, {c};", "pred", ("s32", "s32", "pred"), lambda a, b, c: a >= b and c
    ),
    InstructionCase("setp.gt.f16x2 {d}|%q, {a}, {b};", "pred", ("f16x2", "f16x2"), lambda a, b: a[0] > b[0]),
    InstructionCase("setp.gt.f16x2 %q|{d}, {a}, {b};", "pred", ("f16x2", "f16x2"), lambda a, b: a[1] > b[1]),
    InstructionCase("setp.ne.bf16x2 _|{d}, {a}, {b};", "pred", ("bf16x2",) * 2,
                    lambda a, b: not is_nan(a[1], b[1]) and a[1] != b[1]),
    InstructionCase("setp.lt.ftz.f32 {d}, {a}, {b};", "pred", ("f32", "f32"), lambda a, b: False, ([1], [2])),
    InstructionCase("setp.lt.f32 {d}, {a}, {b};", "pred", ("f32", "f32"), lambda a, b: True, ([1], [2])),
    InstructionCase("set.lt.u32.s32 {d}, {a}, {b};", "u32", ("s32", "s32"), lambda a, b: -(a < b)),
    InstructionCase("set.gt.f32.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), lambda a, b: float(a > b)),
    InstructionCase(
        "set.eq.or.s32.u32 {d}, {a}, {b}, {c};", "s32", ("u32", "u32", "pred"), lambda a, b, c: -(a == b or c)
    ),
    *(
        InstructionCase(
            f"selp.{t} {{d}}, {{a}}, {{b}}, {{c}};", t, (t, t, "pred"), lambda a, b, c: a if c else b
        )
        for t in ("b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64")
    ),
    InstructionCase(
        "slct.u32.s32 {d}, {a}, {b}, {c};", "u32", ("u32", "u32", "s32"), lambda a, b, c: a if c >= 0 else b
    ),
    # NaN selects the second; -0 counts as 0
    InstructionCase(
        "slct.s32.f32 {d}, {a}, {b}, {c};", "s32", ("s32", "s32", "f32"), lambda a, b, c: a if c >= 0 else b
    ),
    InstructionCase("selp.f32 {d}, {a}, 0f40200000, {b};", "f32", ("f32", "pred"), lambda a, b: a if b else 2.5),
    InstructionCase("mov.b64 {d}, {{{a}, {b}}};", "b64", ("b32", "b32"), lambda a, b: a | b << 32),
    InstructionCase("mov.b32 {d}, {{{a}, {b}}};", "b32", ("b16", "b16"), lambda a, b: a | b << 16),
    InstructionCase(
        "mov.b64 {d}, {{{a}, {b}, {c}, {b}}};", "b64", ("b16", "b16", "b16"),
        lambda a, b, c: a | b << 16 | c << 32 | b << 48,
    ),
    InstructionCase("mov.b64 {{_, {d}}}, {a};", "b32", ("b64",), lambda a: a >> 32),
    InstructionCase("mov.b32 {{_, {d}}}, {a};", "b16", ("b32",), lambda a: a >> 16),
    InstructionCase("mov.b64 {{_, {d}, _, _}}, {a};", "b16", ("b64",), lambda a: a >> 16),
    InstructionCase("mov.pred {d}, {a};", "pred", ("pred",), lambda a: a),
    InstructionCase("mov.f64 {d}, 0dC000000000000000;", "f64", (), lambda: -2.0),
    InstructionCase("mov.u32 {d}, WARP_SZ;", "u32", (), lambda: 32),
    # two registers exchanged through one
    InstructionCase(
        "{{ .reg .b64 %both; mov.b64 %both, {{{a}, {b}}}; mov.b64 {{{b}, {a}}}, %both; sub.u32 {d}, {a}, {b}; }}",
        "u32", ("u32", "u32"), lambda a, b: b - a,
    ),
    # guards: the instruction executes where the predicate holds
    InstructionCase("mov.u32 {d}, {a}; @{b} add.u32 {d}, {a}, 1;", "u32", ("u32", "pred"), lambda a, b: a + b),
    InstructionCase("mov.u32 {d}, {a}; @!{b} add.u32 {d}, {a}, 1;", "u32", ("u32", "pred"), lambda a, b: a + (not b)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_comparison_selection_move(case: InstructionCase) -> None:
    """Python's comparisons, which are IEEE 754's."""
    check_case(case)


def test_ptxas_accepts_the_table(tmp_path: Path) -> None:
    check_with_ptxas(module_text(CASES), "sm_90", tmp_path)
