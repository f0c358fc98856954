"""Loads, stores and variables of the PTX machine. PTX ISA, "State Spaces", "ld", "st", "cvta", "Initializers"."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.ptx.kernels import kernel, module, run
from tests.ptx.machine import PtxError, PtxFault, PtxMachine
from tests.ptx.toolchain import check_with_ptxas

LANES = np.arange(32)


def test_signed_loads_extend(tmp_path: Path) -> None:
    """PTX ISA, "ld": "sign-extended … if the source type is signed, zero-extended otherwise"."""
    body = """
 ld.global.s8 %h1, [%in];
 cvt.s32.s16 %r1, %h1;
 ld.global.u8 %r2, [%in];
 ld.global.s16 %r3, [%in];
 ld.global.b8 %r4, [%in];
 add.s32 %r1, %r1, %r2;
 add.s32 %r1, %r1, %r3;
 add.s32 %r1, %r1, %r4;
 st.global.u32 [%out], %r1;"""
    data = [0x8081, 0x7F7F, 0xFFFF] * 11
    by_hand = [0x81 - 256 + 0x81 + (0x8081 - 65536) + 0x81, 0x7F * 3 + 0x7F7F, -1 + 255 - 1 + 255]
    got = run(kernel(body), tmp_path, data).view(np.int32)
    np.testing.assert_array_equal(got, (by_hand * 11)[:32])


@pytest.mark.parametrize(
    ("vector", "registers"),
    [
        ("v2.b32", "{%r1, %r2}"),
        ("v4.b32", "{%r1, %r2, %r3, %r4}"),
        ("v2.b64", "{%d1, %d2}"),
        ("v4.b16", "{%h1, %h2, %h3, %h4}"),
    ],
)
def test_vectors_copy_bytes(vector: str, registers: str, tmp_path: Path) -> None:
    """Every thread copies its bytes as a vector."""
    count, nbits = int(vector[1]), int(vector.split(".b")[1])
    nbytes = count * nbits // 8
    body = f"""
 ld.param.u64 %out, [k_out];
 ld.param.u64 %in, [k_in];
 mad.wide.u32 %out, %i, {nbytes}, %out;
 mad.wide.u32 %in, %i, {nbytes}, %in;
 ld.global.nc.{vector} {registers}, [%in];
 st.global.{vector} [%out], {registers};"""
    text = module(kernel(body))
    check_with_ptxas(text, "sm_90", tmp_path)
    machine = PtxMachine(text)
    data = np.random.default_rng(0).integers(0, 256, 32 * nbytes, np.uint8)
    source, target = machine.memory.copy_in(data), machine.memory.allocate(data.nbytes)
    machine.launch("k", 1, 32, (target, source))
    np.testing.assert_array_equal(machine.memory.copy_out(target, data.size, np.uint8), data)


def test_eight_words_at_once(tmp_path: Path) -> None:
    """256-bit accesses of sm_100 (PTX 8.8)."""
    body = """
 ld.param.u64 %out, [k_out];
 ld.param.u64 %in, [k_in];
 mad.wide.u32 %out, %i, 32, %out;
 mad.wide.u32 %in, %i, 32, %in;
 ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%in];
 st.global.v8.b32 [%out], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};"""
    text = module(kernel(body), "sm_100")
    check_with_ptxas(text, "sm_100", tmp_path)
    machine = PtxMachine(text)
    source, target = machine.memory.copy_in(np.arange(256, dtype=np.uint32)), machine.memory.allocate(1024)
    machine.launch("k", 1, 32, (target, source))
    got = machine.memory.copy_out(target, (32, 8), np.uint32)
    np.testing.assert_array_equal(got, np.arange(256).reshape(32, 8)[:, ::-1])


def test_generic_addresses_reach_every_space(tmp_path: Path) -> None:
    """One load instruction whose lanes read global, shared, local and constant memory."""
    variables = ".const .u32 constant = 400;\n.global .u32 global_word = 100;\n.shared .u32 shared_word;\n"
    body = """
 .local .u32 local_word;
 mov.u32 %r1, 200;
 st.shared.u32 [shared_word], %r1;
 add.u32 %r2, %i, 300;
 st.local.u32 [local_word], %r2;
 bar.sync 0;
 cvta.const.u64 %d1, constant;
 cvta.global.u64 %d2, global_word;
 cvta.shared.u64 %d3, shared_word;
 cvta.local.u64 %d4, local_word;
 and.b32 %r3, %i, 3;
 setp.eq.u32 %p1, %r3, 1;
 selp.b64 %d1, %d2, %d1, %p1;
 setp.eq.u32 %p2, %r3, 2;
 selp.b64 %d1, %d3, %d1, %p2;
 setp.eq.u32 %p3, %r3, 3;
 selp.b64 %d1, %d4, %d1, %p3;
 ld.u32 %r4, [%d1];
 isspacep.shared %p4, %d1;
 @%p4 add.u32 %r4, %r4, 5000;
 st.global.u32 [%out], %r4;"""
    got = run(variables + kernel(body), tmp_path)
    np.testing.assert_array_equal(got, np.select([LANES % 4 == k for k in range(4)], [400, 100, 5200, 300 + LANES]))


def test_address_back_to_its_space(tmp_path: Path) -> None:
    body = """
 .shared .u32 words[32];
 mov.u32 %r1, words;
 mad.lo.u32 %r1, %i, 4, %r1;
 cvt.u64.u32 %d1, %r1;
 cvta.shared.u64 %d2, %d1;
 st.u32 [%d2], %i;
 cvta.to.shared.u64 %d3, %d2;
 cvt.u32.u64 %r2, %d3;
 ld.shared.u32 %r3, [%r2];
 sub.u32 %r4, %r2, %r1;
 add.u32 %r3, %r3, %r4;
 st.global.u32 [%out], %r3;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), LANES)


INITIALISED = """
.global .align 4 .b8 octets[8] = {1, 2, 255, 4};
.const .align 8 .f64 reals[2] = {0d3FF8000000000000, -2.5};
.global .u32 words[2][3] = {{1, 2, 3}, {4, 5}};
.global .u64 pointers[2] = {generic(words)+4, octets};
.global .align 8 .u8 packed[8] = {0xFF(generic(words)), 0xFF00(generic(words)), 0xFF0000(generic(words)),
 0xFF000000(generic(words)), 0xFF00000000(generic(words)), 0xFF0000000000(generic(words)),
 0xFF000000000000(generic(words)), 0xFF00000000000000(generic(words))};
"""


def test_initialisers(tmp_path: Path) -> None:
    """PTX ISA, "Initializers": the rest is zero; addresses, and bytes of addresses."""
    text = module(
        INITIALISED + kernel(" ld.global.u64 %d1, [pointers];\n ld.u32 %r1, [%d1];\n st.global.u32 [%out], %r1;")
    )
    check_with_ptxas(text, "sm_90", tmp_path)
    machine = PtxMachine(text)
    memory, at = machine.memory, machine.address_of
    assert memory.read(at("octets"), 8) == bytes([1, 2, 255, 4, 0, 0, 0, 0])
    assert struct.unpack("<2d", memory.read(at("reals"), 16)) == (1.5, -2.5)
    assert struct.unpack("<6I", memory.read(at("words"), 24)) == (1, 2, 3, 4, 5, 0)
    assert struct.unpack("<2Q", memory.read(at("pointers"), 16)) == (at("words") + 4, at("octets"))
    assert struct.unpack("<Q", memory.read(at("packed"), 8)) == (at("words"),)
    out = memory.allocate(128)
    machine.launch("k", 1, 32, (out, out))
    np.testing.assert_array_equal(memory.copy_out(out, 32, np.uint32), 2)


def test_dynamic_shared_memory(tmp_path: Path) -> None:
    """Extern arrays begin after the static ones, all at one address."""
    variables = ".shared .align 4 .b8 fixed[12];\n.extern .shared .align 16 .b8 dynamic[];\n"
    body = """
 mov.u32 %r1, dynamic;
 mad.lo.u32 %r2, %i, 4, %r1;
 st.shared.u32 [%r2], %i;
 bar.sync 0;
 mov.u32 %r3, 31;
 sub.u32 %r3, %r3, %i;
 mad.lo.u32 %r2, %r3, 4, %r1;
 ld.shared.u32 %r4, [%r2];
 mov.u32 %r5, %dynamic_smem_size;
 add.u32 %r4, %r4, %r5;
 st.global.u32 [%out], %r4;"""
    got = run(variables + kernel(body), tmp_path, dynamic_shared_nbytes=128)
    np.testing.assert_array_equal(got, 31 - LANES + 128)


def test_kernel_parameters_of_every_kind(tmp_path: Path) -> None:
    """Small types, alignment between parameters, bytes by value, and reading them through an address."""
    text = module(
        """
.visible .entry k(.param .u64 .ptr .global .align 4 out, .param .u8 small, .param .s16 half, .param .f32 real,
 .param .align 8 .b8 structure[12], .param .f64 wide)
{
 .reg .b32 %r<4>;
 .reg .b16 %h<4>;
 .reg .b64 %d<8>;
 ld.param.u64 %d1, [out];
 ld.param.u8 %h1, [small];
 st.global.u8 [%d1], %h1;
 ld.param.s16 %h2, [half];
 st.global.u16 [%d1+2], %h2;
 ld.param.f32 %r1, [real];
 st.global.f32 [%d1+4], %r1;
 mov.b64 %d3, structure;
 cvta.param.u64 %d4, %d3;
 ld.param.u32 %r2, [structure+8];
 st.global.u32 [%d1+8], %r2;
 ld.u32 %r3, [%d4+4];
 st.global.u32 [%d1+12], %r3;
 ld.param.f64 %d2, [wide];
 st.global.f64 [%d1+16], %d2;
 ret;
}
"""
    )
    check_with_ptxas(text, "sm_90", tmp_path)
    machine = PtxMachine(text)
    out = machine.memory.allocate(24)
    values = (out, 200, -3, 1.25, struct.pack("<3I", 7, 8, 9), 2.5)
    machine.launch("k", 1, 1, values)
    packed = struct.pack("<QBxhf3I4xd", *values[:4], 7, 8, 9, 2.5)
    wanted = struct.pack("<Bxhf2Id", 200, -3, 1.25, 9, 8, 2.5)
    assert machine.memory.read(out, 24) == wanted
    machine.memory.write(out, bytes(24))
    machine.launch("k", 1, 1, packed)
    assert machine.memory.read(out, 24) == wanted


def test_parameter_block_of_the_wrong_size_is_refused() -> None:
    machine = PtxMachine(module(kernel("")))
    with pytest.raises(PtxError, match="15 bytes of parameters given; k declares 16"):
        machine.launch("k", 1, 1, bytes(15))
    with pytest.raises(PtxError, match="1 parameters given, 2 declared"):
        machine.launch("k", 1, 1, (0,))
    with pytest.raises(PtxError, match="no entry 'other'; the module has k"):
        machine.launch("other", 1, 1, ())


def test_launch_bounds_are_kept() -> None:
    machine = PtxMachine(module(kernel("", directives=".maxntid 64")))
    with pytest.raises(PtxError, match=r"96 threads; \.maxntid of k is \(64,\)"):
        machine.launch("k", 1, 96, (0, 0))
    with pytest.raises(PtxError, match="cannot be launched"):
        machine.launch("k", 1, 1025, (0, 0))


ILLEGAL = [
    ("ld.global.u32 %r1, [%d1+128];", r"reads 4 bytes at \.global address .*outside every allocation; 128 bytes from"),
    ("ld.global.u32 %r1, [%d1+-4];", "outside every allocation"),
    ("st.global.u64 [%d1+124], %d1;", "not a multiple of 8"),
    ("ld.global.v2.u32 {%r1, %r2}, [%d1+4];", "reads 8 bytes.*not a multiple of 8"),
    ("ld.global.v2.u32 {%r1, %r2}, [%d1+128];", "outside every allocation"),
    ("ld.u32 %r1, [%d2];", "generic address 0x0 is in no state space"),
    ("ld.shared.u32 %r1, [%r9];", r"\.shared address 0x0, outside every variable"),
    ("mov.u32 %r1, word;\n ld.shared.u32 %r2, [%r1+4];", "outside every variable of .shared"),
    ("mov.u64 %d3, depot;\n ld.local.u32 %r2, [%d3+8];", "outside every variable of .local"),
    ("mov.u64 %d3, constant;\n st.global.u32 [%d3], %r9;", "which is read-only"),
    ("st.global.u32 [%d1], %r9;\n ld.global.nc.u32 %r1, [%d1];", r"reads bytes with \.nc that this kernel writes"),
    ("ld.global.nc.u32 %r1, [%d1];\n red.global.add.u32 [%d1], 1;", r"writes bytes that this kernel reads with \.nc"),
]


@pytest.mark.parametrize(("instructions", "message"), ILLEGAL)
def test_illegal_access_names_instruction_and_thread(instructions: str, message: str) -> None:
    """Only thread 2 of block 1 makes the access; 128 bytes are allocated at %d1."""
    variables = ".const .u32 constant = 1;\n.shared .u32 word;\n.shared .u32 next_word;\n"
    body = f"""
 .local .u64 depot;
 setp.ne.u32 %p1, %i, 34;
 @%p1 exit;
 ld.param.u64 %d1, [k_in];
 mov.u64 %d2, 0;
 mov.u32 %r9, 0;
 {instructions}"""
    machine = PtxMachine(module(variables + kernel(body)))
    memory = machine.memory.allocate(128)
    machine.memory.allocate(128)
    last = instructions.split("\n")[-1].strip().replace("[", r"\[").replace("+", r"\+")
    with pytest.raises(PtxFault, match=message) as caught:
        machine.launch("k", 2, 32, (0, memory))
    assert caught.match(f"PTX line .*{last}.*block \\(1, 0, 0\\), thread \\(2, 0, 0\\)")


def test_released_memory_is_out_of_bounds() -> None:
    machine = PtxMachine(module(kernel(" st.global.u32 [%out], %i;")))
    address = machine.memory.allocate(128)
    machine.launch("k", 1, 32, (address, 0))
    machine.memory.release(address)
    with pytest.raises(PtxFault, match="outside every allocation"):
        machine.launch("k", 1, 32, (address, 0))
    with pytest.raises(PtxError, match="host access"):
        machine.memory.read(address, 4)


def test_races_are_won_by_the_last_thread(tmp_path: Path) -> None:
    """Documented behaviour of the machine: all threads store to one word."""
    body = " ld.param.u64 %out, [k_out];\n st.global.u32 [%out], %i;"
    assert run(kernel(body), tmp_path, grid=2, block=64)[0] == 127


def test_unset_memory_and_registers_hold_a_pattern(tmp_path: Path) -> None:
    """Never zero, so that reading before writing shows."""
    body = """
 .shared .u32 word;
 ld.shared.u32 %r1, [word];
 add.u32 %r1, %r1, %r2;
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), 2 * 0xA5A5A5A5 & 0xFFFFFFFF)


def test_large_grids_run_in_waves(tmp_path: Path) -> None:
    """40,960 threads: more than execute together."""
    got = run(kernel(" st.global.u32 [%out], %i;"), tmp_path, grid=160, block=256)
    np.testing.assert_array_equal(got, np.arange(160 * 256))
