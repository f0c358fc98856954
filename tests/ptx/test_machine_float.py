"""Float arithmetic of the PTX machine against exact rounding of fractions. PTX ISA, "Floating-Point Instructions"."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.ptx.exact_rounding import round_exactly
from tests.ptx.instructions import InstructionCase, check_case, module_text
from tests.ptx.toolchain import check_with_ptxas

MODES = ("rn", "rz", "rm", "rp")
TYPES = ("f32", "f64")
NAN = math.nan


def rounded_oracle(
    exact: Callable[..., Fraction], special: Callable[..., float], type_: str, mode: str, is_sum: bool = False
) -> Callable[..., float]:
    """The operation on finite operands exactly, then rounded once; zeros, infinities and NaN by Python's own floats.

    is_sum: an exact zero is -0 when rounding down, unless both addends are +0 (IEEE 754-2019, 6.3).
    """

    def oracle(*operands: float) -> float:
        if not all(map(math.isfinite, operands)):
            return special(*operands)
        try:
            result = exact(*map(Fraction, operands))
        except ZeroDivisionError:
            return special(*operands)
        if result == 0:
            zero = special(*operands)
            return -0.0 if is_sum and mode == "rm" and not _adds_positive_zeros(operands) else math.copysign(0.0, zero)
        return round_exactly(result, type_, mode)

    return oracle


def _adds_positive_zeros(operands: tuple[float, ...]) -> bool:
    addends = operands if len(operands) == 2 else (operands[0] * operands[1], operands[2])
    return all(x == 0 and math.copysign(1, x) > 0 for x in addends)


def add(a: Any, b: Any) -> Any:
    return a + b


def multiply(a: Any, b: Any) -> Any:
    return a * b


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return NAN if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def square_root(a: float, type_: str, mode: str) -> float:
    if not math.isfinite(a) or a <= 0:
        return a if a == 0 or a == math.inf else NAN
    # enough digits that the rest of the root decides a rounding
    scaled = Fraction(a) * 4**1200
    root = Fraction(math.isqrt(scaled.numerator // scaled.denominator))
    is_exact = root * root == scaled
    return round_exactly((root if is_exact else root + Fraction(1, 2)) / 2**1200, type_, mode)


def arithmetic(type_: str, mode: str) -> list[InstructionCase]:
    two, three = (type_, type_), (type_, type_, type_)
    end = f".{mode}.{type_} {{d}}, {{a}}"

    def rounded(*functions, is_sum=False):
        return rounded_oracle(*functions, type_, mode, is_sum)

    added = rounded(add, add, is_sum=True)
    return [
        InstructionCase(f"add{end}, {{b}};", type_, two, added),
        InstructionCase(f"sub{end}, {{b}};", type_, two, lambda a, b: added(a, -b)),
        InstructionCase(f"mul{end}, {{b}};", type_, two, rounded(multiply, multiply)),
        InstructionCase(
            f"fma{end}, {{b}}, {{c}};", type_, three, rounded(multiply_add, multiply_add, is_sum=True)
        ),
        InstructionCase(f"div{end}, {{b}};", type_, two, rounded(lambda a, b: a / b, divide)),
        InstructionCase(f"rcp{end};", type_, (type_,), rounded(lambda a: 1 / a, lambda a: divide(1.0, a))),
        InstructionCase(f"sqrt{end};", type_, (type_,), lambda a: square_root(a, type_, mode)),
    ]  # fmt: skip


def flushed(value: float) -> float:
    return math.copysign(0.0, value) if abs(value) < 2.0**-126 else value


def saturated(value: float) -> float:
    return 0.0 if math.isnan(value) or value <= 0 else min(value, 1.0)


def is_less(a: float, b: float) -> bool:
    """-0 is less than +0."""
    return a < b or (a == b and math.copysign(1, a) < math.copysign(1, b))


def smaller(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) or not is_less(b, a) else b


def larger(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) or not is_less(a, b) else b


def or_nan(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: NAN if math.isnan(a) or math.isnan(b) else function(a, b)


add_f32 = rounded_oracle(add, add, "f32", "rn")
multiply_f32 = rounded_oracle(multiply, multiply, "f32", "rn")
TINY_BITS = [0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0x00400000, 0x80800000]

CASES = [
    *(case for type_ in TYPES for mode in MODES for case in arithmetic(type_, mode)),
    # .ftz: subnormal operands and results become zero of the same sign
    InstructionCase(
        "add.ftz.f32 {d}, {a}, {b};", "f32", ("f32", "f32"),
        lambda a, b: flushed(add_f32(flushed(a), flushed(b))),
        (TINY_BITS, TINY_BITS[::-1]),
    ),
    InstructionCase(
        "mul.rn.ftz.f32 {d}, {a}, {b};", "f32", ("f32", "f32"),
        lambda a, b: flushed(multiply_f32(flushed(a), flushed(b))),
        (TINY_BITS, [0x3F000000, 0x3F800000, 0x40000000]),
    ),
    InstructionCase(
        "add.sat.f32 {d}, {a}, {b};", "f32", ("f32", "f32"),
        lambda a, b: saturated(add_f32(a, b)),
    ),
    *(
        case
        for t in TYPES
        for case in (
            InstructionCase(f"min.{t} {{d}}, {{a}}, {{b}};", t, (t, t), smaller),
            InstructionCase(f"max.{t} {{d}}, {{a}}, {{b}};", t, (t, t), larger),
            InstructionCase(f"abs.{t} {{d}}, {{a}};", t, (t,), abs),
            InstructionCase(f"neg.{t} {{d}}, {{a}};", t, (t,), lambda a: -a),
            # the first operand gives the sign
            InstructionCase(f"copysign.{t} {{d}}, {{a}}, {{b}};", t, (t, t), lambda a, b: math.copysign(b, a)),
            InstructionCase(f"testp.finite.{t} {{d}}, {{a}};", "pred", (t,), math.isfinite),
            InstructionCase(f"testp.infinite.{t} {{d}}, {{a}};", "pred", (t,), math.isinf),
            InstructionCase(f"testp.number.{t} {{d}}, {{a}};", "pred", (t,), lambda a: not math.isnan(a)),
            InstructionCase(f"testp.notanumber.{t} {{d}}, {{a}};", "pred", (t,), math.isnan),
        )
    ),
    InstructionCase("min.NaN.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), or_nan(smaller)),
    InstructionCase("max.NaN.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), or_nan(larger)),
    InstructionCase(
        "min.xorsign.abs.f32 {d}, {a}, {b};", "f32", ("f32", "f32"),
        lambda a, b: math.copysign(smaller(abs(a), abs(b)), math.copysign(1, a) * math.copysign(1, b)),
    ),
    InstructionCase(
        "testp.normal.f32 {d}, {a};", "pred", ("f32",), lambda a: math.isfinite(a) and abs(a) >= 2.0**-126, (TINY_BITS,)
    ),
    InstructionCase(
        "testp.subnormal.f32 {d}, {a};", "pred", ("f32",), lambda a: 0 < abs(a) < 2.0**-126, (TINY_BITS,)
    ),
]  # fmt: skip


def packed(name: str, mode: str, arity: int, oracle: Callable[..., float]) -> InstructionCase:
    letters = ", ".join(f"{{{letter}}}" for letter in "abc"[:arity])
    return InstructionCase(
        f"{name}.{mode}.f32x2 {{d}}, {letters};", "f32x2", ("f32x2",) * arity,
        lambda *operands: tuple(oracle(*parts) for parts in zip(*operands, strict=True)), arch="sm_100",
    )  # fmt: skip


#: PTX 8.6 and sm_100: two float32 in a 64-bit register.
PACKED = [
    case
    for mode in ("rn", "rz")
    for case in (
        packed("add", mode, 2, rounded_oracle(add, add, "f32", mode, is_sum=True)),
        packed("sub", mode, 2, rounded_oracle(lambda a, b: a - b, lambda a, b: a - b, "f32", mode)),
        packed("mul", mode, 2, rounded_oracle(multiply, multiply, "f32", mode)),
        packed("fma", mode, 3, rounded_oracle(multiply_add, multiply_add, "f32", mode, is_sum=True)),
    )
]

#: PTX 8.8 and sm_100: three operands.
THREE = [
    InstructionCase(
        f"{name}.f32 {{d}}, {{a}}, {{b}}, {{c}};", "f32", ("f32",) * 3, lambda a, b, c, f=function: f(f(a, b), c),
        arch="sm_100",
    )
    for name, function in (("min", smaller), ("max", larger), ("max.NaN", or_nan(larger)))
]  # fmt: skip


def upper_word(value: float) -> float:
    """PTX ISA, "rcp.approx.ftz.f64": the low 32 bits of operand and result count as zero, subnormals too."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    (kept,) = struct.unpack("<d", struct.pack("<Q", bits & 0xFFFFFFFF00000000))
    return math.copysign(0.0, kept) if abs(kept) < 2.0**-1022 else kept


def guarded(function: Callable[..., float]) -> Callable[..., float]:
    """NaN where Python's math raises ValueError, infinity where it overflows."""

    def oracle(*operands: float) -> float:
        try:
            return function(*operands)
        except ValueError:
            return NAN
        except OverflowError:
            return math.inf

    return oracle


MODERATE = [0x3F800000 + 0x00123457 * i for i in range(60)] + [0x3E000000 + 0x0000FFF1 * i for i in range(60)]

#: Functions whose result PTX gives an error bound only; the machine's are float64's, rounded.
APPROXIMATE = [
    InstructionCase("div.approx.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), divide, (MODERATE, MODERATE[::-1]), 2**-22),
    InstructionCase("div.full.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), divide, (MODERATE, MODERATE[::-1]), 2**-22),
    # PTX ISA, "div.approx": divisors from 2**126 to 2**128 give 0
    InstructionCase(
        "div.approx.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), lambda a, b: 0.0, ([0x3F800000], [0x7F000000 + 1])
    ),
    InstructionCase("rcp.approx.ftz.f32 {d}, {a};", "f32", ("f32",), lambda a: divide(1.0, a), (MODERATE,), 2**-23),
    InstructionCase("sqrt.approx.f32 {d}, {a};", "f32", ("f32",), guarded(math.sqrt), rtol=2**-22),
    InstructionCase(
        "rsqrt.approx.f32 {d}, {a};", "f32", ("f32",), guarded(lambda a: divide(1.0, math.sqrt(a))), rtol=2**-22
    ),
    InstructionCase("ex2.approx.f32 {d}, {a};", "f32", ("f32",), guarded(lambda a: 2.0**a), (MODERATE,), 2**-22),
    InstructionCase("lg2.approx.f32 {d}, {a};", "f32", ("f32",), guarded(math.log2), (MODERATE[1:],), 2**-21),
    InstructionCase("sin.approx.f32 {d}, {a};", "f32", ("f32",), guarded(math.sin), (MODERATE,), 2**-19),
    InstructionCase("cos.approx.f32 {d}, {a};", "f32", ("f32",), guarded(math.cos), (MODERATE,), 2**-19),
    InstructionCase("tanh.approx.f32 {d}, {a};", "f32", ("f32",), math.tanh, (MODERATE,), 2**-10),
    InstructionCase(
        "rcp.approx.ftz.f64 {d}, {a};", "f64", ("f64",), lambda a: upper_word(divide(1.0, upper_word(a))), rtol=2**-19
    ),
    InstructionCase(
        "rsqrt.approx.f64 {d}, {a};", "f64", ("f64",), guarded(lambda a: divide(1.0, math.sqrt(a))), rtol=1e-9
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES + THREE + PACKED, ids=str)
def test_float_instruction(case: InstructionCase) -> None:
    """Bits equal those of one exact rounding."""
    check_case(case)


@pytest.mark.parametrize("case", APPROXIMATE, ids=str)
def test_approximate_instruction(case: InstructionCase) -> None:
    """Within PTX ISA's error bounds."""
    check_case(case)


def test_ptxas_accepts_the_table(tmp_path: Path) -> None:
    check_with_ptxas(module_text(CASES + APPROXIMATE), "sm_90", tmp_path)
    check_with_ptxas(module_text(THREE + PACKED), "sm_100", tmp_path)
