"""debug=True on the CPU device: DWARF that names the user's Python lines, in every form that programs take."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import numba_metal as gpu
import numba_ptxplus

N = 64


def elementwise(x, out):
    i = gpu.grid(1)
    if i < x.size:
        value = x[i] * 2
        out[i] = value


def with_barriers(x, out):
    shared = gpu.shared.array(64, np.float32)
    i = gpu.threadIdx.x
    shared[i] = x[i] * 2
    gpu.syncthreads()
    out[63 - i] = shared[63 - i]


def with_warps(x, out):
    i = gpu.grid(1)
    if gpu.any_sync(0xFFFFFFFF, x[i] >= 0):
        out[i] = x[i] * 2


def with_atomics(x, out):
    i = gpu.grid(1)
    gpu.atomic.add(out, i, x[i] * 2)


def strided(x, out):
    for i in range(gpu.grid(1), x.size, gpu.gridsize(1)):
        out[i] = x[i] * 2


@gpu.jit(device=True)
def twice(value):
    double = value + value
    return double  # noqa: RET504 - a local variable to look at


def calls(x, out):
    i = gpu.grid(1)
    out[i] = twice(x[i])


def calls_in_try(x, out):
    i = gpu.grid(1)
    try:
        out[i] = twice(x[i])
    except Exception:
        out[i] = -1


@numba_ptxplus.jit(device=True)
def sum_of_ones(n):
    if n == 0:
        return 0
    return sum_of_ones(n - 1) + 1


def recurs(x, out):
    i = numba_ptxplus.grid(1)
    out[i] = x[i] * sum_of_ones(2)


KERNELS = [elementwise, with_barriers, with_warps, with_atomics, strided, calls, calls_in_try, recurs]


@pytest.mark.parametrize("options", [{"debug": True, "opt": False}, {"debug": True}, {"lineinfo": True}], ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])
@pytest.mark.filterwarnings("ignore:debug=True with optimisation")  # of CUDA's debugger
def test_the_object_names_the_kernels_lines(kernel, options, capfd):
    compiled = (numba_ptxplus if kernel is recurs else gpu).jit(kernel, **options)  # Metal has no recursion
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    compiled[1, N](x, out)
    np.testing.assert_array_equal(out, x * 2)
    ((types, text),) = compiled.inspect_asm().items()
    code = compiled.overloads[types].artifact.code
    assert b".debug_line" in code and Path(__file__).name.encode() in code
    # LLVM drops all debug information of a module, and says so on stderr only, if it is not valid.
    assert capfd.readouterr().err == ""
    module = llvm.parse_assembly(text)
    module.verify()
    assert "DISubprogram" in str(module)
    assert "DebugDirectivesOnly" not in text


def test_no_debug_information_unless_asked_for():
    compiled = gpu.jit(elementwise)
    compiled[1, N](np.zeros(N, np.float32), np.zeros(N, np.float32))
    ((types, text),) = compiled.inspect_asm().items()
    assert "!dbg" not in text and b".debug_line" not in compiled.overloads[types].artifact.code


#: Kernel → the line at which gdb stops, and what it then shows of the local variables.
STOPS = {
    elementwise: ("out[i] = value", "value = 0"),
    with_barriers: ("out[63 - i]", "i = 0"),
    calls: ("return double", "double = 0"),
}
PROGRAM = """
import sys
sys.path[:0] = {paths!r}
import numpy as np
from {module} import STOPS, gpu
x = np.arange(64, dtype=np.float32)
for kernel in STOPS:
    gpu.jit(kernel, debug=True, opt=False)[1, 64](x, x.copy())
"""


def line_of(kernel) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(n for n, content in enumerate(lines, 1) if STOPS[kernel][0] in content and n > 20)


@pytest.fixture(scope="module")
def told_by_gdb(tmp_path_factory) -> dict:
    """What gdb prints for each kernel of STOPS at its first stop there, in one run of a program that launches all."""
    file = Path(__file__)
    script = tmp_path_factory.mktemp("gdb") / "program.py"
    script.write_text(PROGRAM.format(paths=[str(file.parents[2]), str(file.parent)], module=file.stem), "utf-8")
    commands = ["set breakpoint pending on", *(f"tbreak {file.name}:{line_of(kernel)}" for kernel in STOPS), "run"]
    commands += ["info locals", "backtrace 1", "echo next\\n", "continue"] * (len(STOPS) - 1)
    commands += ["info locals", "backtrace 1", "kill"]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    gdb = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off"]
    result = subprocess.run(
        [*gdb, *arguments, "--args", sys.executable, str(script)],
        capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    parts = result.stdout.split("next\n")
    assert len(parts) == len(STOPS), result.stdout + result.stderr
    return dict(zip(STOPS, parts, strict=True))


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
@pytest.mark.parametrize("kernel", STOPS, ids=[kernel.__name__ for kernel in STOPS])
def test_gdb_stops_at_python_lines(kernel, told_by_gdb):
    """A breakpoint by file and line is hit in the running kernel, and local variables have their values."""
    told = told_by_gdb[kernel]
    assert f"{Path(__file__).name}:{line_of(kernel)}" in told.partition("hit Temporary breakpoint")[2], told
    assert STOPS[kernel][1] in told, told
