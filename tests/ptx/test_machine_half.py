"""f16 and bf16 arithmetic of the PTX machine. PTX ISA, "Half Precision Floating-Point Instructions"."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.ptx.exact_rounding import round_exactly
from tests.ptx.instructions import InstructionCase, check_case, module_text
from tests.ptx.machine.numbers import bfloat
from tests.ptx.toolchain import check_with_ptxas

NAN = math.nan


def rounded(function: Callable, type_: str, mode: str = "rn") -> Callable[..., float]:
    """Exact on finite operands, rounded once; the rest by Python's floats."""

    def oracle(*operands: float) -> float:
        if not all(map(math.isfinite, operands)):
            return function(*operands)
        exact = function(*map(Fraction, operands))
        return round_exactly(exact, type_, mode) if exact else math.copysign(0.0, function(*operands))

    return oracle


def smaller(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return min(a, b, key=lambda x: (x, math.copysign(1, x)))


def larger(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return max(a, b, key=lambda x: (x, math.copysign(1, x)))


def saturated(value: float) -> float:
    return 0.0 if math.isnan(value) or value <= 0 else min(value, 1.0)


def on_pairs(function: Callable) -> Callable:
    """The operation on the lower and on the upper half."""
    return lambda *operands: tuple(function(*half) for half in zip(*operands, strict=True))


def both(name: str, type_: str, arity: int, oracle: Callable, **keywords) -> list[InstructionCase]:
    """The instruction for a type and for its pairs."""
    letters = ", ".join(f"{{{letter}}}" for letter in "abc"[:arity])
    return [
        InstructionCase(f"{name}.{type_} {{d}}, {letters};", type_, (type_,) * arity, oracle, **keywords),
        InstructionCase(
            f"{name}.{type_}x2 {{d}}, {letters};", f"{type_}x2", (f"{type_}x2",) * arity, on_pairs(oracle), **keywords
        ),
    ]


CASES = [
    case
    for type_ in ("f16", "bf16")
    for case in (
        *both("add", type_, 2, rounded(lambda a, b: a + b, type_)),
        *both("sub", type_, 2, rounded(lambda a, b: a - b, type_)),
        *both("mul", type_, 2, rounded(lambda a, b: a * b, type_)),
        *both("fma.rn", type_, 3, rounded(lambda a, b, c: a * b + c, type_)),
        *both("min", type_, 2, smaller),
        *both("max", type_, 2, larger),
        *both("max.NaN", type_, 2, lambda a, b: NAN if math.isnan(a) or math.isnan(b) else larger(a, b)),
        *both("neg", type_, 1, lambda a: -a),
        *both("abs", type_, 1, abs),
    )
] + [
    *both("add.sat", "f16", 2, lambda a, b: saturated(rounded(lambda x, y: x + y, "f16")(a, b))),
    *both(
        "fma.rn.relu", "f16", 3,
        lambda a, b, c: (lambda r: 0.0 if r <= 0 else r)(rounded(lambda x, y, z: x * y + z, "f16")(a, b, c)),
    ),
    InstructionCase("ex2.approx.f16 {d}, {a};", "f16", ("f16",), lambda a: 2.0**a, ([0x3C00, 0x4200, 0xC000],)),
    # float16 has ulp 2**-11 around 0.76 (tanh 1)
    InstructionCase("tanh.approx.f16 {d}, {a};", "f16", ("f16",), math.tanh, ([0x3C00, 0x0000, 0xB800],), 2**-10),
]  # fmt: skip


def mixed(name: str, type_: str, mode: str, arity: int, function: Callable) -> InstructionCase:
    """The last operand and the result are f32."""
    letters = ", ".join(f"{{{letter}}}" for letter in "abc"[:arity])
    return InstructionCase(
        f"{name}.{mode}.f32.{type_} {{d}}, {letters};", "f32", (*[type_] * (arity - 1), "f32"),
        rounded(function, "f32", mode), arch="sm_100",
    )  # fmt: skip


#: sm_100 and PTX 8.6: halves in, float32 out.
MIXED = [
    case
    for type_ in ("f16", "bf16")
    for mode in ("rn", "rz")
    for case in (
        mixed("add", type_, mode, 2, lambda a, b: a + b),
        mixed("sub", type_, mode, 2, lambda a, b: a - b),
        mixed("fma", type_, mode, 3, lambda a, b, c: a * b + c),
    )
]


@pytest.mark.parametrize("case", CASES + MIXED, ids=str)
def test_half_instruction(case: InstructionCase) -> None:
    """Bits equal those of one exact rounding."""
    check_case(case)


def test_ptxas_accepts_the_table(tmp_path: Path) -> None:
    check_with_ptxas(module_text(CASES), "sm_90", tmp_path)
    check_with_ptxas(module_text(MIXED), "sm_100", tmp_path)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_narrowing_to_bfloat16_rounds_once(mode: str) -> None:
    """Random float64 values near bfloat16's halfway points, with the rest as low as float64 goes."""
    rng = np.random.default_rng(3)
    halfway = bfloat.widen(rng.integers(0x0001, 0x7F7F, 300).astype(np.uint16)).astype(np.float64)
    halfway += np.spacing(halfway.astype(np.float32)) * 2.0**15
    values = np.concatenate([halfway, np.nextafter(halfway, 0), np.nextafter(halfway, np.inf)])
    values = np.concatenate([values, -values])
    got = bfloat.widen(bfloat.narrow((values, np.zeros_like(values)), mode))
    wanted = [round_exactly(Fraction(value), "bf16", mode) for value in values.tolist()]
    np.testing.assert_array_equal(got, np.array(wanted))
