"""Atomics of the PTX machine, against a Python loop over the threads in order. PTX ISA, "atom", "red"."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.ptx.kernels import kernel, module, run
from tests.ptx.machine import PtxMachine
from tests.ptx.toolchain import check_with_ptxas

#: (operation, PTX type, NumPy type, what becomes of the old value).
OPERATIONS: list[tuple[str, str, type, Callable]] = [
    ("add", "u32", np.uint32, lambda old, b: old + b),
    ("add", "s32", np.int32, lambda old, b: old + b),
    ("add", "u64", np.uint64, lambda old, b: old + b),
    ("add", "f32", np.float32, lambda old, b: old + b),
    ("add", "f64", np.float64, lambda old, b: old + b),
    ("add.noftz", "f16", np.float16, lambda old, b: old + b),
    ("and", "b32", np.uint32, lambda old, b: old & b),
    ("or", "b64", np.uint64, lambda old, b: old | b),
    ("xor", "b32", np.uint32, lambda old, b: old ^ b),
    ("min", "s32", np.int32, min),
    ("max", "u32", np.uint32, max),
    ("min", "u64", np.uint64, min),
    ("max", "s64", np.int64, max),
    ("exch", "b32", np.uint32, lambda old, b: b),
    ("exch", "b64", np.uint64, lambda old, b: b),
    ("inc", "u32", np.uint32, lambda old, b: 0 if old >= b else old + 1),
    ("dec", "u32", np.uint32, lambda old, b: b if old == 0 or old > b else old - 1),
]
NTHREADS, NCELLS = 96, 7


def atomic_module(operation: str, type_: str, space: str) -> str:
    """Thread i works on cell i % NCELLS with in[i] and writes what it found to out[i]."""
    nbits = int(type_[1:])
    register = {16: "%h", 32: "%r", 64: "%d"}[nbits]
    nbytes = nbits // 8
    copy_back = f"@%p ld.shared.b{nbits} {register}0, [%d4];\n @%p st.global.b{nbits} [%d3], {register}0;"
    copy_back = "" if space == "global" else copy_back
    order = "relaxed.gpu." if space == "global" else ""
    return module(
        f"""
.global .align 8 .b8 cells[64];
.shared .align 8 .b8 shared_cells[64];
.visible .entry k(.param .u64 out, .param .u64 in)
{{
 .reg .b64 %d<8>; .reg .b32 %r<8>; .reg .b16 %h<8>; .reg .pred %p;
 mov.u32 %r1, %tid.x;
 ld.param.u64 %d1, [out];
 ld.param.u64 %d2, [in];
 mad.wide.u32 %d1, %r1, {nbytes}, %d1;
 mad.wide.u32 %d2, %r1, {nbytes}, %d2;
 rem.u32 %r2, %r1, {NCELLS};
 mov.u64 %d3, cells;
 mad.wide.u32 %d3, %r2, {nbytes}, %d3;
 mov.u64 %d4, shared_cells;
 mad.wide.u32 %d4, %r2, {nbytes}, %d4;
 setp.lt.u32 %p, %r1, {NCELLS};
 ld.global.b{nbits} {register}7, [%d3];
 @%p st.shared.b{nbits} [%d4], {register}7;
 bar.sync 0;
 ld.global.b{nbits} {register}7, [%d2];
 atom.{order}{space}.{operation}.{type_} {register}0, [{"%d3" if space == "global" else "%d4"}], {register}7;
 st.global.b{nbits} [%d1], {register}0;
 bar.sync 0;
 {copy_back}
 ret;
}}
"""
    )


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(
    ("operation", "type_", "dtype", "change"),
    OPERATIONS,
    ids=[f"{operation[0]}.{operation[1]}" for operation in OPERATIONS],
)
def test_atomic(operation: str, type_: str, dtype: type, change: Callable, space: str, tmp_path: Path) -> None:
    """96 threads meet at 7 cells; each gets what the one before left."""
    text = atomic_module(operation, type_, space)
    check_with_ptxas(text, "sm_90", tmp_path)
    machine = PtxMachine(text)
    rng = np.random.default_rng(5)
    values, cells = rng.integers(0, 9, NTHREADS).astype(dtype), rng.integers(0, 9, NCELLS).astype(dtype)
    machine.memory.write(machine.address_of("cells"), cells)
    out = machine.memory.allocate(values.nbytes)
    machine.launch("k", 1, NTHREADS, (out, machine.memory.copy_in(values)))
    found = np.empty_like(values)
    for thread, value in enumerate(values):
        found[thread] = cells[thread % NCELLS]
        cells[thread % NCELLS] = change(found[thread], value)
    np.testing.assert_array_equal(machine.memory.copy_out(out, NTHREADS, dtype), found)
    np.testing.assert_array_equal(machine.memory.copy_out(machine.address_of("cells"), NCELLS, dtype), cells)


def test_compare_and_swap(tmp_path: Path) -> None:
    """Every thread tries to swap 0 for its number + 1: the first one gets it."""
    body = """
 add.u32 %r1, %i, 1;
 atom.global.cas.b32 %r2, [cell], 0, %r1;
 st.global.u32 [%out], %r2;"""
    got = run(".global .u32 cell = 0;\n" + kernel(body), tmp_path, block=64)
    np.testing.assert_array_equal(got, [0] + [1] * 63)


def test_reduction_without_result(tmp_path: Path) -> None:
    """0 + 1 + … + 127 over two blocks; the last to read sees all of it."""
    body = """
 red.relaxed.gpu.global.add.u32 [cell], %i;
 fence.acq_rel.gpu;
 ld.relaxed.gpu.global.u32 %r1, [cell];
 st.global.u32 [%out], %r1;"""
    got = run(".global .u32 cell = 0;\n" + kernel(body), tmp_path, grid=2, block=64)
    assert got[-1] == 127 * 128 // 2


@pytest.mark.parametrize(("space", "wanted"), [("global", 0), ("shared", 3)])
def test_float_add_flushes_subnormals_in_global_memory_only(space: str, wanted: int, tmp_path: Path) -> None:
    """PTX ISA, "atom": so for atom.add.f32. 3 is the bit pattern of a subnormal, 1 + 2 of the smallest."""
    body = f"""
 mov.u32 %r0, 1;
 st.{space}.u32 [cell], %r0;
 mov.u32 %r1, 2;
 atom.{space}.add.f32 %r2, [cell], %r1;
 ld.{space}.u32 %r3, [cell];
 st.global.u32 [%out], %r3;"""
    got = run(f".{space} .u32 cell;\n" + kernel(body), tmp_path, block=1)
    np.testing.assert_array_equal(got, wanted)


def test_generic_atomics_find_their_space(tmp_path: Path) -> None:
    """Even lanes count in shared, odd ones in global memory."""
    body = """
 .shared .u32 here;
 mov.u32 %r9, 0;
 st.shared.u32 [here], %r9;
 bar.sync 0;
 cvta.shared.u64 %d1, here;
 mov.u64 %d2, there;
 and.b32 %r0, %i, 1;
 setp.eq.u32 %p1, %r0, 0;
 selp.b64 %d3, %d1, %d2, %p1;
 atom.add.u32 %r1, [%d3], 1;
 st.global.u32 [%out], %r1;"""
    got = run(".global .u32 there = 0;\n" + kernel(body), tmp_path)
    np.testing.assert_array_equal(got, np.arange(32) // 2)


def test_paired_halves(tmp_path: Path) -> None:
    """atom.add.noftz.f16x2: (1.0, 2.0) added 32 times to (0, 0)."""
    body = """
 mov.u32 %r1, 0x40003c00;
 red.global.add.noftz.f16x2 [cell], %r1;
 ld.global.u32 %r2, [cell];
 st.global.u32 [%out], %r2;"""
    got = run(".global .u32 cell = 0;\n" + kernel(body), tmp_path)
    np.testing.assert_array_equal(got[-1:].view(np.float16), [32.0, 64.0])
