"""Kernels of one instruction each, and what they must give. Before: a table of cases. After: test_machine_*.py.

A case's instruction works on arrays, one element a thread; its oracle is a Python function of one element's operands,
from PTX ISA's text. `machine_of` puts a whole table into one module, which ptxas must accept as well.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.ptx.machine import PtxMachine
from tests.ptx.machine.types import TYPES

NTHREADS = 256
HEADER = ".version 8.8\n.target {arch}\n.address_size 64\n"
_REGISTER = {1: ".pred", 8: ".b16", 16: ".b16", 32: ".b32", 64: ".b64"}
#: Bit patterns of floats where rounding and special rules show.
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 1e-3, 255.4, -70000.0, math.inf, -math.inf, math.nan)


@dataclass(frozen=True)
class InstructionCase:
    """`text`: an instruction with {d}, {a}, {b}, {c} for its operands, as "add.s32 {d}, {a}, {b};".

    result, operands: PTX types. oracle: takes Python ints (bit types too), floats or bools; its value is compared with
    the result, integers modulo their width, NaN equal to NaN. values: the operands' values, else `sample_values`.
    rtol: 0 asks for equal bits.
    """

    text: str
    result: str
    operands: tuple[str, ...]
    oracle: Callable[..., Any]
    values: tuple[Sequence[Any], ...] = ()
    rtol: float = 0.0
    arch: str = "sm_90"

    def __str__(self) -> str:
        return self.text.split("{d}")[0].strip(" {|")

    def inputs(self) -> tuple[np.ndarray, ...]:
        """One array of NTHREADS elements for each operand."""
        if self.values:
            return tuple(_repeat(v, t) for v, t in zip(self.values, self.operands, strict=True))
        rng = np.random.default_rng(len(self.text))
        return tuple(sample_values(type_, rng) for type_ in self.operands)

    def entry(self, name: str) -> str:
        return entry_text(name, self.text, self.result, self.operands)

    def expected(self, inputs: tuple[np.ndarray, ...]) -> np.ndarray:
        columns = [_python_values(x, t) for x, t in zip(inputs, self.operands, strict=True)]
        lanes = list(zip(*columns, strict=True)) or [()] * NTHREADS
        return np.array([_to_bits(self.oracle(*lane), self.result) for lane in lanes], _dtype(self.result))


def _dtype(type_name: str) -> np.dtype:
    """How an operand's bits are kept in an array."""
    type_ = TYPES[type_name]
    return np.dtype(np.uint8) if type_.kind == "pred" else np.dtype(f"u{type_.nbytes}")


def _repeat(values: Sequence[int], type_name: str) -> np.ndarray:
    """Bit patterns (negative integers too), repeated for all threads."""
    dtype = _dtype(type_name)
    return np.resize(np.array([value & ((1 << 8 * dtype.itemsize) - 1) for value in values], dtype), NTHREADS)


def sample_values(type_name: str, rng: np.random.Generator) -> np.ndarray:
    """Bit patterns: edges of the type first, then random ones."""
    type_ = TYPES[type_name]
    if type_.nparts > 1:
        dtype = _dtype(type_name)
        lower, upper = (sample_values(type_name.removesuffix("x2"), rng).astype(dtype) for _ in range(2))
        return lower | upper << dtype.type(type_.nbits // 2)
    if type_.kind == "pred":
        return rng.integers(0, 2, NTHREADS, np.uint8)
    bits = rng.integers(0, 1 << 63, NTHREADS, np.uint64) * 2 + rng.integers(0, 2, NTHREADS, np.uint64)
    values = bits.astype(_dtype(type_name))
    if type_.is_float:
        edges = [_to_bits(value, type_name) for value in _FLOATS] + [1]
        # moderate numbers: random bits are mostly huge or tiny
        values[::2] = [_to_bits(float(x), type_name) for x in rng.normal(0, 8, NTHREADS // 2)]
    else:
        n = type_.nbits
        edges = [0, 1, 2, 31, 32, 33, (1 << n) - 1, 1 << (n - 1), (1 << (n - 1)) - 1]
        values[::3] >>= _dtype(type_name).type(n - 6)
    places = rng.choice(NTHREADS, NTHREADS // 3, replace=False)
    values[places] = np.array(rng.choice(np.array(edges, np.uint64), len(places)) & ((1 << type_.nbits) - 1))
    return values


def _python_values(array: np.ndarray, type_name: str) -> list[Any]:
    type_ = TYPES[type_name]
    if type_.kind == "pred":
        return [bool(x) for x in array]
    if type_.nparts > 1:
        part, nbits = type_name.removesuffix("x2"), type_.nbits // 2
        return [(_from_bits(int(x) & ((1 << nbits) - 1), part), _from_bits(int(x) >> nbits, part)) for x in array]
    return [_from_bits(int(x), type_name) for x in array]


def _from_bits(bits: int, type_name: str) -> Any:
    type_ = TYPES[type_name]
    if type_.kind == "bfloat":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if type_.kind == "float":
        with np.errstate(invalid="ignore"):  # signalling NaN
            return float(np.array(bits, f"u{type_.nbytes}").view(type_.dtype))
    return bits - (1 << type_.nbits) if type_.kind == "signed" and bits >> (type_.nbits - 1) else bits


def _to_bits(value: Any, type_name: str) -> int:
    """A result of the oracle, which is representable in the type already, as bits."""
    type_ = TYPES[type_name]
    if type_.nparts > 1:
        part = type_name.removesuffix("x2")
        return _to_bits(value[0], part) | _to_bits(value[1], part) << type_.nbits // 2
    if type_.kind == "pred":
        return int(bool(value))
    if type_.kind == "bfloat":
        return 0x7FFF if math.isnan(value) else struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    if type_.kind == "float":
        with np.errstate(over="ignore", invalid="ignore"):
            return int(np.array(value).astype(type_.dtype).view(f"u{type_.nbytes}"))
    return int(value) & ((1 << type_.nbits) - 1)


def entry_text(name: str, text: str, result: str, operands: Sequence[str]) -> str:
    """A kernel (out, a, b, c): out[i] = instruction(a[i], b[i], c[i]) for thread i."""
    letters = "abcd"[: len(operands)] if len(operands) < 4 else "abce"
    types = {"d": result, **dict(zip(letters, operands, strict=True))}
    lines = [f".visible .entry {name}(", ",\n".join(f" .param .u64 {name}_{i}" for i in range(len(types))), ")\n{"]
    lines += [f" .reg {_REGISTER[TYPES[t].nbits]} %{letter};" for letter, t in types.items()]
    lines += [" .reg .b32 %i;", " .reg .b64 %p;", " .reg .b16 %byte;", " .reg .pred %q;", " mov.u32 %i, %tid.x;"]
    for number, (letter, type_name) in enumerate(list(types.items())[1:], 1):
        lines += _address(name, number, type_name) + _load(letter, type_name)
    lines.append(" " + text.format(**{letter: f"%{letter}" for letter in types}))
    lines += _address(name, 0, result) + _store(result)
    return "\n".join([*lines, " ret;", "}", ""])


def _address(name: str, number: int, type_name: str) -> list[str]:
    nbytes = TYPES[type_name].nbytes
    return [f" ld.param.u64 %p, [{name}_{number}];", f" mad.wide.u32 %p, %i, {nbytes}, %p;"]


def _load(letter: str, type_name: str) -> list[str]:
    if type_name == "pred":
        return [" ld.global.u8 %byte, [%p];", f" setp.ne.b16 %{letter}, %byte, 0;"]
    return [f" ld.global.b{TYPES[type_name].nbytes * 8} %{letter}, [%p];"]


def _store(type_name: str) -> list[str]:
    if type_name == "pred":
        return [" selp.b16 %byte, 1, 0, %d;", " st.global.b8 [%p], %byte;"]
    return [f" st.global.b{TYPES[type_name].nbytes * 8} [%p], %d;"]


def module_text(cases: Sequence[InstructionCase]) -> str:
    """All cases of one architecture in one module; entries are named case_0, case_1 …"""
    (arch,) = {case.arch for case in cases}
    return HEADER.format(arch=arch) + "".join(case.entry(f"case_{i}") for i, case in enumerate(cases))


def check_case(case: InstructionCase) -> None:
    """Execute the case on the machine and compare every lane with its oracle."""
    machine = PtxMachine(module_text([case]))
    inputs = case.inputs()
    out = machine.memory.allocate(NTHREADS * 8)
    machine.launch("case_0", 1, NTHREADS, (out, *(machine.memory.copy_in(x) for x in inputs)))
    got = machine.memory.copy_out(out, NTHREADS, _dtype(case.result))
    compare(case, inputs, got, case.expected(inputs))


def compare(case: InstructionCase, inputs: tuple[np.ndarray, ...], got: np.ndarray, wanted: np.ndarray) -> None:
    type_ = TYPES[case.result]
    if type_.kind == "float" and type_.nparts == 1:
        values, wanted_values = got.view(type_.dtype), wanted.view(type_.dtype)
        if case.rtol:
            np.testing.assert_allclose(values, wanted_values, rtol=case.rtol, atol=0)
            return
        same = (got == wanted) | (np.isnan(values) & np.isnan(wanted_values))
    elif type_.is_float:
        parts = type_.nparts
        same = np.all(_same_halves(got, wanted, type_.kind == "bfloat").reshape(-1, parts), axis=1)
    else:
        same = got == wanted
    if not same.all():
        bad = int(np.argmin(same))
        operands = [_python_values(x, t)[bad] for x, t in zip(inputs, case.operands, strict=True)]
        raise AssertionError(
            f"{case.text} on {operands} gave {got[bad]:#x}, expected {wanted[bad]:#x} ({(~same).sum()} lanes differ)"
        )


def _same_halves(got: np.ndarray, wanted: np.ndarray, is_bfloat: bool) -> np.ndarray:
    a, b = got.view(np.uint16), wanted.view(np.uint16)
    infinity = 0x7F80 if is_bfloat else 0x7C00
    return (a == b) | (((a & 0x7FFF) > infinity) & ((b & 0x7FFF) > infinity))
