"""The CPU's code generation: records, numbers, determinism, objects that cannot be loaded."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest
import scipy.special

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.compile.intrinsics import INTRINSICS, MATH_BINARY, MATH_UNARY
from numba_gpucore.cpu import launch_record
from numba_gpucore.cpu.definitions import read_records
from numba_gpucore.cpu.frame_size import frame_size
from numba_gpucore.cpu.machine import make_target_machine
from numba_gpucore.cpu.object_symbols import undefined_symbols
from numba_gpucore.cpu.resume_together import resume_together
from tests.unit.cpu_programs import array, compile_ir, device, launch, load_ir
from tests.unit.test_cpu_coroutines import SCAN
from tests.unit.test_cpu_flat import SAXPY, SAXPY_TYPES

SIZES = {
    "%gpu.launch": launch_record.LAUNCH_NBYTES,
    "%gpu.block": launch_record.BLOCK_NBYTES,
    "%gpu.thread": launch_record.THREAD_NBYTES,
    "%gpu.warp": launch_record.WARP_NBYTES,
}


@pytest.mark.parametrize("record", SIZES)
def test_python_knows_the_size_of_each_record(record: str) -> None:
    machine = make_target_machine(device().arch, 0)
    module = llvm.parse_assembly(f"@x = global {read_records()[record]} zeroinitializer")
    variable = module.get_global_variable("x")
    assert machine.target_data.get_abi_size(variable.global_value_type) == SIZES[record]


HALF = array("float16")
CONVERT = """
  %i = call i64 @gpu.global_id.x(ptr %c)
  %half.at = getelementptr half, ptr %p0, i64 %i
  %float.at = getelementptr float, ptr %p2, i64 %i
  %double.at = getelementptr double, ptr %p4, i64 %i
  %twice.at = getelementptr half, ptr %p6, i64 %i
  %d = load double, ptr %double.at
  %h = fptrunc double %d to half
  %f = fpext half %h to float
  %narrow = fptrunc double %d to float
  %h2 = fptrunc float %narrow to half
  store half %h, ptr %half.at
  store half %h2, ptr %twice.at
  store float %f, ptr %float.at
  ret void
"""


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v2", "x86-64-v3", "host"])
def test_halves_are_rounded_like_numpys(level: str) -> None:
    """Every half, every tie between two of them and its neighbours, and random doubles. Levels below x86-64-v3 have no
    instruction for it."""
    if level != "host" and not device().arch.startswith("x86-64-v3") and not device().arch.startswith("x86-64-v4"):
        pytest.skip("this processor is no x86-64-v3")
    arch = device().arch if level == "host" else f"{level}-{sys.platform}"
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    finite = np.sort(halves[np.isfinite(halves)].astype(np.float64))
    ties = (finite[:-1] + finite[1:]) / 2
    rng = np.random.default_rng(1)
    near = [np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)]
    wild = rng.integers(0, 2**63, 2**16).view(np.float64)
    extremes = np.array([65519.99, 65520.0, 1e300, 5e-324, -0.0, np.inf, -np.inf])
    x = np.concatenate([halves.astype(np.float64), ties, *near, wild, extremes])
    x = np.resize(x, -(-x.size // 256) * 256)
    half, twice, single = np.zeros(x.size, np.float16), np.zeros(x.size, np.float16), np.zeros(x.size, np.float32)
    program = load_ir(CONVERT, (HALF, array("float32"), array("float64"), HALF), arch=arch)
    launch(program, x.size // 256, 256, half, single, x, twice)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        np.testing.assert_array_equal(half, x.astype(np.float16))
        np.testing.assert_array_equal(np.signbit(half[~np.isnan(x)]), np.signbit(x[~np.isnan(x)]))
        np.testing.assert_array_equal(twice, x.astype(np.float32).astype(np.float16))
        np.testing.assert_array_equal(single, x.astype(np.float16).astype(np.float32))


REFERENCE = {"cbrt": np.cbrt, "erf": scipy.special.erf, "erfc": scipy.special.erfc, "lgamma": scipy.special.gammaln,
             "tgamma": scipy.special.gamma, "remainder": None}  # fmt: skip
NUMPY_NAMES = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
               "atanh": "arctanh", "atan2": "arctan2", "pow": "power"}  # fmt: skip
#: Largest error in units of the last place that glibc documents for its functions is 10 (tgamma); ours go through it.
RTOL = {"f16": 2e-3, "f32": 2e-6, "f64": 2e-14}
NUMPY_TYPE = {"f16": "float16", "f32": "float32", "f64": "float64"}


@pytest.mark.parametrize("width", NUMPY_TYPE)
@pytest.mark.parametrize("function", [*MATH_UNARY, *MATH_BINARY])
def test_function_of_reals(function: str, width: str) -> None:
    name = f"gpu.math.{function}.{width}"
    type_ = INTRINSICS[name].result
    arity = len(INTRINSICS[name].params)
    loads = "".join(
        f"  %at{k} = getelementptr {type_}, ptr %p{2 * k}, i64 %i\n  %x{k} = load {type_}, ptr %at{k}\n"
        for k in range(arity)
    )
    arguments = ", ".join(f"{type_} %x{k}" for k in range(arity))
    body = f"""
  %i = call i64 @gpu.global_id.x(ptr %c)
{loads}
  %y = call {type_} @{name}({arguments})
  %out.at = getelementptr {type_}, ptr %p{2 * arity}, i64 %i
  store {type_} %y, ptr %out.at
  ret void
"""
    dtype = np.dtype(NUMPY_TYPE[width])
    low, high = (
        (1.1, 3.0) if function == "acosh" else (-0.9, 0.9) if function in ("acos", "asin", "atanh") else (0.2, 3)
    )
    inputs = [np.linspace(low, high, 64).astype(dtype), np.linspace(2.5, 0.3, 64).astype(dtype)][:arity]
    out = np.zeros(64, dtype)
    launch(load_ir(body, (array(dtype.name),) * (arity + 1)), 2, 32, *inputs, out)
    wide = [x.astype(np.float64) for x in inputs]
    if function == "nextafter":
        np.testing.assert_array_equal(out, np.nextafter(*inputs))
    elif function == "remainder":  # C99 7.12.10.2: x - n y, n the integer nearest to x / y
        np.testing.assert_allclose(out, wide[0] - np.rint(wide[0] / wide[1]) * wide[1], rtol=RTOL[width], atol=1e-6)
    else:
        reference = REFERENCE.get(function) or getattr(np, NUMPY_NAMES.get(function, function))
        np.testing.assert_allclose(out, reference(*wide), rtol=RTOL[width], atol=RTOL[width] / 4)


def test_gamma_functions_at_their_poles() -> None:
    """C99, F.9.5.3 and F.9.5.4."""
    body = """
      %i = call i64 @gpu.global_id.x(ptr %c)
      %x.at = getelementptr double, ptr %p0, i64 %i
      %x = load double, ptr %x.at
      %g = call double @gpu.math.tgamma.f64(double %x)
      %l = call double @gpu.math.lgamma.f64(double %x)
      %g.at = getelementptr double, ptr %p2, i64 %i
      %l.at = getelementptr double, ptr %p4, i64 %i
      store double %g, ptr %g.at
      store double %l, ptr %l.at
      ret void
    """
    x = np.array([0.0, -0.0, -1.0, -7.0, np.inf, -np.inf, 1.0, np.nan])
    gamma, log_gamma = np.zeros(8), np.zeros(8)
    launch(load_ir(body, (array("float64"),) * 3), 1, 8, x, gamma, log_gamma)
    nan, inf = np.nan, np.inf
    np.testing.assert_array_equal(gamma, [inf, -inf, nan, nan, inf, nan, 1.0, nan])
    np.testing.assert_array_equal(log_gamma, [inf, inf, inf, inf, inf, inf, 0.0, nan])


def test_next_half_takes_every_step() -> None:
    """From every half towards both infinities and zero: NumPy's nextafter on float16."""
    body = """
      %i = call i64 @gpu.global_id.x(ptr %c)
      %x.at = getelementptr half, ptr %p0, i64 %i
      %y.at = getelementptr half, ptr %p2, i64 %i
      %x = load half, ptr %x.at
      %y = load half, ptr %y.at
      %n = call half @gpu.math.nextafter.f16(half %x, half %y)
      %out.at = getelementptr half, ptr %p4, i64 %i
      store half %n, ptr %out.at
      ret void
    """
    program = load_ir(body, (HALF,) * 3)
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    for target in (np.inf, -np.inf, 0.0, -0.0, np.nan):
        to, out = np.full(65536, target, np.float16), np.zeros(65536, np.float16)
        launch(program, 256, 256, x, to, out)
        with np.errstate(all="ignore"):
            wanted = np.nextafter(x, to)
        np.testing.assert_array_equal(out, wanted)
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(out[numbers]), np.signbit(wanted[numbers]))


def test_an_object_that_needs_a_missing_symbol_is_refused() -> None:
    """128-bit division is a libgcc function that no process exports: without the check MCJIT jumps to address 0."""
    body = """
      %a = load i128, ptr %p0, align 4
      %b = sdiv i128 %a, 3
      store i128 %b, ptr %p0, align 4
      ret void
    """
    with pytest.raises(ToolchainError, match=r"kernel 'kernel' needs __divti3, which this process does not have"):
        load_ir(body, (array("int32"),))


@pytest.mark.parametrize("code", [b"", b"\x7fELF", b"no object at all", b"\x7fELF\x02\x01" + bytes(90)])
def test_a_damaged_object_is_refused(code: bytes) -> None:
    artifact = dataclasses.replace(compile_ir("  ret void", ()).artifact, code=code)
    with pytest.raises(ToolchainError, match="kernel 'kernel'"):
        device().load(artifact)


@pytest.mark.parametrize(
    "triple", ["x86_64-unknown-linux-gnu", "arm64-apple-macosx", "aarch64-unknown-linux-gnu", "x86_64-pc-windows-msvc"]
)
def test_undefined_symbols_in_every_object_format(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    text = """
declare double @erf(double)
declare double @a_function_with_a_long_name(double)
define double @f(double %x) {
  %y = call double @erf(double %x)
  %z = call double @a_function_with_a_long_name(double %y)
  ret double %z
}"""
    module = llvm.parse_assembly(f'target triple = "{triple}"\n{text}')
    code = llvm.Target.from_triple(triple).create_target_machine(reloc="pic").emit_object(module)
    names = set(undefined_symbols(code)) - {"_GLOBAL_OFFSET_TABLE_", "_fltused"}
    assert names == {"erf", "a_function_with_a_long_name"}


def test_an_architecture_of_another_system_is_refused() -> None:
    with pytest.raises(ToolchainError, match="cannot compile for 'x86-64-v3-beos' here"):
        make_target_machine("x86-64-v3-beos", 2)


BUILD_TWO = """
import hashlib
from tests.unit.cpu_programs import compile_ir, array
from tests.unit.test_cpu_coroutines import SCAN
from tests.unit.test_cpu_flat import SAXPY, SAXPY_TYPES
for body, types in ({order}):
    made = compile_ir(body, types)
    print(hashlib.sha256(made.artifact.code + made.text.encode()).hexdigest())
"""


def test_programs_do_not_depend_on_the_process_or_on_what_was_compiled_before() -> None:
    orders = ["(SAXPY, SAXPY_TYPES), (SCAN, (array('int32'),))", "(SCAN, (array('int32'),)), (SAXPY, SAXPY_TYPES)"]
    runs = [
        subprocess.run(
            [sys.executable, "-c", BUILD_TWO.format(order=order)], capture_output=True, check=True, text=True
        )
        for order in orders
    ]
    assert runs[0].stdout.split() == runs[1].stdout.split()[::-1]
    assert len(set(runs[0].stdout.split())) == 2


def test_texts_are_programs_of_their_own() -> None:
    """What `emit` gives can be read back: no call of ours is left, and the entry is the only symbol that is defined."""
    for body, types in ((SAXPY, SAXPY_TYPES), (SCAN, (array("int32"),))):
        module = llvm.parse_assembly(compile_ir(body, types).text)
        module.verify()
        visible = [f.name for f in module.functions if not f.is_declaration and f.linkage == llvm.Linkage.external]
        assert visible == ["kernel_test"]
        assert not [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]


@pytest.mark.parametrize(
    ("lines", "nbytes"),
    [
        ("  %v = load i32, ptr %0, align 4", 4),
        ("  %p = getelementptr inbounds nuw i8, ptr %0, i64 24\n  store double %x, ptr %p, align 8", 32),
        (
            "  %p = getelementptr i8, ptr %0, i64 8\n  %q = getelementptr i8, ptr %p, i64 16\n"
            "  %v = load <4 x float>, ptr %q, align 16",
            40,
        ),
        ("  %p = getelementptr float, ptr %0, i64 %i", None),
        ("  store ptr %0, ptr %p, align 8", None),
        ("  call void @use(ptr %0)", None),
        ("  %v = load { i32, i32 }, ptr %0", None),
        ("  ret ptr null", 0),
    ],
)
def test_frame_size_is_where_the_last_access_ends(lines: str, nbytes: int | None) -> None:
    head = "define internal ptr @gpu.run_thread.resume.0(ptr noalias align 32 captures(none) %0, ptr %1) #2 {"
    assert frame_size(f"{head}\n{lines}\n}}\n") == nbytes


def test_threads_lie_as_close_as_their_frames_allow() -> None:
    """The scan keeps at most eight numbers of at most 8 bytes over a barrier: two addresses, t, n, s, what it adds."""
    assert compile_ir(SCAN, (array("int32"),)).artifact.fact("frame_nbytes") <= 64


def test_threads_remember_turns_and_each_continuation_has_one() -> None:
    text = (
        "define internal ptr @gpu.run_thread(ptr %0, ptr %1) {\n  ret ptr @gpu.run_thread.resume.0\n}\n"
        "define internal nonnull ptr @gpu.run_thread.resume.0(ptr %0, ptr %1) {\n"
        "  %then = select i1 %go, ptr @gpu.run_thread.resume.10, ptr null\n  ret ptr %then\n}\n"
        "define internal ptr @gpu.run_thread.resume.10(ptr %0, ptr %1) {\n  ret ptr null\n}\n"
    )
    result, turns = resume_together(text)
    assert turns == ["gpu.run_thread.resume.0.turn", "gpu.run_thread.resume.10.turn"]
    assert re.findall(r"^define .*@(\S+?)\(", result, re.MULTILINE) == [
        "gpu.run_thread", "gpu.run_thread.resume.0", "gpu.run_thread.resume.10", *turns,
    ]  # fmt: skip
    assert "  ret ptr @gpu.run_thread.resume.0.turn\n" in result
    assert "ptr @gpu.run_thread.resume.10.turn, ptr null" in result
    assert re.findall(r"call ptr @(\S+)\(", result) == ["gpu.run_thread.resume.0", "gpu.run_thread.resume.10"]
