"""Instructions and LLVM intrinsics as MSL, run with traps on undefined behaviour, against Python's integers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
import pytest

from numba_gpucore.base.errors import UnsupportedKernelError
from numba_gpucore.compile.intrinsics import INTRINSICS, is_cached_access
from numba_metal.codegen.helpers import has_helper, helper_text
from numba_metal.codegen.math_helpers import MATH_HELPERS
from numba_metal.codegen.neutral_calls import NEUTRAL
from tests.unit.msl_ir import ENTRY, array_of, emit, header, run

NUMPY = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def edge_values(bits: int) -> list[int]:
    top = 1 << (bits - 1)
    return [0, 1, -1, 2, 3, -3, 7, top - 1, -top, -top + 1, top // 3, -(top // 5), 10, -10]


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def modulus_of(b: int, bits: int) -> int:
    return unsigned(b, bits) % bits


def quotient(a: int, b: int) -> int:
    """Towards zero, as C++ and LLVM divide; by zero 0, as the helpers say."""
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return 0 if b == 0 else a - quotient(a, b) * b


#: LLVM's operation on two values of `{t}`, and what it means for signed operands of `bits` bits. %c: whether %x < %y;
#: %s: %y modulo the width, which is what the meaning gets where %s is used.
BINARY: dict[str, Callable[[int, int, int], int]] = {
    "add {t} %x, %y": lambda a, b, bits: a + b,
    "sub {t} %x, %y": lambda a, b, bits: a - b,
    "mul {t} %x, %y": lambda a, b, bits: a * b,
    "sub {t} 0, %y": lambda a, b, bits: -b,
    "add {t} %x, -7": lambda a, b, bits: a - 7,
    "mul {t} %x, -3": lambda a, b, bits: a * -3,
    "and {t} %x, %y": lambda a, b, bits: a & b,
    "or {t} %x, %y": lambda a, b, bits: a | b,
    "xor {t} %x, %y": lambda a, b, bits: a ^ b,
    "xor {t} %x, -1": lambda a, b, bits: ~a,
    "shl {t} %x, %s": lambda a, b, bits: a << b,
    "lshr {t} %x, %s": lambda a, b, bits: unsigned(a, bits) >> b,
    "ashr {t} %x, %s": lambda a, b, bits: a >> b,
    "shl {t} %x, 3": lambda a, b, bits: a << 3,
    "lshr {t} %x, 3": lambda a, b, bits: unsigned(a, bits) >> 3,
    "ashr {t} %x, 3": lambda a, b, bits: a >> 3,
    "sdiv {t} %x, %y": lambda a, b, bits: quotient(a, b),
    "srem {t} %x, %y": lambda a, b, bits: remainder(a, b),
    "udiv {t} %x, %y": lambda a, b, bits: quotient(unsigned(a, bits), unsigned(b, bits)),
    "urem {t} %x, %y": lambda a, b, bits: remainder(unsigned(a, bits), unsigned(b, bits)),
    "sdiv {t} %x, 10": lambda a, b, bits: quotient(a, 10),
    "udiv {t} %x, 10": lambda a, b, bits: quotient(unsigned(a, bits), 10),
    "sdiv {t} %x, -1": lambda a, b, bits: -a,
    "call {t} @llvm.smax.{t}({t} %x, {t} %y)": lambda a, b, bits: max(a, b),
    "call {t} @llvm.smin.{t}({t} %x, {t} %y)": lambda a, b, bits: min(a, b),
    "call {t} @llvm.umax.{t}({t} %x, {t} %y)": lambda a, b, bits: max(unsigned(a, bits), unsigned(b, bits)),
    "call {t} @llvm.umin.{t}({t} %x, {t} %y)": lambda a, b, bits: min(unsigned(a, bits), unsigned(b, bits)),
    "call {t} @llvm.abs.{t}({t} %x, i1 false)": lambda a, b, bits: abs(a),
    "call {t} @llvm.ctpop.{t}({t} %x)": lambda a, b, bits: unsigned(a, bits).bit_count(),
    "call {t} @llvm.ctlz.{t}({t} %x, i1 false)": lambda a, b, bits: bits - unsigned(a, bits).bit_length(),
    "call {t} @llvm.cttz.{t}({t} %x, i1 false)": lambda a, b, bits: (a & -a).bit_length() - 1 if a else bits,
    "call {t} @llvm.bitreverse.{t}({t} %x)": lambda a, b, bits: int(f"{unsigned(a, bits):0{bits}b}"[::-1], 2),
    "call {t} @llvm.fshl.{t}({t} %x, {t} %y, {t} %s)": lambda a, b, bits: (
        ((unsigned(a, bits) << bits | unsigned(b, bits)) << modulus_of(b, bits)) >> bits
    ),
    "call {t} @llvm.fshr.{t}({t} %x, {t} %y, {t} %s)": lambda a, b, bits: (
        (unsigned(a, bits) << bits | unsigned(b, bits)) >> modulus_of(b, bits)
    ),
    "call {t} @llvm.uadd.sat.{t}({t} %x, {t} %y)": lambda a, b, bits: min(
        unsigned(a, bits) + unsigned(b, bits), (1 << bits) - 1
    ),
    "call {t} @llvm.usub.sat.{t}({t} %x, {t} %y)": lambda a, b, bits: max(unsigned(a, bits) - unsigned(b, bits), 0),
    "call {t} @llvm.sadd.sat.{t}({t} %x, {t} %y)": lambda a, b, bits: min(
        max(a + b, -(1 << (bits - 1))), (1 << (bits - 1)) - 1
    ),
    "call {t} @llvm.scmp.{t}.{t}({t} %x, {t} %y)": lambda a, b, bits: (a > b) - (a < b),
    "call {t} @llvm.ucmp.{t}.{t}({t} %x, {t} %y)": lambda a, b, bits: (
        (unsigned(a, bits) > unsigned(b, bits)) - (unsigned(a, bits) < unsigned(b, bits))
    ),
    "select i1 %c, {t} %x, {t} %y": lambda a, b, bits: a if a < b else b,
    "zext i1 %c to {t}": lambda a, b, bits: int(a < b),
    "sext i1 %c to {t}": lambda a, b, bits: -int(a < b),
}
WIDE_ONLY = {
    "call {t} @llvm.bswap.{t}({t} %x)": lambda a, b, bits: int.from_bytes(
        unsigned(a, bits).to_bytes(bits // 8, "little"), "big"
    ),
}
PREDICATES = {"eq": operator.eq, "ne": operator.ne, "gt": operator.gt, "ge": operator.ge, "lt": operator.lt,
              "le": operator.le}  # fmt: skip


def run_pairs(
    bits: int, lines: list[str], count: int, values: list[int], compute_bits: int | None = None
) -> np.ndarray:
    """Row k of the result: what `%r<k>` was for every pair of `values`. compute_bits: an odd width to compute in."""
    type_, width = f"i{bits}", compute_bits or bits
    pairs = [(a, b) for a in values for b in values]
    data = np.array([n for pair in pairs for n in pair], NUMPY[bits])
    prepare = [
        "  %first = shl i64 %i, 1",
        "  %second = or disjoint i64 %first, 1",
        f"  %xp = getelementptr {type_}, ptr %a, i64 %first",
        f"  %yp = getelementptr {type_}, ptr %a, i64 %second",
        f"  %{'wx' if compute_bits else 'x'} = load {type_}, ptr %xp",
        f"  %{'wy' if compute_bits else 'y'} = load {type_}, ptr %yp",
    ]
    if compute_bits:
        prepare += [f"  %x = trunc {type_} %wx to i{width}", f"  %y = trunc {type_} %wy to i{width}"]
    prepare += [f"  %c = icmp slt i{width} %x, %y", f"  %s = urem i{width} %y, {width}"]
    stores = []
    for row in range(count):
        value = f"%r{row}"
        if compute_bits:
            stores.append(f"  %w{row} = sext i{width} {value} to {type_}")
            value = f"%w{row}"
        stores += [
            f"  %at{row} = add i64 %i, {row * len(pairs)}",
            f"  %p{row} = getelementptr {type_}, ptr %out, i64 %at{row}",
            f"  store {type_} {value}, ptr %p{row}",
        ]
    ir = header(type_, type_) + "\n".join([*prepare, *lines, *stores, "  ret void", "}"])
    msl = emit(ir, (array_of(type_), array_of(type_)))
    out = run(msl, [data, np.zeros(count * len(pairs), NUMPY[bits])], len(pairs))[1]
    return out.reshape(count, len(pairs))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integer_operations(bits):
    operations = {**BINARY, **(WIDE_ONLY if bits > 8 else {})}
    lines = [f"  %r{row} = {text.format(t=f'i{bits}')}" for row, text in enumerate(operations)]
    values = edge_values(bits)
    got = run_pairs(bits, lines, len(operations), values)
    for row, (text, meaning) in enumerate(operations.items()):
        wanted = []
        for a in values:
            for b in values:
                second = modulus_of(b, bits) if "%s" in text and "%y" not in text else b
                wanted.append(signed(meaning(a, second, bits), bits))
        np.testing.assert_array_equal(got[row], np.array(wanted, NUMPY[bits]), err_msg=text)


@pytest.mark.parametrize("odd_bits", [3, 24, 33, 63])
def test_odd_widths_that_optimisation_makes(odd_bits):
    """i33 and its kind live in the next wider type, zero-extended."""
    # Three bits do not hold the constants of the others.
    texts = [text for text in BINARY if "call" not in text and not any(c in text for c in (", 3", "7", "10", "-3"))]
    lines = [f"  %r{row} = {text.format(t=f'i{odd_bits}')}" for row, text in enumerate(texts)]
    values = [signed(value, odd_bits) for value in edge_values(64)]
    got = run_pairs(64, lines, len(texts), values, odd_bits)
    for row, text in enumerate(texts):
        wanted = [
            signed(BINARY[text](a, modulus_of(b, odd_bits) if "%s" in text else b, odd_bits), odd_bits)
            for a in values
            for b in values
        ]
        np.testing.assert_array_equal(got[row], np.array(wanted, np.int64), err_msg=text)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_comparisons(bits):
    names = [f"{sign}{name}" for name in ("gt", "ge", "lt", "le") for sign in "su"] + ["eq", "ne"]
    lines = []
    for row, name in enumerate(names):
        lines += [f"  %b{row} = icmp {name} i{bits} %x, %y", f"  %r{row} = zext i1 %b{row} to i{bits}"]
    values = edge_values(bits)
    got = run_pairs(bits, lines, len(names), values)
    for row, name in enumerate(names):
        view = unsigned if name[0] == "u" else signed
        compare = PREDICATES[name[-2:]]
        wanted = [compare(view(a, bits), view(b, bits)) for a in values for b in values]
        np.testing.assert_array_equal(got[row], wanted, err_msg=name)


FLOATS = np.array([0.0, -0.0, 1.0, -1.5, 3.25, math.inf, -math.inf, math.nan, 1e30, 1e-30], np.float32)


def test_float_comparisons_know_nan():
    """The sixteen predicates of fcmp: ordered ones are false, unordered ones true, where an operand is NaN."""
    names = [f"{kind}{name}" for kind in "ou" for name in ("eq", "ne", "gt", "ge", "lt", "le")] + ["ord", "uno"]
    pairs = [(a, b) for a in FLOATS for b in FLOATS]
    lines = ["  %first = shl i64 %i, 1", "  %xp = getelementptr float, ptr %a, i64 %first",
             "  %yp = getelementptr i8, ptr %xp, i64 4", "  %x = load float, ptr %xp",
             "  %y = load float, ptr %yp"]  # fmt: skip
    for row, name in enumerate(names):
        lines += [
            f"  %b{row} = fcmp {name} float %x, %y",
            f"  %n{row} = xor i1 %b{row}, true",
            f"  %z{row} = zext i1 %b{row} to i32",
            f"  %m{row} = zext i1 %n{row} to i32",
            f"  %d{row} = sub i32 %z{row}, %m{row}",
            f"  %at{row} = add i64 %i, {row * len(pairs)}",
            f"  %p{row} = getelementptr i32, ptr %out, i64 %at{row}",
            f"  store i32 %d{row}, ptr %p{row}",
        ]
    ir = header("float", "i32") + "\n".join([*lines, "  ret void", "}"])
    msl = emit(ir, (array_of("float"), array_of("i32")))
    out = run(msl, [np.array(pairs, np.float32).ravel(), np.zeros(len(names) * len(pairs), np.int32)], len(pairs))[1]
    for row, name in enumerate(names):
        wanted = []
        for a, b in pairs:
            is_unordered = math.isnan(a) or math.isnan(b)
            if name in ("ord", "uno"):
                result = is_unordered == (name == "uno")
            else:
                result = name[0] == "u" if is_unordered else PREDICATES[name[1:]](a, b)
            wanted.append(1 if result else -1)
        np.testing.assert_array_equal(out.reshape(len(names), -1)[row], wanted, err_msg=name)


@pytest.mark.parametrize(
    ("opcode", "type_", "limits"),
    [
        ("fptosi", "i32", (-(2**31), 2**31 - 1)),
        ("fptosi", "i64", (-(2**63), 2**63 - 1)),
        ("fptoui", "i32", (0, 2**32 - 1)),
        ("fptoui", "i64", (0, 2**64 - 1)),
    ],
)
def test_float_to_integer_saturates(opcode, type_, limits):
    """LLVM and C++ leave what does not fit undefined; ours is what CUDA and LLVM's fptosi.sat give. NaN is 0."""
    values = np.array([0, 1.9, -1.9, 2.0**31, -(2.0**31), 2.0**40, 2.0**63, -(2.0**63), 1e30, -1e30, math.inf,
                       -math.inf, math.nan, 4294967040.0, -0.5], np.float32)  # fmt: skip
    body = f"  %x = load float, ptr %a_place\n  %r = {opcode} float %x to {type_}\n  store {type_} %r, ptr %out_place"
    msl = emit(header("float", type_) + body + "\n  ret void\n}", (array_of("float"), array_of(type_)))
    out = run(msl, [values, np.zeros(values.size, NUMPY[int(type_[1:])])], values.size)[1]
    low, high = limits
    wanted = [
        0 if math.isnan(x) else min(max(low, math.trunc(x) if math.isfinite(x) else (high if x > 0 else low)), high)
        for x in values.tolist()
    ]
    np.testing.assert_array_equal(out, [signed(value, int(type_[1:])) for value in wanted])


def test_every_neutral_intrinsic_has_words():
    """A back-end that misses an entry of the table must not pass. Accesses with cache operators are ordinary loads and
    stores before they come to the printer."""
    assert set(NEUTRAL) == {name for name in INTRINSICS if not is_cached_access(name)}


def test_every_helper_that_math_needs_exists():
    named = {f"math_{name.split('.')[2]}" for name in INTRINSICS if name.startswith("gpu.math.")}
    plain_msl = {f"math_{name}" for name in (
        "acos acosh asin asinh atan atan2 atanh cos cosh exp exp2 fma fmod log log10 log2 pow sin sinh sqrt tan tanh"
    ).split()}  # fmt: skip
    assert named - plain_msl <= set(MATH_HELPERS)
    assert all(helper_text(name) for name in MATH_HELPERS)
    assert not has_helper("math_sqrt")


def test_throw_numbers_travel_as_doubles_without_doubles():
    """`raise E("…", x)` with a float32: the mailbox gets the pattern of the equal double, built from integers."""
    values = np.array([0.0, -0.0, 1.5, -2.75, 1e-40, 3e38, math.inf, -math.inf, 5e-45], np.float32)
    body = """
  %x = load float, ptr %a_place
  %wide = fpext float %x to double
  %bits = bitcast double %wide to i64
  store i64 %bits, ptr %out_place
  ret void
}"""
    msl = emit(header("float", "i64") + body, (array_of("float"), array_of("i64")))
    out = run(msl, [values, np.zeros(values.size, np.int64)], values.size)[1]
    np.testing.assert_array_equal(out, values.astype(np.float64).view(np.int64))


def test_doubles_and_64_bit_atomics_are_refused_together_with_advice():
    body = """
  %old = atomicrmw add ptr %a_place, i64 1 monotonic
  store i64 %old, ptr %out_place
  ret void
}"""
    with pytest.raises(UnsupportedKernelError, match=r"an atomic add of 64-bit values.*use an array of int32"):
        emit(header("i64", "i64") + body, (array_of("i64"), array_of("i64")))
    body = """
  %x = fadd double 1.0, 2.0
  %y = fptrunc double %x to float
  store float %y, ptr %out_place
  ret void
}"""
    with pytest.raises(UnsupportedKernelError, match="float64, which Metal does not have"):
        emit(header("i64", "float") + body, (array_of("i64"), array_of("float")))


def test_names_of_c_and_metal_are_not_used():
    ir = f"""
define void @{ENTRY}(ptr %ctx, ptr %a, i64 %n, ptr %out, i64 %m) {{
entry:
  %kernel.v = load i32, ptr %a
  %out.v = mul i32 %kernel.v, %kernel.v
  %half.v1 = add i32 %out.v, 1
  store i32 %half.v1, ptr %out
  store i32 %half.v1, ptr %a
  %device.v.i = xor i32 %half.v1, %kernel.v
  %device.v2 = mul i32 %device.v.i, %device.v.i
  store i32 %device.v2, ptr %out
  ret void
}}
"""
    text = emit(ir, (array_of("i32"), array_of("i32")))
    for name in ("kernel", "half", "device"):
        assert f"{name}_ = " in text
    run(text, [np.array([3], np.int32), np.zeros(1, np.int32)], 1)
