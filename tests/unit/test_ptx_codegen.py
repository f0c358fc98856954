"""The PTX code generator on hand-written device IR. What each instruction should be: PTX ISA."""

from __future__ import annotations

import re

import pytest

from numba_gpucore.base.argtypes import TupleType
from numba_gpucore.base.errors import UnsupportedKernelError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.intrinsics import INTRINSICS
from numba_ptxplus.codegen import CODEGEN
from numba_ptxplus.codegen.definitions import define_intrinsics
from numba_ptxplus.codegen.entry import drop_mailbox_param
from tests.unit.ptx_modules import FLOAT16, FLOAT32, INT32, compile_device_ir, make_job, parse_device_ir, vector

SAXPY = """
define void @kernel(ptr %context, float %a, ptr %x, i64 %nx, ptr %y, i64 %ny) {
 %i = call i64 @gpu.global_id.x(ptr %context)
 %inside = icmp slt i64 %i, %ny
 br i1 %inside, label %work, label %done
work:
 %px = getelementptr float, ptr %x, i64 %i
 %vx = load float, ptr %px, align 4
 %py = getelementptr float, ptr %y, i64 %i
 %vy = load float, ptr %py, align 4
 %m = fmul float %a, %vx
 %s = fadd float %m, %vy
 store float %s, ptr %py, align 4
 br label %done
done:
 ret void
}"""
SAXPY_TYPES = (FLOAT32, vector(FLOAT32), vector(FLOAT32))
ONE_CALL = """
define void @kernel(ptr %context, i32 %v, ptr %out, i64 %n) {{
 {call}
 store {type} %r, ptr %out
 ret void
}}"""


def saxpy(**options) -> str:
    return compile_device_ir(SAXPY, make_job(SAXPY_TYPES, ["gpu.global_id.x"], **options))


def one_call(call: str, intrinsic: str, type_: str = "i32", **options) -> str:
    job = make_job((INT32, vector(INT32)), [intrinsic], **options)
    return compile_device_ir(ONE_CALL.format(call=call, type=type_), job)


def test_every_neutral_intrinsic_is_defined():
    """One that lacks a definition would stay an unresolved call in somebody's kernel."""
    text = define_intrinsics(INTRINSICS, KernelOptions())
    assert set(re.findall(r"define [^@]*@([\w.]+)\(", text)) == set(INTRINSICS)


def test_accesses_through_arguments_are_global():
    ptx = saxpy()
    assert re.search(r"ld\.global\.b32", ptx) and re.search(r"st\.global\.b32", ptx)
    assert not re.search(r"\b(ld|st)\.b32", ptx)


def test_multiply_and_add_become_one_instruction():
    assert "fma.rn.f32" in saxpy()


def test_text_is_deterministic():
    assert saxpy() == saxpy()


# -- what each neutral intrinsic becomes

#: Arguments after the context, and the instruction. Lanes, masks and clamps: PTX ISA, "shfl.sync".
INSTRUCTIONS = {
    "gpu.barrier.count": ("i32 %v", r"red\.popc\.u32 .*, 0, %p"),
    "gpu.barrier.and": ("i32 %v", r"red\.and\.pred .*, 0, %p"),
    "gpu.barrier.or": ("i32 %v", r"red\.or\.pred .*, 0, %p"),
    "gpu.shuffle.idx.i32": ("i32 -1, i32 %v, i32 3", r"shfl\.sync\.idx\.b32 .*, 3, 31, -1;"),
    "gpu.shuffle.up.i32": ("i32 -1, i32 %v, i32 1", r"shfl\.sync\.up\.b32 .*, 1, 0, -1;"),
    "gpu.shuffle.down.i32": ("i32 -1, i32 %v, i32 1", r"shfl\.sync\.down\.b32 .*, 1, 31, -1;"),
    "gpu.shuffle.xor.i32": ("i32 -1, i32 %v, i32 1", r"shfl\.sync\.bfly\.b32 .*, 1, 31, -1;"),
    "gpu.vote.all": ("i32 -1, i32 %v", r"vote\.sync\.all\.pred"),
    "gpu.vote.any": ("i32 -1, i32 %v", r"vote\.sync\.any\.pred"),
    "gpu.vote.eq": ("i32 -1, i32 %v", r"vote\.sync\.uni\.pred"),
    "gpu.vote.ballot": ("i32 -1, i32 %v", r"vote\.sync\.ballot\.b32"),
    "gpu.match.any.i32": ("i32 -1, i32 %v", r"match\.any\.sync\.b32"),
    "gpu.match.all.i32": ("i32 -1, i32 %v", r"match\.all\.sync\.b32"),
    "gpu.active_mask": ("", r"activemask\.b32"),
    "gpu.lane_id": ("", r"%laneid"),
    "gpu.thread_id.z": ("", r"%tid\.z"),
    "gpu.block_dim.y": ("", r"%ntid\.y"),
    "gpu.grid_dim.x": ("", r"%nctaid\.x"),
}


@pytest.mark.parametrize("intrinsic", INSTRUCTIONS)
def test_intrinsic_becomes_its_instruction(intrinsic):
    arguments, pattern = INSTRUCTIONS[intrinsic]
    operands = ", ".join(filter(None, ["ptr %context", arguments]))
    ptx = one_call(f"%r = call i32 @{intrinsic}({operands})", intrinsic)
    assert re.search(pattern, ptx), ptx


def test_64_bit_shuffle_is_two_of_32_bits():
    call = """%w = zext i32 %v to i64
 %r = call i64 @gpu.shuffle.xor.i64(ptr %context, i32 -1, i64 %w, i32 1)"""
    assert one_call(call, "gpu.shuffle.xor.i64", "i64").count("shfl.sync.bfly.b32") == 2


def test_barrier_and_fences():
    calls = """call void @gpu.barrier(ptr %context)
 call void @gpu.warp_barrier(ptr %context, i32 15)
 call void @gpu.fence.block(ptr %context)
 call void @gpu.fence.device(ptr %context)
 call void @gpu.fence.system(ptr %context)
 call void @gpu.nanosleep(ptr %context, i32 100)
 %r = add i32 %v, 1"""
    names = ["gpu.barrier", "gpu.warp_barrier", "gpu.fence.block", "gpu.fence.device", "gpu.fence.system"]
    job = make_job((INT32, vector(INT32)), [*names, "gpu.nanosleep"])
    ptx = compile_device_ir(ONE_CALL.format(call=calls, type="i32"), job)
    lines = [re.sub(r"\s+", " ", line).strip(" ;") for line in ptx.splitlines()]
    expected = ["bar.sync 0", "bar.warp.sync 15", "membar.cta", "membar.gl", "membar.sys", "nanosleep.u32 100"]
    assert [line for line in lines if line in expected] == expected


# -- shared memory


SHARED = """
define void @kernel(ptr %context, i32 %v, ptr %out, i64 %n) {
 %s = call ptr @"gpu.shared.4096.4.tile"(ptr %context)
 %t = call i32 @gpu.thread_id.x(ptr %context)
 %p = getelementptr i32, ptr %s, i32 %t
 store i32 %v, ptr %p
 call void @gpu.barrier(ptr %context)
 %r = load i32, ptr %s
 store i32 %r, ptr %out
 ret void
}"""
SHARED_INTRINSICS = ("gpu.thread_id.x", "gpu.barrier")


def test_shared_arrays_are_variables_of_the_block():
    job = make_job((INT32, vector(INT32)), SHARED_INTRINSICS, shared=["gpu.shared.4096.4.tile"])
    ptx = compile_device_ir(SHARED, job)
    assert re.search(r"\.shared \.align 16 \.b8 \S+\[4096\]", ptx)
    assert "st.shared" in ptx and "ld.shared" in ptx


def test_dynamic_shared_memory_is_sized_by_the_launch():
    body = """
define void @kernel(ptr %context, i32 %v, ptr %out, i64 %n) {
 %s = call ptr @gpu.dynamic_shared(ptr %context)
 store volatile i32 %v, ptr %s
 %b = call i64 @gpu.dynamic_shared_nbytes(ptr %context)
 store i64 %b, ptr %out
 ret void
}"""
    job = make_job((INT32, vector(INT32)), ["gpu.dynamic_shared", "gpu.dynamic_shared_nbytes"])
    ptx = compile_device_ir(body, job)
    assert re.search(r"\.extern \.shared \.align 16 \.b8 \w+\[\]", ptx)
    assert "%dynamic_smem_size" in ptx


# -- parameters


def test_each_slot_is_a_parameter_at_the_layouts_offset():
    """The launch buffer is the parameter buffer: PTX aligns each parameter to its size, as base.params does."""
    job = make_job((FLOAT16, vector(FLOAT32), INT32), ())
    body = "define void @kernel(ptr %c, half %h, ptr %p, i64 %n, i32 %i) {\n ret void\n}"
    sizes = {"u64": 8, "u32": 4, "align 2": 2}
    declared = re.findall(r"\.param \.(u64|u32|align 2)", compile_device_ir(body, job))
    assert [sizes[kind] for kind in declared] == [slot.nbytes for slot in job.slots]


def test_mailbox_parameter_that_is_not_where_it_was_is_an_error():
    """The driver passes none to a kernel that reports nothing."""
    job = make_job((INT32,), [])
    text = "define ptx_kernel void @kernel(i32 %p0, ptr addrspace(1) readnone captures(none) %p1) {"
    assert drop_mailbox_param(text, job) == "define ptx_kernel void @kernel(i32 %p0) {"
    with pytest.raises(RuntimeError, match="the parameter %p1 of kernel is not where"):
        drop_mailbox_param(text.replace("addrspace(1)", ""), job)


def test_more_parameters_than_4_kib_take_ptx_8_1():
    job = make_job([TupleType((INT32,) * 1025)], ())
    params = ", ".join(f"i32 %p{i}" for i in range(1025))
    ptx = compile_device_ir(f"define void @kernel(ptr %c, {params}) {{\n ret void\n}}", job)
    assert ".version 8.1" in ptx


def test_too_many_parameters_list_each_argument():
    job = make_job([vector(FLOAT32), TupleType((INT32,) * 8200)], ())
    expected = (
        r"take 32816 bytes, a launch passes at most 32764: argument 1 \(Tuple.*: 32800 bytes; "
        r"argument 0 \(array\(float32, 1d, C\)\): 16 bytes"
    )
    with pytest.raises(UnsupportedKernelError, match=expected):
        CODEGEN.legalize(parse_device_ir("define void @kernel(ptr %c) {\n ret void\n}", job), job)


def test_read_only_arrays_are_read_through_the_texture_path():
    job = make_job((FLOAT32, vector(FLOAT32, readonly=True), vector(FLOAT32)), ["gpu.global_id.x"])
    ptx = compile_device_ir(SAXPY, job)
    assert ptx.count("ld.global.nc.b32") == 1


# -- options


def test_launch_bounds_and_register_limit_are_directives():
    ptx = saxpy(launch_bounds=(256, 2), max_registers=32)
    assert ".maxntid 256" in ptx and ".minnctapersm 2" in ptx and ".maxnreg 32" in ptx


DIVISION = """
define void @kernel(ptr %context, float %a, ptr %x, i64 %nx) {
 %v = load float, ptr %x
 %d = fdiv float %v, %a
 %s = call float @llvm.sqrt.f32(float %d)
 %m = fmul float %s, %a
 store float %m, ptr %x
 ret void
}
declare float @llvm.sqrt.f32(float)"""


def test_division_and_square_root_are_exact():
    ptx = compile_device_ir(DIVISION, make_job((FLOAT32, vector(FLOAT32)), ()))
    assert "div.rn.f32" in ptx and "sqrt.rn.f32" in ptx and ".ftz" not in ptx


def test_fastmath_approximates_and_flushes_to_zero():
    ptx = compile_device_ir(DIVISION, make_job((FLOAT32, vector(FLOAT32)), (), fastmath=True))
    assert "div.approx.ftz.f32" in ptx and "sqrt.approx.ftz.f32" in ptx and "mul.ftz.f32" in ptx
