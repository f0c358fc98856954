"""libdevice, function by function. The file comes from the nvidia-nvvm wheel of the test extra."""

from __future__ import annotations

import errno
import math
import os

import llvmlite.binding as llvm
import numpy as np
import pytest

from numba_gpucore.base.errors import UnsupportedKernelError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.intrinsics import INTRINSICS
from numba_ptxplus import compile_ptx, libdevice, toolchain
from numba_ptxplus.codegen import CODEGEN, legalize
from numba_ptxplus.codegen.definitions import define_intrinsics
from numba_ptxplus.codegen.libdevice import ReflectAnswers, open_libdevice
from tests.unit.ptx_modules import FLOAT16, FLOAT32, FLOAT64, compile_device_ir, make_job, parse_device_ir, vector

EXACT = ReflectAnswers(flushes_to_zero=False, has_exact_sqrt=True, arch=900)
FAST = ReflectAnswers(flushes_to_zero=True, has_exact_sqrt=False, arch=900)
TYPES = {"half": FLOAT16, "float": FLOAT32, "double": FLOAT64}


@pytest.fixture(scope="module")
def library():
    path = toolchain.find_libdevice()
    assert path, "pip install nvidia-nvvm: the tests need libdevice"
    return open_libdevice(path)


def call_module(name: str) -> tuple[str, str]:
    """A kernel that calls one math intrinsic on the first item of an array."""
    type_ = INTRINSICS[name].result
    operands = ", ".join([f"{type_} %v"] * len(INTRINSICS[name].params))
    return (
        type_,
        f"""
define void @kernel(ptr %context, ptr %x, i64 %n) {{
 %v = load {type_}, ptr %x
 %r = call {type_} @{name}({operands})
 store {type_} %r, ptr %x
 ret void
}}""",
    )


def compile_call(name: str, **options) -> str:
    type_, body = call_module(name)
    return compile_device_ir(body, make_job([vector(TYPES[type_])], [name], **options))


def test_every_function_can_be_taken_out(library):
    """All of them at once is a module that LLVM finds valid: nothing that one uses is left behind."""
    module = llvm.parse_assembly(library.extract(library.names, EXACT))
    module.verify()
    left = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    assert not left
    assert len(library.names) > 300


def test_only_what_is_needed_is_taken_out(library):
    module = llvm.parse_assembly(library.extract(["__nv_expf"], EXACT))
    assert [f.name for f in module.functions if not f.is_declaration] == ["__nv_expf"]


def test_every_question_is_answered(library):
    assert "__nvvm_reflect" not in library.extract(library.names, FAST)


@pytest.mark.parametrize("answers, flushes", [(EXACT, False), (FAST, True)])
def test_flush_to_zero_follows_fastmath(answers, flushes, library):
    module = llvm.parse_assembly(library.extract(["__nv_fmul_rn"], answers))
    legalize.optimise(module, make_job([], ()))
    assert (".ftz." in str(module.get_function("__nv_fmul_rn"))) is flushes


@pytest.mark.parametrize("fastmath", [False, True])
def test_every_math_intrinsic_has_its_function(library, fastmath):
    module = llvm.parse_assembly(
        define_intrinsics([n for n in INTRINSICS if n.startswith("gpu.math.")], KernelOptions(fastmath=fastmath))
    )
    needed = {f.name for f in module.functions if f.name.startswith("__nv_")}
    assert needed <= library.names


def test_half_goes_through_float():
    ptx = compile_call("gpu.math.exp.f16")
    assert "cvt.f32.f16" in ptx and "cvt.rn.f16.f32" in ptx


def test_nextafter_of_half_is_not_that_of_float():
    """The next float after a half rounds back to the same half."""
    assert "f32" not in compile_call("gpu.math.nextafter.f16")


def test_fastmath_takes_the_approximate_instruction():
    ptx = compile_call("gpu.math.sin.f32", fastmath=True)
    assert "sin.approx.ftz.f32" in ptx
    assert "sin.approx" not in compile_call("gpu.math.sin.f32")


def test_without_libdevice_the_error_names_the_wheel(monkeypatch):
    monkeypatch.setattr(legalize, "find_libdevice", lambda: None)
    _type, body = call_module("gpu.math.exp.f64")
    job = make_job([vector(FLOAT64)], ["gpu.math.exp.f64"])
    with pytest.raises(UnsupportedKernelError, match=r"ptx_modules\.py:\d+: __nv_exp: .*pip install nvidia-nvvm"):
        CODEGEN.legalize(parse_device_ir(body, job), job)


def test_libdevice_of_cuda_home_comes_first(monkeypatch, tmp_path):
    path = tmp_path / "nvvm" / "libdevice" / "libdevice.10.bc"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"BC")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert toolchain.find_libdevice() == path


def needs_libdevice(x):
    x[0] = math.sin(x[0])
    x[1] = np.cos(x[1])
    x[2] = libdevice.j0(x[2])


def test_without_libdevice_every_line_that_needs_it_is_named(monkeypatch):
    monkeypatch.setattr(legalize, "find_libdevice", lambda: None)
    with pytest.raises(UnsupportedKernelError) as refusal:
        compile_ptx(needs_libdevice, "void(float64[::1])")
    first = needs_libdevice.__code__.co_firstlineno
    found = [(fault.line - first, fault.what.split(":")[0]) for fault in refusal.value.faults]
    assert found == [(1, "__nv_sin"), (2, "__nv_cos"), (3, "__nv_j0")]


def test_tools_in_folders_that_are_closed_to_the_user_are_not_there(monkeypatch, tmp_path):
    """As where a module of a shared machine sets CUDA_HOME for others; each launch asks for the tools' names."""
    closed = str(tmp_path / "cuda")
    monkeypatch.setenv("CUDA_HOME", closed)

    def refuse(call):  # nothing is closed to root, as whom containers run tests
        def asked(path=".", *arguments, **keywords):
            if str(path).startswith(closed):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            return call(path, *arguments, **keywords)

        return asked

    for name in ("stat", "scandir", "listdir"):
        monkeypatch.setattr(os, name, refuse(getattr(os, name)))
    assert not any(str(path).startswith(closed) for path in toolchain.find_tools("ptxas"))
    toolchain.toolchain_id()
