"""Conversions of the PTX machine. PTX ISA, "Data Movement and Conversion Instructions: cvt"."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.ptx.exact_rounding import round_exactly
from tests.ptx.instructions import InstructionCase, check_case, module_text
from tests.ptx.toolchain import check_with_ptxas

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "f32", "f64")
#: What each rounding to an integer does with a fraction; Python's round is to nearest even.
INTEGRAL: dict[str, Callable[[Fraction], int]] = {
    "rni": round,
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}


def limits(type_: str) -> tuple[int, int]:
    n = int(type_[1:])
    return (-(1 << n - 1), (1 << n - 1) - 1) if type_[0] == "s" else (0, (1 << n) - 1)


def clamped(value: int, type_: str) -> int:
    low, high = limits(type_)
    return max(low, min(high, value))


def to_integer(value: float, source: str, result: str, mode: str) -> int:
    """PTX ISA 9.0, "cvt": out of range is clamped; NaN is 0, or 1 << (width - 1) from .f64 or to 64 bits."""
    n = int(result[1:])
    if math.isnan(value):
        return 1 << (n - 1) if source == "f64" or n == 64 else 0
    if math.isinf(value):
        return limits(result)[value > 0]
    return clamped(INTEGRAL[mode](Fraction(value)), result)


def to_float(value: Any, result: str, mode: str) -> float:
    if isinstance(value, float) and (not math.isfinite(value) or value == 0):
        return value
    return round_exactly(Fraction(value), result, mode) if value else 0.0


def cvt(modifiers: str, result: str, source: str, oracle: Callable) -> InstructionCase:
    dots = f".{modifiers}" if modifiers else ""
    # 8-bit values live in 16-bit registers: results are extended, and compared as such
    register = {"u8": "u16", "s8": "s16"}.get(result, result)
    return InstructionCase(f"cvt{dots}.{result}.{source} {{d}}, {{a}};", register, (source,), oracle)


def extended(value: int, type_: str) -> int:
    """The low bits of a value, read as the type."""
    n = int(type_[1:])
    low = value & ((1 << n) - 1)
    return low - (1 << n) if type_[0] == "s" and low >> (n - 1) else low


WIDE_TO_INTEGER = [
    cvt(mode, result, source, lambda a, s=source, r=result, m=mode: to_integer(a, s, r, m))
    for mode in INTEGRAL
    for source in FLOATS
    for result in ("u16", "s16", "u32", "s32", "u64", "s64")
]
TO_FLOAT = [
    cvt(mode, result, source, lambda a, r=result, m=mode: to_float(a, r, m))
    for mode in ("rn", "rz", "rm", "rp")
    for source in INTEGERS
    for result in FLOATS
    if result != "f16" or mode == "rn"
]
BETWEEN = [
    cvt("", result, source, lambda a, r=result: extended(a, r))
    for source in INTEGERS
    for result in INTEGERS
    if source != result
]
SATURATED = [
    cvt("sat", result, source, lambda a, r=result: clamped(a, r))
    for source, result in (("s32", "u8"), ("s32", "s8"), ("u32", "s32"), ("s64", "u32"), ("u64", "s16"), ("s16", "u64"))
]
FLOAT_TO_FLOAT = [
    *(cvt(m, "f32", "f64", lambda a, m=m: to_float(a, "f32", m)) for m in ("rn", "rz", "rm", "rp")),
    *(cvt(m, "f16", "f32", lambda a, m=m: to_float(a, "f16", m)) for m in ("rn", "rz")),
    cvt("rn", "f16", "f64", lambda a: to_float(a, "f16", "rn")),
    *(cvt(m, "bf16", "f32", lambda a, m=m: to_float(a, "bf16", m)) for m in ("rn", "rz")),
    cvt("", "f64", "f32", lambda a: a),
    cvt("", "f32", "f16", lambda a: a),
    cvt("", "f64", "f16", lambda a: a),
    cvt("", "f32", "bf16", lambda a: a),
    *(
        cvt(mode, t, t, lambda a, m=mode: a if not math.isfinite(a) else math.copysign(INTEGRAL[m](Fraction(a)), a))
        for mode in INTEGRAL
        for t in FLOATS
    ),
    cvt("sat", "f32", "f32", lambda a: 0.0 if math.isnan(a) or a <= 0 else min(a, 1.0)),
    cvt("rn.sat", "f32", "f64", lambda a: 0.0 if math.isnan(a) or a <= 0 else min(to_float(a, "f32", "rn"), 1.0)),
    cvt("ftz", "f64", "f32", lambda a: math.copysign(0.0, a) if abs(a) < 2.0**-126 else a),
    *(
        InstructionCase(
            f"cvt.{mode}.{t}x2.f32 {{d}}, {{a}}, {{b}};", f"{t}x2", ("f32", "f32"),
            # the first operand becomes the upper half
            lambda a, b, t=t, m=mode: (to_float(b, t, m), to_float(a, t, m)),
        )
        for t in ("f16", "bf16")
        for mode in ("rn", "rz")
    ),
    InstructionCase(
        "cvt.rn.relu.f16x2.f32 {d}, {a}, {b};", "f16x2", ("f32", "f32"),
        lambda a, b: tuple(0.0 if x <= 0 else to_float(x, "f16", "rn") for x in (b, a)),
    ),
]  # fmt: skip
CASES = WIDE_TO_INTEGER + TO_FLOAT + BETWEEN + SATURATED + FLOAT_TO_FLOAT


@pytest.mark.parametrize("case", CASES, ids=str)
def test_conversion(case: InstructionCase) -> None:
    """Every pair of types; edges are in every sample of values."""
    check_case(case)


def test_ptxas_accepts_the_table(tmp_path: Path) -> None:
    check_with_ptxas(module_text(CASES), "sm_90", tmp_path)


NAN_RESULTS = [
    ("f32", "u32", 0),
    ("f32", "s32", 0),
    ("f32", "s64", 1 << 63),
    ("f32", "u64", 1 << 63),
    ("f64", "s32", 1 << 31),
    ("f64", "u32", 1 << 31),
    ("f64", "s64", 1 << 63),
    ("f16", "s32", 0),
]


@pytest.mark.parametrize(("source", "result", "wanted"), NAN_RESULTS)
def test_nan_to_integer(source: str, result: str, wanted: int) -> None:
    """PTX ISA 9.0, "cvt", "Integer Notes"."""
    nan = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8 << 48}[source]
    text = f"cvt.rzi.{result}.{source} {{d}}, {{a}};"
    check_case(InstructionCase(text, result, (source,), lambda a: wanted, ([nan],)))
