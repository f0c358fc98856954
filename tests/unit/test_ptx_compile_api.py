"""compile_ptx and its kin: PTX without a GPU. Kernels and device functions as a user writes them."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import numba_ptxplus as gpu
from numba_gpucore.base.errors import OptionError, ToolchainError
from numba_gpucore.base.options import KernelOptions
from numba_ptxplus.codegen import assemble, disassemble
from tests.ptx.machine import PtxMachine


def add(x, y):
    return x + y


def scale(x, factor):
    i = gpu.grid(1)
    if i < x.size:
        x[i] *= factor


@gpu.jit(device=True)
def half(x):
    return x / 2


def halves(x):
    x[gpu.threadIdx.x] = half(x[gpu.threadIdx.x])


def norms(x, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = math.sqrt(x[2 * i] / x[2 * i + 1])


SCALE = "void(float32[::1], float32)"


def assemble_text(ptx: str, arch: str = "sm_90", **options) -> None:
    ptxas = assemble.newest_ptxas()
    assert ptxas, "pip install nvidia-cuda-nvcc: the tests need ptxas"
    assemble.run_ptxas(ptxas, ptx, arch, KernelOptions(**options))


def test_a_kernel_becomes_an_entry():
    ptx, result = gpu.compile_ptx(scale, SCALE)
    assert re.search(r"\.visible \.entry kernel_scale\(\s+\.param \.u64 \.ptr \.global", ptx)
    assert ".target sm_90" in ptx and str(result) == "none"
    assemble_text(ptx)


@pytest.mark.parametrize("cc, target", [((7, 5), "sm_75"), ("12.0", "sm_120"), ("90a", "sm_90a")])
def test_any_architecture(cc, target):
    ptx, _result = gpu.compile_ptx(scale, SCALE, cc=cc)
    assert f".target {target}\n" in ptx


def test_the_text_depends_on_nothing_but_the_call():
    first, _ = gpu.compile_ptx(scale, SCALE)
    gpu.compile_ptx(norms, "void(float32[::1], float32[::1])")
    again, _ = gpu.compile_ptx(scale, SCALE)
    assert first == again


@gpu.jit(device=True)
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def factorials(x):
    x[gpu.threadIdx.x] = factorial(x[gpu.threadIdx.x])


@pytest.mark.parametrize("options", [{}, {"debug": True}])
def test_functions_that_stay_functions_have_stable_names(options):
    first, _ = gpu.compile_ptx(factorials, "void(int64[::1])", **options)
    gpu.compile_ptx(halves, "void(float32[::1])", **options)
    again, _ = gpu.compile_ptx(factorials, "void(int64[::1])", **options)
    assert first == again
    assert re.search(r"\.func .*factorial", first)
    assemble_text(first, **options)


def test_the_text_is_the_same_in_another_process(run_python, tmp_path):
    script = tmp_path / "scaling.py"
    script.write_text(
        "import numba_ptxplus as gpu\n"
        "def scale(x, factor):\n"
        "    i = gpu.grid(1)\n"
        "    x[i] = gpu.blockIdx.x if x[i] > factor else 1 / x[i - 3]\n"
        "print(gpu.compile_ptx(scale, 'void(float32[::1], float32)', debug=False)[0])\n"
    )
    assert run_python(script, PYTHONHASHSEED="1").stdout == run_python(script, PYTHONHASHSEED="2").stdout


def test_options_reach_the_text():
    ptx, _ = gpu.compile_ptx(
        norms, "void(float32[::1], float32[::1])", fastmath=True, launch_bounds=(128, 2), max_registers=40
    )
    for expected in ("div.approx.ftz.f32", "sqrt.approx.ftz.f32", ".maxntid 128", ".minnctapersm 2", ".maxnreg 40"):
        assert expected in ptx


@pytest.mark.parametrize(
    "options", [{"debug": True}, {"lineinfo": True}, {"opt": False}, {"debug": True, "opt": False}]
)
def test_text_for_debuggers_assembles(options):
    ptx, _ = gpu.compile_ptx(norms, "void(float32[::1], float32[::1])", **options)
    assert ("\t.loc\t" in ptx) == ("debug" in options or "lineinfo" in options)
    if "lineinfo" in options:
        line = norms.__code__.co_firstlineno + 3
        assert re.search(rf"\.loc\t\d+ {line} ", ptx)
    assemble_text(ptx, **{name: value for name, value in options.items() if name != "opt"})


def test_a_device_function_of_another_module_can_be_debugged():
    ptx, _ = gpu.compile_ptx(halves, "void(float32[::1])", debug=True, opt=False)
    assemble_text(ptx, debug=True)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_87"])
@pytest.mark.parametrize("options", [{"debug": True, "opt": False}, {"lineinfo": True}])
def test_lines_of_kernels_that_throw_and_print_on_older_architectures(arch, options):
    """DWARF needs a newer PTX than these architectures do."""

    def kernel(x):
        if x[0] < 0:
            print("negative", x[0])
            raise ValueError("negative", x[0])
        x[1] = half(x[2])

    ptx = gpu.jit(kernel, boundscheck=True, **options).inspect_asm("void(float32[::1])", cc=arch)
    assert "throw" in ptx
    assemble_text(ptx, arch, **{name: value for name, value in options.items() if name != "opt"})


def test_a_kernel_that_returns_a_value_is_refused():
    with pytest.raises(TypeError, match="must have void return type"):
        gpu.compile_ptx(add, "(int32, int32)")


def test_an_unknown_architecture_is_refused():
    with pytest.raises(OptionError, match="unknown compute capability"):
        gpu.compile_ptx(scale, SCALE, cc=(6, 1))


# -- device functions


def test_a_device_function_with_cs_convention():
    ptx, result = gpu.compile_ptx(add, "float32(float32, float32)", device=True, abi="c")
    declaration = re.search(r"\.visible \.func +\((.*?)\) add\((.*?)\)", ptx, re.DOTALL)
    assert declaration and ".b32 func_retval0" in declaration[1]
    assert declaration[2].count(".param .b32") == 2
    assert str(result) == "float32" and "add.f32" in ptx
    assemble_text(ptx)


def test_the_symbol_can_be_named():
    ptx, _ = gpu.compile_ptx(add, "int32(int32, int32)", device=True, abi="c", abi_info={"abi_name": "plus"})
    assert re.search(r"\.visible \.func .* plus\(", ptx)


def test_a_device_function_with_numbas_convention():
    """int32 status, then the address of the result, then the arguments."""
    ptx, _ = gpu.compile_ptx(add, "float64(float64, float64)", device=True)
    declaration = re.search(r"\.visible \.func +\(\.param \.b32 func_retval0\) _Z3adddd\((.*?)\)", ptx, re.DOTALL)
    assert declaration and declaration[1].count(".param .b64") == 3


def test_other_programs_launch_kernels_without_a_mailbox():
    """A parameter for each word of the arguments, and nothing that a loader would have to fill in."""

    def halve(x):
        if x[0] < 0:
            raise ValueError("negative", x[0])
        print("fine")
        x[0] /= 2

    ptx, _ = gpu.compile_ptx(halve, "void(float32[::1])", debug=True, opt=True)
    assert ptx.count(".param .u64") == 2
    assert "numba_gpu" not in ptx and "atom." not in ptx
    machine = PtxMachine(ptx)
    address = machine.memory.allocate(4)
    for before, after in ((-4, -4), (4, 2)):
        machine.memory.write(address, np.float32(before).tobytes())
        machine.launch("kernel_halve", 1, 1, (address, 1))
        assert np.frombuffer(machine.memory.read(address, 4), np.float32)[0] == after


def test_a_throw_in_exported_code_only_ends_it():
    def third(x):
        return x[3]

    ptx, _ = gpu.compile_ptx(third, "(float32[::1],)", device=True, abi="c", debug=True)
    assert "numba_gpu" not in ptx


def test_libdevice_is_linked_into_device_functions():
    ptx, _ = gpu.compile(lambda x: math.exp(x), "(float64,)", abi_info={"abi_name": "e"})
    assert "extern" not in ptx and "fma.rn.f64" in ptx
    assemble_text(ptx)


def test_compile_all_gives_a_list():
    codes, result = gpu.compile_all(add, "int32(int32, int32)")
    assert len(codes) == 1 and ".func" in codes[0] and str(result) == "int32"


def test_what_only_nvidia_can_make_is_refused():
    with pytest.raises(OptionError, match="LTO-IR"):
        gpu.compile(add, "int32(int32, int32)", output="ltoir")
    with pytest.raises(OptionError, match=r"Unsupported ABI: rust\. It must be"):
        gpu.compile(add, "int32(int32, int32)", abi="rust")


def test_compiling_opens_no_device(run_python, tmp_path):
    script = tmp_path / "offline.py"
    script.write_text(
        "import sys\nimport numba_ptxplus as gpu\n"
        "gpu.compile_ptx(lambda x: None, 'void(int32)')\n"
        "from numba_gpucore.launch.session import default_session\n"
        "assert not default_session()._devices\n"
        "assert 'cuda.bindings' not in sys.modules\n"
    )
    run_python(script)


# -- machine code as text


def test_a_kernel_shows_its_ptx_for_any_gpu():
    kernel = gpu.jit(scale)
    assert ".target sm_86" in kernel.inspect_asm(SCALE, cc=(8, 6))
    assert kernel.inspect_asm(SCALE, cc=(9, 0)) == gpu.compile_ptx(scale, SCALE)[0]


def test_a_kernel_shows_its_machine_code():
    assert re.search(r"\bFMUL\b.*;", gpu.jit(scale).inspect_sass(SCALE, cc=(9, 0)))


def test_machine_code_of_a_back_end_that_has_none(monkeypatch):
    monkeypatch.setenv("NUMBA_PTXPLUS_DEVICE", "cpu")
    with pytest.raises(ToolchainError, match=r"'cpu' shows no machine code; inspect_asm\(\)"):
        gpu.jit(scale).inspect_sass(SCALE)


def test_without_nvdisasm_the_error_names_the_wheel(monkeypatch):
    monkeypatch.setattr(disassemble, "find_tools", lambda name: ())
    with pytest.raises(ToolchainError, match="pip install nvidia-cuda-nvdisasm"):
        disassemble.disassemble_cubin(b"\x7fELF")
    with pytest.raises(ToolchainError, match="pip install nvidia-cuda-nvcc"):
        disassemble.disassemble_cubin(b"")


def test_types_of_the_package_are_signatures_too():
    ptx, result = gpu.compile_ptx(add, gpu.int16(gpu.int16, gpu.int16), device=True)
    assert str(result) == "int16" and ".func" in ptx
    ptx, _result = gpu.compile_ptx(increment, (gpu.float32[::1],))
    assert ".entry" in ptx


def increment(x):
    x[0] += 1


def test_numba_cudas_exceptions():
    """numba.cuda raises NotImplementedError for the first three and ValueError for the last."""
    with pytest.raises(NotImplementedError, match="C ABI is not supported for kernels"):
        gpu.compile_ptx(increment, "void(float32[::1])", abi="c")
    with pytest.raises(NotImplementedError, match="Unsupported ABI: fastcall"):
        gpu.compile(add, "int32(int32, int32)", abi="fastcall")
    with pytest.raises(NotImplementedError, match="Unsupported output type: illegal"):
        gpu.compile(add, "int32(int32, int32)", output="illegal")
    with pytest.raises(ValueError, match="Got 4 launch bounds:"):
        gpu.compile_ptx(increment, "void(float32[::1])", launch_bounds=(128, 2, 4, 8))


def test_names_that_c_cannot_have():
    ptx, _result = gpu.compile(lambda x: x, "int32(int32)")
    assert re.search(r"\.func.*\b_lambda_\(", ptx)
    with pytest.raises(OptionError, match="'a b' cannot be the name of a function in C"):
        gpu.compile(add, "int32(int32, int32)", abi_info={"abi_name": "a b"})


def test_fastmath_flushes_to_zero_in_exported_functions():
    ptx, _result = gpu.compile(lambda x, y: x * y + 1, "float32(float32, float32)", fastmath=True)
    assert ".ftz.f32" in ptx
    ptx, _result = gpu.compile(lambda x: math.tanh(x), "float32(float32)", fastmath=True)
    assert "tanh.approx.f32" in ptx
