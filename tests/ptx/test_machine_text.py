"""What the PTX machine reads and what it refuses. PTX ISA, "Syntax", "Directives"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ptx.kernels import kernel, module, run
from tests.ptx.machine import PtxError, PtxMachine, PtxSyntaxError, UnsupportedInstruction
from tests.ptx.toolchain import check_with_ptxas


def test_scopes_labels_comments_and_constants(tmp_path: Path) -> None:
    """Registers of inner braces hide outer ones; integer constants in all their forms add up to 1111."""
    body = """
 mov.u32 %r1, 0x3e8; // 1000
 { .reg .b32 %r1; /* not the
 one outside */ mov.u32 %r1, 5; { .reg .b32 %r1; mov.u32 %r1, 7; } add.u32 %r1, %r1, 1; }
 { .reg .b32 %x<3>; mov.u32 %x2, 0b1100100; add.u32 %r1, %r1, %x2; } // 100
 add.u32 %r1, %r1, 012; // 10
 add.s32 %r1, %r1, -1U; add.s32 %r1, %r1, 2; // 1
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), 1111)


def test_float_constants(tmp_path: Path) -> None:
    """A decimal constant is a double; used as .f32 it is rounded."""
    body = (
        " mov.f32 %r1, 0f3F000000;\n add.f32 %r1, %r1, 2.25;\n cvt.rzi.u32.f32 %r1, %r1;\n st.global.u32 [%out], %r1;"
    )
    np.testing.assert_array_equal(run(kernel(body), tmp_path), 2)


def test_debug_information_is_skipped(tmp_path: Path) -> None:
    text = module(
        """
.file 1 "kernel.py"
.pragma "nounroll";
.visible .entry k(.param .u64 out, .param .u64 in) .maxntid 256, 1, 1 .minnctapersm 2
{
 .reg .b64 %d<3>;
 .loc 1 10 5
 ld.param.u64 %d1, [out];
 .pragma "nounroll";
 .loc 1 11 5, function_name info_string0, inlined_at 1 10 5
 st.global.u32 [%d1], 9;
 ret;
}
.section .debug_str { info_string0: .b8 107, 0 }
"""
    ).replace(".target sm_90", ".target sm_90, debug")
    check_with_ptxas(text, "sm_90", tmp_path)
    machine = PtxMachine(text)
    out = machine.memory.allocate(4)
    machine.launch("k", 1, 1, (out, 0))
    assert machine.memory.read(out, 4) == b"\x09\0\0\0"


REFUSED = [
    ("frobnicate.u32 %r1, %r2;", "unknown instruction"),
    ("add.bogus.u32 %r1, %r2, %r3;", r"unknown modifier \.bogus"),
    ("add.f16.f32 %r1, %r2, %r3;", r"has no type \.f16"),
    ("add.u8 %h1, %h2, %h3;", "has no type|needs a type"),
    ("add.u32 %r1, %r2;", "1 operands after the result, expected 2"),
    ("add.u64 %d1, %d2, %r1;", r"register %r1 of type \.b32 as \.u64"),
    ("add.u32 %p1, %r1, %r2;", r"register %p1 of type \.pred as \.u32"),
    ("mov.u32 %r1, nowhere;", "nowhere is not declared"),
    ("ld.global.u32 %r1, %r2;", "is no address"),
    ("ld.global.bogus.u32 %r1, [%d1];", r"unknown modifier \.bogus"),
    ("ld.global.v2.u32 %r1, [%d1];", "1 registers for 2 elements"),
    ("ld.shared.u32 %r1, [k_out];", r"a variable in \.kernel_param accessed as \.shared"),
    ("atom.global.add.f16x4 %r1, [%d1], %r2;", "needs a type"),
    ("cvt.s32.f32 %r1, %r2;", "needs a rounding modifier"),
    ("bra nowhere;", "no label"),
    ("call nowhere;", "nowhere has no body"),
    ("fence.proxy.alias;", "unknown modifier"),
    (".tex .u32 texture;", "unknown directive"),
    ("cp.async.wait_all;", "unknown instruction"),
]


@pytest.mark.parametrize(("instruction", "message"), REFUSED)
def test_unknown_is_refused_naming_line_and_text(instruction: str, message: str) -> None:
    text = module(kernel(" " + instruction))
    line = text.split("\n").index(" " + instruction) + 1
    with pytest.raises(UnsupportedInstruction, match=message) as caught:
        PtxMachine(text)
    assert str(caught.value).startswith(f"PTX line {line}: ")
    assert instruction in str(caught.value)


MALFORMED = [
    (" add.u32 %r1, %r2, %r3", "expected"),
    (" mov.u32 %r1, `;", "no token starts with '`"),
    (" .reg .b31 %x;", r"'\.b31' is no type"),
    (" ld.global.u32 %r1, [];", "expected a number|is no address"),
]


@pytest.mark.parametrize(("instruction", "message"), MALFORMED)
def test_malformed_text_is_refused(instruction: str, message: str) -> None:
    with pytest.raises(PtxSyntaxError, match=message) as caught:
        PtxMachine(module(kernel(instruction)))
    assert str(caught.value).startswith("PTX line ")


def test_undefined_names_are_refused() -> None:
    with pytest.raises(PtxError, match="extern variable missing is defined nowhere"):
        PtxMachine(module(".extern .global .u32 missing;\n" + kernel("")))
    with pytest.raises(PtxError, match="label twice is there twice"):
        PtxMachine(module(kernel("twice:\ntwice:")))


def test_unknown_special_register_is_refused_when_launched() -> None:
    machine = PtxMachine(module(kernel(" mov.u32 %r1, %clusterid.x;")))
    with pytest.raises(PtxError, match=r"special register %clusterid\.x is not known"):
        machine.launch("k", 1, 1, (0, 0))
