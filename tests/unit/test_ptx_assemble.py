"""ptxas takes everything that we emit, for every architecture that it knows. ptxas: the nvidia-cuda-nvcc wheel."""

from __future__ import annotations

import functools
import re
import subprocess

import llvmlite.binding as llvm
import pytest

from numba_gpucore.base import mailbox
from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.site import Frame, Hole, Site
from numba_gpucore.compile.intrinsics import INTRINSICS, site_symbol
from numba_ptxplus.architectures import ARCHITECTURES
from numba_ptxplus.codegen import CODEGEN, assemble
from numba_ptxplus.codegen.machine import data_layout
from numba_ptxplus.codegen.mailbox import MAILBOX_TYPE
from numba_ptxplus.driver.abi import DeviceCode
from tests.unit.ptx_modules import FLOAT32, INT32, compile_device_ir, make_job, vector

SITE = Site("builtins:IndexError", (Hole("int"),) * 3, Frame("f", "f.py", 1, 2), is_bounds_check=True)
VALUES = {
    "<2 x half>": "%h2",
    "i1": "true",
    "i8": "%b",
    "i16": "%i",
    "i32": "%v",
    "i64": "%w",
    "half": "%h",
    "float": "%f",
    "double": "%d",
    "ptr": "%out",
}
# libdevice alone would make the module large; its functions are assembled in test_ptx_libdevice_assembles
NEUTRAL = [name for name in INTRINSICS if not name.startswith("gpu.math.")]


@pytest.fixture(scope="module")
def ptxas():
    found = assemble.newest_ptxas()
    assert found, "pip install nvidia-cuda-nvcc: the tests need ptxas"
    return found


@functools.cache
def known_architectures(ptxas) -> set[str]:
    text = subprocess.run([ptxas, "--help"], capture_output=True, text=True, timeout=60).stdout
    return set(re.findall(r"'(sm_\w+)'", text))


def call_everything(names) -> str:
    lines = []
    for index, name in enumerate(names):
        intrinsic = INTRINSICS[name]
        types = (["ptr"] if intrinsic.takes_context else []) + list(intrinsic.params)
        operands = ", ".join(f"{t} {'%context' if i == 0 and t == 'ptr' else VALUES[t]}" for i, t in enumerate(types))
        if name == "gpu.throw":
            operands = operands.replace("i32 %v", "i32 %site", 1)
        if intrinsic.result == "void":
            lines.append(f" call void @{name}({operands})")
        else:
            lines.append(f" %r{index} = call {intrinsic.result} @{name}({operands})")
            lines.append(f" store volatile {intrinsic.result} %r{index}, ptr %out")
    return "\n".join(lines)


def everything_job(names, arch):
    return make_job((INT32, vector(FLOAT32)), names, arch=arch, sites=(SITE,))


def everything_module(names) -> str:
    return f"""
declare i32 @{site_symbol(SITE.content_id)}()
define void @kernel(ptr %context, i32 %v, ptr %out, i64 %w) {{
 %f = bitcast i32 %v to float
 %d = fpext float %f to double
 %h = fptrunc float %f to half
 %h2 = insertelement <2 x half> zeroinitializer, half %h, i32 1
 %b = trunc i32 %v to i8
 %i = trunc i32 %v to i16
 %site = call i32 @{site_symbol(SITE.content_id)}()
{call_everything(names)}
 ret void
}}"""


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_neutral_intrinsic_assembles_on_every_architecture(arch, ptxas):
    assert arch in known_architectures(ptxas), "the test needs a newer ptxas: pip install -U nvidia-cuda-nvcc"
    ptx = compile_device_ir(everything_module(NEUTRAL), everything_job(NEUTRAL, arch))
    assert "llvm." not in ptx and f".target {arch}" in ptx
    cubin, report = assemble.run_ptxas(ptxas, ptx, arch, KernelOptions())
    assert cubin.startswith(b"\x7fELF") and "registers" in report


@pytest.mark.parametrize("fastmath", [False, True])
def test_every_libdevice_function_assembles(fastmath, ptxas):
    names = [name for name in INTRINSICS if name.startswith("gpu.math.")]
    job = make_job((INT32, vector(FLOAT32)), names, sites=(SITE,), fastmath=fastmath)
    ptx = compile_device_ir(everything_module(names), job)
    assemble.run_ptxas(ptxas, ptx, "sm_90", KernelOptions(opt=0))


def test_refused_ptx_is_kept_and_named(ptxas):
    with pytest.raises(ToolchainError, match=r"ended with code \d+ on (\S+\.ptx):") as caught:
        assemble.run_ptxas(ptxas, ".version 7.0\n.target sm_75\n.address_size 64\nnonsense;", "sm_75", KernelOptions())
    path = re.search(r"on (\S+\.ptx):", str(caught.value))[1]
    with open(path) as kept:
        assert "nonsense" in kept.read()


def test_without_assembler_the_code_is_ptx(monkeypatch):
    monkeypatch.setattr(assemble, "newest_ptxas", lambda: None)
    monkeypatch.setattr(assemble, "import_nvjitlink", lambda: None)
    job = make_job((), ())
    ptx = compile_device_ir("define void @kernel(ptr %context) {\n ret void\n}", job)
    assert DeviceCode.unpack(CODEGEN.assemble(ptx, job)) == DeviceCode(ptx)


def test_the_newest_ptxas_is_taken(monkeypatch, tmp_path):
    tools = []
    for version in ("V12.8.93", "V13.0.88", "V9.2.148"):
        tool = tmp_path / version
        tool.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release, {version}'\n")
        tool.chmod(0o755)
        tools.append(tool)
    monkeypatch.setattr(assemble, "find_tools", lambda name: tuple(tools))
    assert assemble.newest_ptxas.__wrapped__() == tools[1]


def test_the_mailbox_is_laid_out_as_the_host_reads_it():
    """Offsets of LLVM's struct against those that base.mailbox's table states."""
    target_data = llvm.create_target_data(data_layout())
    module = llvm.parse_assembly(f"%mailbox = type {MAILBOX_TYPE}\n@box = global %mailbox zeroinitializer")
    type_ = module.get_global_variable("box").global_value_type
    offsets = [target_data.get_element_offset(type_, field) for field in range(8)]
    assert offsets == [0, 4, 8, 12, 16, 28, 40, 48]
    assert target_data.get_abi_size(type_) == mailbox.MAILBOX_NBYTES
