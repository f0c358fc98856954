"""libdevice's functions on the PTX machine against Python's, within NVIDIA's error bounds.

They exercise the machine as nothing else does: fused multiply-adds, magic numbers, carry chains, calls of slow paths,
tables in memory. The bounds are those of tests/accuracy, which measures what kernels get; here each is alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

from numba_ptxplus.toolchain import LIBDEVICE_PACKAGE, find_libdevice
from tests.accuracy import functions as accuracy
from tests.ptx.machine import PtxMachine
from tests.ptx.toolchain import check_with_ptxas

NTHREADS = 256
DOCUMENTED = {function.name: function.nvidia for function in accuracy.FUNCTIONS}


@dataclass(frozen=True)
class Function:
    name: str
    reference: Callable[..., float]
    low: float = -30.0
    high: float = 30.0
    arity: int = 1

    @property
    def ulps(self) -> tuple[float, float]:
        """Bound for float, double; a reference of Python's float adds up to one ulp to the latter."""
        return DOCUMENTED.get(self.name, (0, 0))


def gamma(x: float) -> float:
    return math.nan if x < 0 and x == math.floor(x) else math.gamma(x)


FUNCTIONS = [
    Function("sin", math.sin, -1e6, 1e6),
    Function("cos", math.cos, -1e6, 1e6),
    Function("tan", math.tan, -1e6, 1e6),
    Function("asin", math.asin, -1, 1),
    Function("acos", math.acos, -1, 1),
    Function("atan", math.atan),
    Function("atan2", math.atan2, arity=2),
    Function("sinh", math.sinh),
    Function("cosh", math.cosh),
    Function("tanh", math.tanh, -5, 5),
    Function("asinh", math.asinh),
    Function("acosh", math.acosh, 1, 1e5),
    Function("atanh", math.atanh, -0.999, 0.999),
    Function("exp", math.exp),
    Function("exp2", lambda x: 2.0**x),
    Function("expm1", math.expm1),
    Function("log", math.log, 0.01, 1e6),
    Function("log2", math.log2, 0.01, 1e6),
    Function("log10", math.log10, 0.01, 1e6),
    Function("log1p", math.log1p, -0.99, 1e6),
    Function("cbrt", lambda x: math.copysign(abs(x) ** (1 / 3), x), arity=1),
    Function("pow", math.pow, 0.01, 15, arity=2),
    Function("hypot", math.hypot, arity=2),
    Function("fmod", math.fmod, arity=2),
    Function("remainder", math.remainder, arity=2),
    Function("erf", math.erf, -4, 4),
    Function("erfc", math.erfc, -4, 8),
    Function("tgamma", gamma, 0.01, 30),
    Function("rsqrt", lambda x: 1 / math.sqrt(x), 1e-3, 1e6),
    Function("sqrt", math.sqrt, 1e-3, 1e6),
    Function("floor", math.floor),
    Function("rint", round),
    Function("fdim", lambda x, y: max(x - y, 0.0), arity=2),
]
PRECISIONS = {"float": ("f", np.float32), "double": ("", np.float64)}


def kernel_ir(function: Function, type_: str) -> str:
    """One thread an item: out[i] = f(x[i], y[i])."""
    symbol = function.name + PRECISIONS[type_][0]
    letters = "xy"[: function.arity]
    loads = "".join(
        f" %p{c} = getelementptr {type_}, ptr addrspace(1) %{c}, i32 %i\n"
        f" %v{c} = load {type_}, ptr addrspace(1) %p{c}\n"
        for c in letters
    )
    params = ", ".join(f"ptr addrspace(1) %{c}" for c in (*letters, "out"))
    return (
        f"declare {type_} @__nv_{symbol}({', '.join([type_] * function.arity)})\n"
        f"define ptx_kernel void @{symbol}({params}) {{\n %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n{loads}"
        f" %r = call {type_} @__nv_{symbol}({', '.join(f'{type_} %v{c}' for c in letters)})\n"
        f" %po = getelementptr {type_}, ptr addrspace(1) %out, i32 %i\n"
        f" store {type_} %r, ptr addrspace(1) %po\n ret void\n}}\n"
    )


def compile_with_libdevice(text: str) -> str:
    """PTX of a module, all of libdevice linked in."""
    path = find_libdevice()
    assert path is not None, f"no libdevice found; pip install {LIBDEVICE_PACKAGE}"
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    machine = target.create_target_machine(cpu="sm_90", features="+ptx80", opt=3)
    module = llvm.parse_assembly(f'target triple = "{target.triple}"\n{text}')
    library = llvm.parse_bitcode(path.read_bytes())
    module.data_layout = library.data_layout = str(machine.target_data)
    library.triple = module.triple
    module.link_in(library)
    for function in module.functions:
        if not function.is_declaration and function.name.startswith("__"):
            function.linkage = "internal"
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return machine.emit_assembly(module)


@pytest.fixture(scope="module", params=PRECISIONS)
def compiled(request: pytest.FixtureRequest) -> tuple[str, str]:
    """(LLVM type, PTX with a kernel for every function)."""
    declaration = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
    return request.param, compile_with_libdevice(declaration + "".join(kernel_ir(f, request.param) for f in FUNCTIONS))


def test_ptxas_accepts_the_module(compiled: tuple[str, str], tmp_path: Path) -> None:
    check_with_ptxas(compiled[1], "sm_90", tmp_path)


def test_functions(compiled: tuple[str, str]) -> None:
    """All faults at once: function, worst error in ulp, where."""
    type_, text = compiled
    suffix, dtype = PRECISIONS[type_]
    machine = PtxMachine(text)
    rng = np.random.default_rng(2)
    faults = []
    for function in FUNCTIONS:
        operands = [rng.uniform(function.low, function.high, NTHREADS).astype(dtype) for _ in range(function.arity)]
        out = machine.memory.allocate(NTHREADS * 8)
        machine.launch(function.name + suffix, 1, NTHREADS, (*map(machine.memory.copy_in, operands), out))
        got = machine.memory.copy_out(out, NTHREADS, dtype).astype(np.float64)
        wanted = np.array([function.reference(*lane) for lane in zip(*(x.tolist() for x in operands), strict=True)])
        error = np.abs(got - wanted) / np.spacing(np.abs(wanted.astype(dtype))).astype(np.float64)
        bound = function.ulps[0] + 0.5 if suffix else function.ulps[1] + (function.ulps[1] > 0)
        if not (error <= bound).all():
            worst = int(np.argmax(error))
            faults.append(f"{function.name}{suffix}({[x[worst] for x in operands]}) is off by {error[worst]:.1f} ulp")
    assert not faults, "\n".join(faults)


def test_special_values(compiled: tuple[str, str]) -> None:
    """C11, annex F: what infinities, NaN and zeros give."""
    type_, text = compiled
    suffix, dtype = PRECISIONS[type_]
    machine = PtxMachine(text)
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    inf, nan = math.inf, math.nan
    wanted = {
        "sin": [0.0, -0.0, nan, nan, nan],
        "exp": [1.0, 1.0, inf, 0.0, nan],
        "log": [-inf, -inf, inf, nan, nan],
        "atan": [0.0, -0.0, math.pi / 2, -math.pi / 2, nan],
        "sqrt": [0.0, -0.0, inf, nan, nan],
        "cbrt": [0.0, -0.0, inf, -inf, nan],
        "tanh": [0.0, -0.0, 1.0, -1.0, nan],
        "erfc": [1.0, 1.0, 0.0, 2.0, nan],
        "floor": [0.0, -0.0, inf, -inf, nan],
    }
    for name, results in wanted.items():
        source, out = machine.memory.copy_in(values), machine.memory.allocate(values.nbytes)
        machine.launch(name + suffix, 1, values.size, (source, out))
        got = machine.memory.copy_out(out, values.size, dtype)
        np.testing.assert_array_equal(got, np.array(results, dtype), err_msg=name)
        np.testing.assert_array_equal(np.signbit(got[:2]), np.signbit(results[:2]), err_msg=name)
