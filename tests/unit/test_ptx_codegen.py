"""The PTX code generator on hand-written device IR. What each instruction should be: PTX ISA."""

from __future__ import annotations

import re

import pytest
from tests.unit.ptx_modules import FLOAT32, INT32, compile_device_ir, make_job, parse_device_ir, vector

from numba_gpucore.base.argtypes import TupleType
from numba_gpucore.base.errors import UnsupportedKernelError
from numba_gpucore.base.params import lay_out_params
from numba_gpucore.compile.intrinsics import INTRINSICS
from numba_ptxplus.codegen import CODEGEN
from numba_ptxplus.codegen.definitions import define_intrinsics

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
    text = define_intrinsics(INTRINSICS, fastmath=False)
    assert set(re.findall(r"define [^@]*@([\w.]+)\(", text)) == set(INTRINSICS)


def test_accesses_through_arguments_are_global():
    ptx = saxpy()
    assert re.search(r"ld\.global\.b32", ptx) and re.search(r"st\.global\.b32", ptx)
    assert not re.search(r"\b(ld|st)\.b32", ptx)


def test_multiply_and_add_become_one_instruction():
    assert "fma.rn.f32" in saxpy()


def test_text_is_deterministic():
    assert saxpy() == saxpy()
