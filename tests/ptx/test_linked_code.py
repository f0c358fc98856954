"""Functions of other compilers in kernels: PTX is merged and runs on the PTX machine; nvJitLink links machine code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numba_ptxplus as gpu
from numba_gpucore.base.errors import KernelLanguageError, OptionError, ToolchainError, UnsupportedKernelError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.driver import lower_kernel
from numba_gpucore.launch import session
from numba_gpucore.launch.eager import kernel_arg_types
from numba_gpucore.launch.jit import jit
from numba_gpucore.launch.linked_code import read_linked_code
from numba_ptxplus.codegen import CODEGEN, assemble, nvcc, nvjitlink
from numba_ptxplus.codegen.assemble import assemble_ptx, newest_ptxas, run_ptxas
from numba_ptxplus.compile_api import make_request
from numba_ptxplus.driver.abi import DeviceCode
from tests.ptx.device import PLATFORM, PtxDevice, use_device

#: `int times2(int x)` for an old GPU, and `int bar(int* result, int x)` as numba's ABI has it; both double x.
TIMES2 = """.version 6.0
.target sm_50
.address_size 64

.visible .func (.param .b32 func_retval0) times2(
	.param .b32 times2_param_0
)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [times2_param_0];
	shl.b32 %r2, %r1, 1;
	st.param.b32 [func_retval0+0], %r2;
	ret;
}
"""
BAR = """.version 4.0
.target sm_20
.address_size 64

.visible .func (.param .b32 func_retval0) bar(
	.param .b64 bar_param_0,
	.param .b32 bar_param_1
)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [bar_param_0];
	ld.param.u32 %r1, [bar_param_1];
	shl.b32 %r2, %r1, 1;
	st.u32 [%rd1], %r2;
	mov.u32 %r3, 0;
	st.param.b32 [func_retval0+0], %r3;
	ret;
}
"""
N = 32


@pytest.fixture
def ptx_machine(monkeypatch: pytest.MonkeyPatch) -> PtxDevice:
    device = PtxDevice()
    use_device(monkeypatch, device)
    return device


def write_file(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def test_c_function_from_a_file_named_with_its_declaration(ptx_machine: PtxDevice, tmp_path: Path) -> None:
    times2 = gpu.declare_device("times2", "int32(int32)", link=write_file(tmp_path, "times2.ptx", TIMES2), abi="c")

    def kernel(x, y):
        i = gpu.grid(1)
        y[i] = times2(x[i]) + times2(1)

    x, y = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    jit(PLATFORM, kernel)[1, N](x, y)
    np.testing.assert_array_equal(y, 2 * x + 2)


def test_function_of_numbas_convention_from_text_given_to_jit(ptx_machine: PtxDevice) -> None:
    bar = gpu.declare_device("bar", gpu.int32(gpu.int32))

    def kernel(x, y):
        i = gpu.grid(1)
        y[i] = bar(x[i])

    x, y = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    jit(PLATFORM, kernel, link=[gpu.PTXSource(BAR, "bar")])[1, N](x, y)
    np.testing.assert_array_equal(y, 2 * x)


def test_two_files_and_a_device_function_between(ptx_machine: PtxDevice) -> None:
    times2 = gpu.declare_device("times2", "int32(int32)", link=gpu.PTXSource(TIMES2), abi="c")
    bar = gpu.declare_device("bar", "int32(int32)", link=[gpu.PTXSource(BAR)])

    @gpu.jit(device=True)
    def times4(x):
        return times2(bar(x))

    def kernel(x, y):
        i = gpu.grid(1)
        y[i] = times4(x[i])

    x, y = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    jit(PLATFORM, kernel)[1, N](x, y)
    np.testing.assert_array_equal(y, 4 * x)


def test_other_content_is_another_program(
    ptx_machine: PtxDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Same kernel, name and types: only the linked text differs."""
    use_device(monkeypatch, ptx_machine, NUMBA_CACHE_DIR=str(tmp_path))

    def make_kernel(text: str) -> Any:
        function = gpu.declare_device("times2", "int32(int32)", link=gpu.PTXSource(text), abi="c")

        def kernel(x):
            x[0] = function(x[0])

        return jit(PLATFORM, kernel)

    x = np.ones(1, np.int32)
    make_kernel(TIMES2)[1, 1](x)
    make_kernel(TIMES2.replace("%r1, 1;", "%r1, 3;"))[1, 1](x)
    assert x[0] == 16


def call_times2(x):
    x[0] = TIMES2_DECLARED(x[0])


TIMES2_DECLARED = gpu.declare_device("times2", "int32(int32)", abi="c")


def compile_with(link: Any) -> tuple[str, bytes]:
    options = KernelOptions.from_keywords({"boundscheck": False, "link": read_linked_code(link)})
    request = make_request(call_times2, kernel_arg_types("void(int32[::1])"), (9, 0), options)
    lowered = lower_kernel(request)
    CODEGEN.legalize(lowered.module, lowered.job)
    ptx = CODEGEN.emit(lowered.module, lowered.job)
    return ptx, DeviceCode.unpack(CODEGEN.assemble(ptx, lowered.job)).cubin


def test_machine_code_is_linked_by_nvjitlink(tmp_path: Path) -> None:
    """An object made by ptxas -c; the linked program no longer asks for the function."""
    ptxas = newest_ptxas()
    assert ptxas is not None
    source, target = (
        write_file(tmp_path, "times2.ptx", TIMES2.replace("sm_50", "sm_90").replace("6.0", "7.8")),
        tmp_path / "times2.cubin",
    )
    assemble.subprocess.run([ptxas, "-c", "-arch=sm_90", "-o", target, source], check=True)
    ptx, cubin = compile_with(str(target))
    assert ".extern .func" in ptx and cubin.startswith(b"\x7fELF")
    with pytest.raises(ToolchainError, match=r"nvJitLink refused the program: .*\n.*times2"):
        compile_with(write_file(tmp_path, "empty.cubin", run_ptxas(ptxas, EMPTY, "sm_90", KernelOptions())[0]))


EMPTY = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n"


def test_nvjitlink_assembles_where_ptxas_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "newest_ptxas", lambda: None)
    assert assemble_ptx(EMPTY, "sm_90", KernelOptions()).startswith(b"\x7fELF")
    with pytest.raises(ToolchainError, match="nvJitLink refused the program"):
        assemble_ptx("junk", "sm_90", KernelOptions())
    monkeypatch.setattr(nvjitlink, "find_nvjitlink", lambda: None)
    assert assemble_ptx(EMPTY, "sm_90", KernelOptions()) == b""
    with pytest.raises(ToolchainError, match=r"linking a\.cubin needs nvJitLink: pip install nvidia-nvjitlink"):
        compile_with(gpu.Cubin(b"\x7fELF", "a.cubin"))


def test_cuda_source_is_compiled_by_nvcc(
    ptx_machine: PtxDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A stand-in for nvcc, which would need a C++ compiler: it writes down its arguments and gives TIMES2."""
    tool = tmp_path / "nvcc"
    tool.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/seen\ncat > "$5" <<\'END\'\n{TIMES2}END\n')
    tool.chmod(0o755)
    monkeypatch.setattr(nvcc, "find_tools", lambda name: (tool,))
    times2 = gpu.declare_device("times2", "int32(int32)", link=gpu.CUSource("// CUDA C++", "times2.cu"), abi="c")

    def kernel(x):
        x[0] = times2(x[0])

    x = np.full(1, 21, np.int32)
    jit(PLATFORM, kernel)[1, 1](x)
    assert x[0] == 42 and (tmp_path / "seen").read_text().startswith("-ptx -rdc=true -arch=sm_90 -o ")
    tool.write_text("#!/bin/sh\necho 'linked.cu(1): error: no'; exit 2\n")
    with pytest.raises(ToolchainError, match=r"nvcc ended with code 2 on times2\.cu:\nlinked\.cu\(1\): error: no"):
        compile_with(gpu.CUSource("junk", "times2.cu"))
    monkeypatch.setattr(nvcc, "find_tools", lambda name: ())
    with pytest.raises(ToolchainError, match=r"linking times2\.cu needs .* nvcc: pip install nvidia-cuda-nvcc"):
        compile_with(gpu.CUSource("junk", "times2.cu"))


def test_other_devices_refuse_foreign_functions_at_their_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_default", None)
    monkeypatch.setenv("NUMBA_PTXPLUS_DEVICE", "cpu")
    line = call_times2.__code__.co_firstlineno + 1
    with pytest.raises(UnsupportedKernelError, match=rf"test_linked_code\.py:{line}: 'times2' is code for NVIDIA GPUs"):
        gpu.jit(call_times2, link=gpu.PTXSource(TIMES2))[1, 1](np.ones(1, np.int32))


def test_what_cannot_be_declared_or_linked() -> None:
    with pytest.raises(TypeError, match="Return type must be provided"):
        gpu.declare_device("f", "(float32[:],)")
    with pytest.raises(OptionError, match="is declared by its name, not by 3"):
        gpu.declare_device(3, "int32(int32)")
    with pytest.raises(NotImplementedError, match="Unsupported ABI: fastcall"):
        gpu.declare_device("f", "void()", abi="fastcall")
    with pytest.raises(OptionError, match="code to link is told by its suffix"):
        gpu.jit(call_times2, link="times2.txt")
    with pytest.raises(KernelLanguageError, match="foreign function 'times2' can be called from kernels only"):
        TIMES2_DECLARED(1)
